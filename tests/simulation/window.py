"""The window of a small case: the part of what its threads do that is run in every order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.program import every_op

if TYPE_CHECKING:
    from simulation.backend import SimulatedBackend
    from simulation.program import Op
    from simulation.scheduler import Scheduler, Task


class Window:
    """Opens once all threads have come to it, and closes once all have left it: before and after there is one order.

    A thread enters it with an op ``enter``, or with its first where it has none, and leaves it with an op ``leave``, or
    with its last. At both it waits for the others.

    Args:
        scheduler: whose choices are asked while it is open.
        backend: whose calls fail by their numbers from its opening on.
        threads: how many there are.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend, threads: int) -> None:
        self._scheduler = scheduler
        self._backend = backend
        self._waiting: list[Task] = []
        self._entered: set[Task] = set()
        self._threads = self._inside = threads
        self._watcher: Task | None = None

    def watch(self) -> None:
        """Open it once all threads have come to it, and let them go on once they have left it.

        It is called by a task that goes on only where no other can.
        """
        self._let_go_on()
        self._backend.count_faults()
        self._scheduler.let_choose(True)
        self._let_go_on()

    def enter(self) -> None:
        """Wait until it opens, unless the task has entered it."""
        if self._scheduler.current not in self._entered:
            self._entered.add(self._scheduler.current)
            self._wait("the window to open")

    def leave(self) -> None:
        """Wait until it closes, unless the task has left it. With the last that leaves nothing is chosen any more."""
        if self._scheduler.current in self._entered:
            self._entered.discard(self._scheduler.current)
            self._inside -= 1
            if not self._inside:
                self._scheduler.let_choose(False)
            self._wait("the window to close")

    def _wait(self, for_what: str) -> None:
        """Wait with the others until the task that watches lets them go on."""
        self._waiting.append(self._scheduler.current)
        if self._watcher is not None and len(self._waiting) == self._threads:
            self._scheduler.wake(self._watcher)
        self._scheduler.block(for_what)

    def _let_go_on(self) -> None:
        """Wait until all wait, and let them go on."""
        self._watcher = self._scheduler.current
        while len(self._waiting) < self._threads:
            self._scheduler.block("the threads of the case")
        self._watcher = None
        waiting, self._waiting = self._waiting, []
        for task in waiting:
            self._scheduler.wake(task)


def has(ops: tuple[Op, ...], kind: str) -> bool:
    """Return whether there is an op of a kind among ops, or within one."""
    return any(op.kind == kind for op in every_op(ops))
