"""Who goes on: at random, as recorded, or every possibility in turn.

A pick of 0 at a point lets the running task go on; 1 to ``ready`` lets another go on in its place, in the order in
which they became ready; ``ready + 1`` lets time move on while the running task is slow. Where the running task can't
go on (``forced``), 0 to ``ready - 1`` says who does.
"""

from __future__ import annotations

import math
import random
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NEVER = 1 << 62

# How often another task is let go on, by run: a few preemptions at odd places find what many never let come about.
PREEMPTIONS = (0.002, 0.01, 0.05, 0.2)
# The share of preemptions that are a task being slow.
SLOW = 0.1


class Made(NamedTuple):
    """A pick that was not 0.

    Attributes:
        step: at which step.
        asked: 0 where the running task could go on, and counted from 1 where it could not: one that ends may be
            followed by one that ends without a step.
        pick: the pick.
    """

    step: int
    asked: int
    pick: int


class Choices(Protocol):
    """A source of choices.

    Attributes:
        made: the picks that were not 0: what ``Replayed`` takes.
    """

    made: list[Made]

    @property
    def next_step(self) -> int:
        """It need not be asked at a point before this step."""

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on."""


class _Asks:
    """Counts how often a choice was asked for at a step at which the running task can't go on."""

    def __init__(self) -> None:
        self._step = self._count = 0

    def next(self, step: int, *, forced: bool) -> int:
        """Return how often it was asked for, this time included; 0 where the task could go on."""
        if not forced:
            return 0
        self._count = self._count + 1 if step == self._step else 1
        self._step = step
        return self._count


class Random:
    """At random.

    Args:
        seed: of the picks, and of how many preemptions there are.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._rarely = 1 / math.log(1 - self._random.choice(PREEMPTIONS))
        self._asks = _Asks()
        self.made: list[Made] = []
        self.next_step = 0
        self._skip(0)

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on."""
        chance, asked = self._random, self._asks.next(step, forced=forced)
        if forced:
            pick = int(chance.random() * ready)
        else:
            self._skip(step)
            slow = clock and (not ready or chance.random() < SLOW)
            if slow and not ready and chance.random() >= SLOW:
                return 0
            pick = ready + 1 if slow else 1 + int(chance.random() * ready)
        if pick:
            self.made.append(Made(step, asked, pick))
        return pick

    def _skip(self, step: int) -> None:
        self.next_step = step + 1 + int(math.log(1 - self._random.random()) * self._rarely)


class Replayed:
    """As recorded; where nothing is recorded, the running task goes on, or the first that is ready.

    Args:
        made: the picks.
    """

    def __init__(self, made: Iterable[Made]) -> None:
        self.made = list(made)
        self._picks = {(step, asked): pick for step, asked, pick in self.made}
        self._asks = _Asks()
        self._preempted = deque(step for step, asked, _ in self.made if not asked)
        self.next_step = self._preempted[0] if self._preempted else NEVER

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on."""
        while self._preempted and self._preempted[0] <= step:
            self._preempted.popleft()
        self.next_step = self._preempted[0] if self._preempted else NEVER
        pick = self._picks.get((step, self._asks.next(step, forced=forced)), 0)
        return min(pick, ready - 1 if forced else ready + clock)


class Decision(NamedTuple):
    """A choice of which there was more than one.

    Attributes:
        step, asked, pick: as in ``Made``.
        possible: how many picks there are.
    """

    step: int
    asked: int
    pick: int
    possible: int


class Enumerated:
    """One order of all: it follows a beginning, and takes the first possibility from there on.

    Args:
        beginning: the decisions with which it begins. It need not be asked where the running task goes on in them.
        most_preemptions: how many times a task that could go on may be made to wait.
        most_slow: in how many of these it may be so slow that time moves on to the next alarm; in all unless told.
    """

    def __init__(self, beginning: Sequence[Decision], most_preemptions: int, most_slow: int | None = None) -> None:
        self._decisions = list(beginning)
        self._beginning = {decision[:2]: decision for decision in beginning}
        self._preempted = deque(decision.step for decision in beginning if decision.pick and not decision.asked)
        self._end = beginning[-1][:2] if beginning else (-1, 0)
        self._to_make = sum(1 for decision in beginning if decision.pick)
        self._asks = _Asks()
        self._left = most_preemptions
        self._slow_left = most_preemptions if most_slow is None else most_slow
        self.made: list[Made] = []
        self.next_step = 0
        self._ask_next()

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on.

        Raises:
            RuntimeError: another order with the same beginning had other possibilities here.
        """
        asked = self._asks.next(step, forced=forced)
        may_be_slow = clock and self._slow_left > 0
        possible = ready if forced else 1 + ready + may_be_slow if self._left > 0 else 1
        if possible == 1:
            return 0
        decision = self._beginning.get((step, asked))
        if decision is None and (step, asked) > self._end:
            decision = Decision(step, asked, 0, possible)
            self._decisions.append(decision)
        if decision is None or decision.possible != possible:
            raise RuntimeError(f"{possible} ways to go on at {(step, asked)}; another order had {decision}")
        if decision.pick:
            self.made.append(Made(*decision[:3]))
            if not forced:
                self._left -= 1
                self._slow_left -= decision.pick > ready
                self._preempted.popleft()
                self._ask_next()
        return decision.pick

    def _ask_next(self) -> None:
        after = self._end[0] + 1 if self._left > 0 else NEVER
        self.next_step = self._preempted[0] if self._preempted else after

    def following(self) -> list[Decision] | None:
        """Return the beginning of the next order, None where this was the last.

        Raises:
            RuntimeError: the run never came to a decision with which it was to begin.
        """
        if len(self.made) < self._to_make:
            raise RuntimeError(f"only {self.made} of {self._decisions} came")
        decisions = self._decisions
        while decisions and decisions[-1].pick + 1 >= decisions[-1].possible:
            decisions.pop()
        if decisions:
            decisions[-1] = decisions[-1]._replace(pick=decisions[-1].pick + 1)
        return decisions or None


def every_order(most_preemptions: int, most_slow: int | None = None) -> Iterator[Enumerated]:
    """Yield every order with at most so many preemptions; each is run before the next is asked for.

    Args:
        most_preemptions: as of ``Enumerated``.
        most_slow: as there.
    """
    beginning: list[Decision] | None = []
    while beginning is not None:
        choices = Enumerated(beginning, most_preemptions, most_slow)
        yield choices
        beginning = choices.following()
