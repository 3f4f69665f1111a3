"""Tasks, timers and the garbage collector of a scheduler, and the error that a broken rule raises."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import attrs
from greenlet import GreenletExit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulation.scheduler import Scheduler


class Violation(AssertionError):  # noqa: N818 - reads as what it is
    """A broken rule.

    Args:
        rule: the rule, in a few words that stay the same from run to run.
        details: how it was broken this time.
    """

    def __init__(self, rule: str, details: str) -> None:
        self.rule = rule
        self.details = details
        super().__init__(f"{rule}: {details}")


@attrs.define(eq=False, repr=False)
class Task:
    """A thread of the program under test.

    Attributes:
        number: tasks have rising numbers, in the order in which they were made.
        daemon: whether the run ends without waiting for this task.
        main: whether the controller takes this task for the main thread.
        last: whether this task runs only if no other can.
        waits_for: None while the task can run.
        waits_since: the step at which its last wait began.
        held: the locks that the task holds.
        waiters: the tasks that wait for the end of this task.
    """

    name: str
    number: int
    daemon: bool = False
    main: bool = False
    last: bool = False
    greenlet: Any = None
    waits_for: object | None = None
    waits_since: int = 0
    held: list[object] = attrs.field(factory=list)
    done: bool = False
    waiters: list[Task] = attrs.field(factory=list)

    def __repr__(self) -> str:
        return self.name

    def end(self) -> None:
        """Unwind the task, and release its greenlet. While it unwinds, it may switch away several times."""
        for _ in range(100):
            if self.greenlet is None or self.greenlet.dead:
                break
            self.greenlet.throw(GreenletExit)
        self.greenlet = None


@attrs.define(eq=False)
class Timer:
    """An action that is called once, unless the timer is cleared before."""

    action: Callable[[], object] | None

    def clear(self) -> None:
        """Cancel the action."""
        self.action = None


def death(task: Task, error: BaseException) -> Violation:
    """Return the violation by which a task has ended. After an endless recursion, repr may fail once more."""
    try:
        details = f"{task}: {error!r}"
    except RecursionError:
        details = f"{task}: {type(error).__name__}"
    violation = Violation("no thread dies", details)
    violation.__cause__ = error
    return violation


class Collector:
    """Drops objects after some steps, in the task that runs then, and sets ``scheduler.collecting`` meanwhile."""

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
