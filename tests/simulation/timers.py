"""The timers of a scheduler: what is to be called when, in an order that does not depend on who goes on."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Timer:
    """What is to be called once; nothing where it was taken back."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def clear(self) -> None:
        """Take it back."""
        self.action = None


class Timers:
    """What is to be called when."""

    def __init__(self) -> None:
        self._timers: list[tuple[int, int, Timer]] = []

    def __bool__(self) -> bool:
        """Return whether any is left; those that were taken back are forgotten."""
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)
        return bool(self._timers)

    def add(self, time_us: int, place: int, action: Callable[[], None]) -> Timer:
        """Add one; ``clear`` what is returned to take it back.

        Args:
            time_us: when to call.
            place: its place among those at the same time; no two have the same.
            action: what to call.
        """
        timer = Timer(action)
        heapq.heappush(self._timers, (time_us, place, timer))
        return timer

    @property
    def next_us(self) -> int:
        """When the next is due."""
        return self._timers[0][0]

    def ring(self, now_us: int) -> None:
        """Call what is due."""
        while self._timers and self._timers[0][0] <= now_us:
            timer = heapq.heappop(self._timers)[2]
            if timer.action is not None:
                timer.action()
