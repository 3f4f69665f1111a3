"""The garbage collector of a simulation: it drops objects after some steps, in the task that runs then."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

from simulation.tasks import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulation.scheduler import Scheduler


class Collector:
    """Drops objects, and sets ``scheduler.collecting`` meanwhile."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._doomed: list[tuple[int, list[object], list[weakref.ref[object]]]] = []

    @property
    def waits(self) -> bool:
        """Whether an object is to be dropped later."""
        return bool(self._doomed)

    def add(self, at_step: int, thing: object, watched: Iterable[object]) -> None:
        """Drop an object at a step; the watched objects must be gone then, at the latest after ``gc.collect``."""
        self._doomed.append((at_step, [thing], [weakref.ref(each) for each in watched]))

    def collect(self, up_to: int) -> None:
        """Drop the objects whose step has come."""
        if not self._doomed:
            return
        due = [doomed for doomed in self._doomed if doomed[0] <= up_to]
        self._doomed = [doomed for doomed in self._doomed if doomed[0] > up_to]
        scheduler = self._scheduler
        scheduler.collecting = True
        try:
            for _, things, watched in due:
                scheduler.note("collects")
                things.clear()
                if any(ref() is not None for ref in watched):
                    gc.collect()
                if any(ref() is not None for ref in watched):
                    scheduler.fail(Violation("nothing keeps alive what the host has dropped", f"{watched}"))
        finally:
            scheduler.collecting = False


class Collected:
    """Calls a function when it is garbage collected."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __del__(self) -> None:
        self._call()
