"""Tasks: what the scheduler runs, and what it says of those that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from greenlet import GreenletExit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from greenlet import greenlet
    from simulation.locks import Lock


class Violation(AssertionError):  # noqa: N818 - reads as what it is
    """Something that must hold does not.

    Args:
        rule: which, in a few words that stay the same from run to run.
        details: how it came about this time.
    """

    def __init__(self, rule: str, details: str) -> None:
        self.rule = rule
        self.details = details
        super().__init__(f"{rule}: {details}")


class Task:
    """What the scheduler runs: a thread of the program under test.

    Attributes:
        name: what the trace calls it.
        waits_for: what it waits for, None while it can go on.
        held: the locks that it holds, in the order in which it took them.
        interrupt_in: KeyboardInterrupt is raised in it at this many points from now; 0 for never.
        done: whether it has ended.
        thread: the thread of which it is the work, if it is of one.
        waiters: the tasks that wait for its end.
        last: whether it goes on only where nobody else can, with coarse steps.
        queued: whether it waits for those that were asked for before it to begin, with coarse steps.
        serves: whether it only hands on what is in a queue of its own, so that no order of its steps and those of
            others makes a difference.
    """

    __slots__ = (
        "daemon",
        "done",
        "greenlet",
        "held",
        "interrupt_in",
        "last",
        "name",
        "number",
        "queued",
        "serves",
        "thread",
        "waiters",
        "waits_for",
    )

    def __init__(self, name: str, number: int, *, daemon: bool) -> None:
        self.name = name
        self.number = number
        self.daemon = daemon
        self.greenlet: greenlet | None = None
        self.waits_for: object | None = None
        self.held: list[Lock] = []
        self.interrupt_in = 0
        self.done = False
        self.thread: object | None = None
        self.waiters: list[Task] = []
        self.serves = self.last = self.queued = False

    def __repr__(self) -> str:
        """Return its name."""
        return self.name


def end(task: Task) -> None:
    """Let a task unwind, however often it goes on meanwhile, and let go of it."""
    for _ in range(100):
        if task.greenlet is None or task.greenlet.dead:
            break
        task.interrupt_in = 0
        task.greenlet.throw(GreenletExit)
    task.greenlet = None


def who_waits(tasks: Iterable[Task]) -> str:
    """Return who waits for what, and who holds that."""
    lines = []
    for task in tasks:
        if task.done or (task.daemon and not task.held):
            continue
        holder = getattr(task.waits_for, "owner", None)
        held = f", held by {holder}" if holder is not None else ""
        holds = f", and holds {', '.join(map(str, task.held))}" if task.held else ""
        lines.append(f"{task} {'goes on' if task.waits_for is None else f'waits for {task.waits_for}{held}'}{holds}")
    return "; ".join(lines)


def told(task: Task, error: BaseException) -> str:
    """Return how a task has ended; one that has called itself for ever has no room to say what with."""
    try:
        return f"{task}: {error!r}"
    except RecursionError:
        return f"{task}: {type(error).__name__}"
