"""Decides which task runs: at random, as recorded, or every possibility in turn.

At a point, pick 0 lets the running task continue. Picks 1 to ``ready`` let another ready task run, in the order in
which the tasks were made. Pick ``ready + 1`` lets time move, which means that the running task is slow. If the running
task can't continue (``forced``), picks 0 to ``ready - 1`` say which task runs. No two picks have the same step.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NEVER = 1 << 62

# How often another task runs, for each run: few preemptions at unusual places find bugs that many preemptions hide.
PREEMPTIONS = (0.002, 0.01, 0.05, 0.2)
# The share of preemptions that move time.
SLOW = 0.1


class Made(NamedTuple):
    """A pick at a step, and the number of ``possible`` picks if it is known."""

    step: int
    pick: int
    possible: int = 0


class Random:
    """Picks at random; the seed also decides how many preemptions there are.

    Attributes:
        made: the picks that were not 0, as ``Replayed`` takes them.
        next_step: before this step, ``pick`` need not be called at a point.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._rarely = 1 / math.log(1 - self._random.choice(PREEMPTIONS))
        self.made: list[Made] = []
        self.next_step = 0
        self._skip(0)

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Return a pick; ``clock``: whether the pick may move time."""
        chance = self._random
        if forced:
            pick = int(chance.random() * ready)
        else:
            self._skip(step)
            slow = clock and (not ready or chance.random() < SLOW)
            if slow and not ready and chance.random() >= SLOW:
                return 0
            pick = ready + 1 if slow else 1 + int(chance.random() * ready)
        if pick:
            self.made.append(Made(step, pick))
        return pick

    def _skip(self, step: int) -> None:
        self.next_step = step + 1 + int(math.log(1 - self._random.random()) * self._rarely)


class Replayed:
    """Recorded picks; all others are 0."""

    def __init__(self, made: Iterable[Made]) -> None:
        self.made = list(made)
        self._picks = {made.step: made.pick for made in self.made}
        self._steps = iter([*self._picks, NEVER])
        self.next_step = next(self._steps)

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Return a pick."""
        while self.next_step <= step:
            self.next_step = next(self._steps)
        return min(self._picks.get(step, 0), ready - 1 if forced else ready + clock)


class Enumerated:
    """One order of all orders: it begins with given decisions, and then takes the first possibility each time.

    Args:
        beginning: the decisions.
        most_preemptions: how often a task that could continue may be made to wait.
        most_slow: in how many of these preemptions time may move to the next alarm; in all by default.
    """

    def __init__(self, beginning: Sequence[Made], most_preemptions: int, most_slow: int | None = None) -> None:
        self._decisions = list(beginning)
        self._beginning = {decision.step: decision for decision in beginning}
        self._to_make = [decision.step for decision in beginning if decision.pick]
        self._end = beginning[-1].step if beginning else -1
        self._left = most_preemptions
        self._slow_left = most_preemptions if most_slow is None else most_slow
        self.made: list[Made] = []
        self.next_step = 0
        self._ask_next()

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Return a pick.

        Raises:
            RuntimeError: another order with the same beginning had other possibilities here.
        """
        may_be_slow = clock and self._slow_left > 0
        possible = ready if forced else 1 + ready + may_be_slow if self._left > 0 else 1
        if possible == 1:
            return 0
        decision = self._beginning.get(step)
        if decision is None and step > self._end:
            decision = Made(step, 0, possible)
            self._decisions.append(decision)
        if decision is None or decision.possible != possible:
            raise RuntimeError(f"{possible} ways to go on at step {step}; another order had {decision}")
        if decision.pick:
            self.made.append(decision)
            self._left -= not forced
            self._slow_left -= not forced and decision.pick > ready
            self._ask_next()
        return decision.pick

    def _ask_next(self) -> None:
        """Skip the decisions of the beginning that let the running task continue."""
        after = self._end + 1 if self._left > 0 else NEVER
        self.next_step = next(iter(self._to_make[len(self.made) :]), after)

    def following(self) -> list[Made] | None:
        """Return the beginning of the next order; None after the last order.

        Raises:
            RuntimeError: the run ended before the last decision of its beginning.
        """
        if len(self.made) < len(self._to_make):
            raise RuntimeError(f"only {self.made} of {self._decisions} came")
        decisions = self._decisions
        while decisions and decisions[-1].pick + 1 >= decisions[-1].possible:
            decisions.pop()
        if decisions:
            decisions[-1] = decisions[-1]._replace(pick=decisions[-1].pick + 1)
        return decisions or None


Choices: TypeAlias = Random | Replayed | Enumerated


def every_order(most_preemptions: int, most_slow: int | None = None) -> Iterator[Enumerated]:
    """Yield every order; the arguments are those of ``Enumerated``. Each order is run before the next is taken."""
    beginning: list[Made] | None = []
    while beginning is not None:
        choices = Enumerated(beginning, most_preemptions, most_slow)
        yield choices
        beginning = choices.following()
