"""Virtual time: what it is, how much of it counts, and what is due when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.timers import Timer, Timers

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """Time, which moves from timer to timer.

    Attributes:
        now_us: the time.
        prompt_us: the time in which nobody was slow.
        idle_us: of that, the time in which nothing was under way.
    """

    def __init__(self) -> None:
        self.now_us = self.prompt_us = self.idle_us = 0
        self._timers = Timers()

    def __bool__(self) -> bool:
        """Return whether it can move."""
        return bool(self._timers)

    def call_at(self, time_us: int, place: int, action: Callable[[], None]) -> Timer:
        """Call at a time; ``clear`` what is returned to take it back.

        Args:
            time_us: when; at once where that is over.
            place: its place among those at the same time.
            action: what to call.
        """
        return self._timers.add(max(time_us, self.now_us), place, action)

    def move(self) -> None:
        """Move to the next timer, and let all that are due then ring."""
        self.now_us = self._timers.next_us
        self._timers.ring(self.now_us)

    def nobody_was_slow(self, since_us: int, *, idle: bool) -> None:
        """Take in that since a time nobody was slow, and whether anything was under way."""
        self.prompt_us += self.now_us - since_us
        self.idle_us += (self.now_us - since_us) * idle
