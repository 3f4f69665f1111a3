"""The window of a small case: the part of its threads that is run in every order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.program import every_op

if TYPE_CHECKING:
    from simulation.backend import SimulatedBackend
    from simulation.program import Op
    from simulation.scheduler import Scheduler
    from simulation.tasks import Task


class Window:
    """Opens when all threads have come to it, and closes when all have left it. The rest of the run has one order.

    A thread enters it with an op ``enter``, or with its first op, and leaves it with an op ``leave``, or with its last
    op. At both it waits for the others.

    Args:
        scheduler: the choices are asked while the window is open.
        backend: counts the calls for its faults from the opening on.
        threads: the number of threads.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend, threads: int) -> None:
        self._scheduler = scheduler
        self._backend = backend
        self._waiting: list[Task] = []
        self._entered: set[Task] = set()
        self._threads = self._inside = threads
        self._watcher: Task | None = None

    def watch(self) -> None:
        """Open the window when all threads wait, and let them continue when they have left it.

        The caller is a task that runs only if no other can.
        """
        self._let_go_on()
        self._backend.count_faults()
        self._scheduler.let_choose(True)
        self._let_go_on()

    def enter(self) -> None:
        """Wait until the window opens, unless the task is inside."""
        if self._scheduler.current not in self._entered:
            self._entered.add(self._scheduler.current)
            self._wait("the window to open")

    def leave(self) -> None:
        """Wait until the window closes, unless the task is outside. The last task that leaves ends the choices."""
        if self._scheduler.current in self._entered:
            self._entered.discard(self._scheduler.current)
            self._inside -= 1
            if not self._inside:
                self._scheduler.let_choose(False)
            self._wait("the window to close")

    def _wait(self, for_what: str) -> None:
        self._waiting.append(self._scheduler.current)
        if self._watcher is not None and len(self._waiting) == self._threads:
            self._scheduler.wake(self._watcher)
        self._scheduler.block(for_what)

    def _let_go_on(self) -> None:
        """Wait until all threads wait, and wake them."""
        self._watcher = self._scheduler.current
        while len(self._waiting) < self._threads:
            self._scheduler.block("the threads of the case")
        self._watcher = None
        waiting, self._waiting = self._waiting, []
        for task in waiting:
            self._scheduler.wake(task)


def has(ops: tuple[Op, ...], kind: str) -> bool:
    """Return whether an op of a kind is among ops, or inside another op."""
    return any(op.kind == kind for op in every_op(ops))
