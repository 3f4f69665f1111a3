"""Every order of steps with at most so many preemptions, but of orders that come to the same only one to its end.

Two orders come to the same where they differ in the order of steps that touch nothing in common: see ``accesses``. A
step follows from the steps before it that it depends on: those of its task, and those that have touched what it
touches, where one of the two writes. So a set of steps, each named after those that it depends on, says what all of the
program under test is like, however they were ordered. Where the same steps were made before, the same task goes on, and
no more preemptions are left than there were then, what follows was run, or is about to be run, and the run ends.

This is the caching of Musuvathi and Qadeer, "Partial-Order Reduction for Context-Bounded State Exploration" (2007).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.accesses import WRITTEN, note
from simulation.tasks import Violation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.scheduler import Scheduler
    from simulation.tasks import Task

Path = tuple[int, ...]
_MOST = 1 << 64


class Known(Violation):
    """What follows in a run is known from others: no failure."""


class Guided:
    """One order of many: it follows a beginning, and takes the first possibility from there on.

    Args:
        beginning: the picks with which it begins, one for each decision that has more than one possibility.
        most_preemptions: how many times a task that could go on may be made to wait.
        known: what the runs before have come to, and how many preemptions were left then; it is added to.
    """

    next_step = 0

    def __init__(self, beginning: Sequence[int], most_preemptions: int, known: dict[tuple[int, Path], int]) -> None:
        self.made: list[tuple[int, int]] = []
        self._beginning = beginning
        self._left = most_preemptions
        self._known = known
        self._decisions: list[tuple[int, int]] = []
        self._scheduler: Scheduler | None = None
        # The steps that were made, in one number; the one that is being made, by whom, and what it touches.
        self._steps = 0
        self._path: Path | None = None
        self._places: dict[object, int] = {}
        # By place, the step that wrote it last, and those that have read it since. The path of a task is a place, too,
        # which each of its steps writes, and that in which it was made.
        self._writer: dict[object, int] = {}
        self._readers: dict[object, list[int]] = {}

    def follow(self, scheduler: Scheduler) -> None:
        """Choose among the tasks of a scheduler."""
        self._scheduler = scheduler

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on."""
        possible = ready if forced else 1 + ready + clock if self._left else 1
        if possible == 1:
            return 0
        place = len(self._decisions)
        pick = self._beginning[place] if place < len(self._beginning) else 0
        self._decisions.append((pick, possible))
        if pick:
            self.made.append((step, pick))
            self._left -= not forced
        return pick

    def step_begins(self, task: Task) -> None:
        """Take in that a step of a task begins; end the run where what follows is known."""
        scheduler = self._scheduler
        assert scheduler is not None
        if self._path is not None:
            for lock in scheduler.held():
                lock.hold_on()
            self._step_ends(self._path)
        self._path, self._places = task.path, {task.path: WRITTEN}
        note(self._places)
        if len(self._decisions) >= len(self._beginning):
            key = self._steps, task.path
            if self._known.get(key, -1) >= self._left:
                note(None)
                scheduler.fail(Known("what follows is known", "from another run"))
            self._known[key] = self._left

    def born(self, task: Task, author: Task) -> None:
        """Take in that a task was made, in a step of another: its first step depends on that."""
        self._places[task.path] = WRITTEN

    def following(self) -> list[int] | None:
        """Return the beginning of the next order, None where this was the last."""
        decisions = list(self._decisions)
        while decisions and decisions[-1][0] + 1 >= decisions[-1][1]:
            decisions.pop()
        if not decisions:
            return None
        return [pick for pick, _ in decisions[:-1]] + [decisions[-1][0] + 1]

    def _step_ends(self, path: Path) -> None:
        """Name the step that was made after those that it depends on."""
        writer, readers = self._writer, self._readers
        needs: set[int] = set()
        for place, how in self._places.items():
            needs.add(writer.get(place, 0))
            if how == WRITTEN:
                needs.update(readers.get(place, ()))
        name = hash((path, *sorted(needs)))
        for place, how in self._places.items():
            if how == WRITTEN:
                writer[place] = name
                readers.pop(place, None)
            else:
                readers.setdefault(place, []).append(name)
        self._steps = (self._steps + name) % _MOST
