"""Every order of steps with at most so many preemptions, but of orders that come to the same only one to its end.

Two orders come to the same where they differ in the order of steps that touch nothing in common: see ``accesses``. A
step follows from the steps before it that it depends on: those of its task, and those that have touched what it
touches, where one of the two writes. So a set of steps, each named after those that it depends on, says what all of the
program under test is like, however they were ordered. Where the same steps were made before, the same task goes on, and
no more preemptions are left than there were then, what follows was run, or is about to be run, and the run ends. An
order that would begin with such steps is not begun.

This is the caching of Musuvathi and Qadeer, "Partial-Order Reduction for Context-Bounded State Exploration" (2007).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from simulation.accesses import WRITTEN, note
from simulation.tasks import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.scheduler import Scheduler
    from simulation.tasks import Task

Path = tuple[int, ...]
_MOST = 1 << 64


class Known(Violation):
    """What follows in a run is known from others: no failure."""


class Seen:
    """What the runs of a program have come to: which steps, who went on then, and how many preemptions were left."""

    def __init__(self) -> None:
        self._left: dict[tuple[int, Path], int] = {}

    def has(self, steps: int, path: Path, left: int) -> bool:
        """Return whether it is known what follows where a task goes on after these steps."""
        return self._left.get((steps, path), -1) >= left

    def add(self, steps: int, path: Path, left: int) -> None:
        """Take in that a task goes on after these steps."""
        self._left[steps, path] = left


@attrs.frozen
class Branch:
    """The beginning of an order that was not run.

    Attributes:
        steps: those that were made where it branches off.
        path: the path of the task that goes on there.
        left: how many preemptions are left then.
        picks: the picks with which it begins, one for each decision that has more than one possibility.
    """

    steps: int
    path: Path
    left: int
    picks: bytes


class Guided:
    """One order of many: it follows a beginning, and goes on as is not known yet where that costs no preemption.

    Args:
        beginning: the picks with which it begins, one for each decision that has more than one possibility.
        most_preemptions: how many times a task that could go on may be made to wait.
        seen: what the runs before have come to; it is added to.

    Attributes:
        branches: the beginnings of other orders, which branch off from this one after its own beginning.
    """

    next_step = 0

    def __init__(self, beginning: bytes, most_preemptions: int, seen: Seen) -> None:
        self.made: list[tuple[int, int]] = []
        self._beginning = beginning
        self._left = most_preemptions
        self._seen = seen
        self._picks = bytearray()
        self.branches: list[Branch] = []
        # Who could go on, in the order of the picks; of time that moves on, no task is in it.
        self._tasks: Sequence[Task] = ()
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
        place = len(self._picks)
        if place < len(self._beginning):
            pick = self._beginning[place]
        else:
            pick = self._branch_off(possible, clock=clock, forced=forced)
        self._picks.append(pick)
        if pick:
            self.made.append((step, pick))
            self._left -= not forced
        return pick

    def asked(self, tasks: Sequence[Task]) -> None:
        """Take in who could go on."""
        self._tasks = tasks

    def _branch_off(self, possible: int, *, clock: bool, forced: bool) -> int:
        """Return how to go on; take in what else branches off here."""
        assert self._scheduler is not None
        self._end_step()
        steps, left = self._steps, self._left - (not forced)
        paths = [task.path for task in self._tasks]
        if clock:
            paths.append(self._scheduler.clock.task.path)
        unknown = [pick for pick in range(possible) if not self._seen.has(steps, paths[pick], left)]
        taken = unknown[0] if forced and unknown else 0
        for pick in unknown:
            if pick not in (0, taken):
                self.branches.append(Branch(steps, paths[pick], left, bytes((*self._picks, pick))))
        return taken

    def step_begins(self, task: Task) -> None:
        """Take in that a step of a task begins; end the run where what follows is known."""
        assert self._scheduler is not None
        self._end_step()
        self._path, self._places = task.path, {task.path: WRITTEN}
        note(self._places)
        if len(self._picks) >= len(self._beginning):
            if self._seen.has(self._steps, task.path, self._left):
                note(None)
                self._scheduler.fail(Known("what follows is known", "from another run"))
            self._seen.add(self._steps, task.path, self._left)

    def born(self, task: Task, author: Task) -> None:
        """Take in that a task was made, in a step of another: its first step depends on that."""
        self._places[task.path] = WRITTEN

    def _end_step(self) -> None:
        """Take in the step that was being made; nothing is noted until the next begins."""
        if self._path is not None:
            assert self._scheduler is not None
            for lock in self._scheduler.held():
                lock.hold_on()
            self._name_step(self._path)
        self._path = None
        note(None)

    def _name_step(self, path: Path) -> None:
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


def reduced_orders(most_preemptions: int) -> Iterator[Guided]:
    """Yield orders that stand for all; each is run before the next is asked for.

    Those that have the most preemptions left come first, so that what follows is seldom run again with more left.
    """
    seen = Seen()
    branches: list[list[Branch]] = [[] for _ in range(most_preemptions + 1)]

    def run(beginning: bytes) -> Iterator[Guided]:
        choices = Guided(beginning, most_preemptions, seen)
        yield choices
        for branch in choices.branches:
            branches[branch.left].append(branch)

    yield from run(b"")
    for left in range(most_preemptions, -1, -1):
        while branches[left]:
            branch = branches[left].pop()
            if not seen.has(branch.steps, branch.path, left):
                yield from run(branch.picks)
