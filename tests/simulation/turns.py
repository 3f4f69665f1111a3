"""Whose turn it is: the tasks that could go on, and which of them does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.tasks import Task

if TYPE_CHECKING:
    from simulation.choices import Choices


class Turns:
    """The tasks that could go on, and who goes on.

    Args:
        choices: who goes on.
        coarse: whether who could go on stands in the order in which the tasks were made, one that serves goes on at
            once, and one that is last only where nobody else can, and of those that are queued the first comes first.

    Attributes:
        ready: the tasks that could go on.
        choosing: whether the choices are asked; otherwise the running task goes on, or the first that is ready.
        nobody: who goes on where no task does.
    """

    def __init__(self, choices: Choices, *, coarse: bool) -> None:
        self.ready: list[Task] = []
        self.choosing = True
        self.nobody = Task("nobody", 0, daemon=True)
        self._choices = choices
        self._coarse = coarse
        self._preempted: Task | None = None

    def choices_now(self) -> list[Task]:
        """Return the tasks that could go on, as they are chosen from."""
        if not self._coarse or len(self.ready) < 2:
            return self.ready[:]
        next_queued = min((each.number for each in self.ready if each.queued), default=0)
        free = [each for each in self.ready if not each.last and (not each.queued or each.number == next_queued)]
        return sorted(free or self.ready, key=lambda each: each.number)

    def pick_at(self, step: int, task: Task, *, clock: bool) -> Task | None:
        """Return who goes on at a point of a task that could, None where time moves on while that is slow."""
        ready = [each for each in self.choices_now() if not each.last]
        pick = self._choices.pick(step, len(ready), clock=clock, forced=False) if ready or clock else 0
        if not pick:
            return task
        if pick > len(ready):
            return None
        following = ready[pick - 1]
        self.ready.remove(following)
        return following

    def pick_next(self, step: int) -> Task:
        """Return who goes on where the task that ran can't; there is one that could."""
        serving = self.take_serving() if self._coarse else None
        if serving is not None:
            return serving
        ready = self.choices_now()
        asks = self.choosing and len(ready) > 1
        pick = self._choices.pick(step, len(ready), clock=False, forced=True) if asks else 0
        following = ready[min(pick, len(ready) - 1)]
        self.ready.remove(following)
        return following

    def take_serving(self) -> Task | None:
        """Return a task that serves and could go on, None where there is none."""
        serving = next((place for place, each in enumerate(self.ready) if each.serves), None)
        return None if serving is None else self.ready.pop(serving)

    def interrupted(self, task: Task) -> None:
        """Take in that a task lets those go on that serve, and comes next after them."""
        self._preempted = task

    def take_interrupted(self) -> Task | None:
        """Return the task that has let others serve, once none is left that does."""
        if self._preempted is None or any(task.serves for task in self.ready):
            return None
        preempted, self._preempted = self._preempted, None
        return preempted
