"""Who goes on: at random, as recorded, or every possibility in turn.

A pick of 0 at a point lets the running task go on; 1 to ``ready`` lets another go on in its place, in the order in
which they became ready; ``ready + 1`` lets time move on while the running task is slow. Where the running task can't
go on (``forced``), 0 to ``ready - 1`` says who does.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NEVER = 1 << 62

# How often another task is let go on, by run: a few preemptions at odd places find what many never let come about.
PREEMPTIONS = (0.002, 0.01, 0.05, 0.2)
# The share of preemptions that are a task being slow.
SLOW = 0.1


class Choices(Protocol):
    """A source of choices.

    Attributes:
        next_step: it need not be asked at a point before this step.
        made: the picks that were not 0, by step: what ``Replayed`` takes.
    """

    next_step: int
    made: list[tuple[int, int]]

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on."""


class Random:
    """At random.

    Args:
        seed: of the picks, and of how many preemptions there are.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._rarely = 1 / math.log(1 - self._random.choice(PREEMPTIONS))
        self.made: list[tuple[int, int]] = []
        self.next_step = 0
        self._skip(0)

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on."""
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
            self.made.append((step, pick))
        return pick

    def _skip(self, step: int) -> None:
        self.next_step = step + 1 + int(math.log(1 - self._random.random()) * self._rarely)


class Replayed:
    """As recorded; where nothing is recorded, the running task goes on, or the first that is ready.

    Args:
        made: picks by step.
    """

    def __init__(self, made: Iterable[tuple[int, int]]) -> None:
        self.made = list(made)
        self._picks = dict(self.made)
        self._steps = [step for step, _ in self.made]
        self._place = 0
        self.next_step = self._steps[0] if self._steps else NEVER

    def pick(self, step: int, ready: int, *, clock: bool, forced: bool) -> int:
        """Say who goes on."""
        while self._place < len(self._steps) and self._steps[self._place] <= step:
            self._place += 1
        self.next_step = self._steps[self._place] if self._place < len(self._steps) else NEVER
        return min(self._picks.get(step, 0), ready - 1 if forced else ready + clock)


class Enumerated:
    """One path of all: it follows a beginning, and takes the first possibility from there on.

    Args:
        beginning: the picks with which it begins, one for each decision that has more than one possibility.
        most_preemptions: how many times a task that could go on may be made to wait.
    """

    def __init__(self, beginning: Sequence[int], most_preemptions: int) -> None:
        self._beginning = beginning
        self._left = most_preemptions
        self._decisions: list[tuple[int, int]] = []
        self.made: list[tuple[int, int]] = []
        self.next_step = 0 if most_preemptions else NEVER

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
            if not forced:
                self._left -= 1
                if not self._left:
                    self.next_step = NEVER
        return pick

    def following(self) -> list[int] | None:
        """Return the beginning of the next path, None where this was the last."""
        decisions = list(self._decisions)
        while decisions and decisions[-1][0] + 1 >= decisions[-1][1]:
            decisions.pop()
        if not decisions:
            return None
        return [pick for pick, _ in decisions[:-1]] + [decisions[-1][0] + 1]


def every_order(most_preemptions: int) -> Iterator[Enumerated]:
    """Yield every order; each is run before the next is asked for."""
    beginning: list[int] | None = []
    while beginning is not None:
        choices = Enumerated(beginning, most_preemptions)
        yield choices
        beginning = choices.following()
