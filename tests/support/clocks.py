"""A source of clock readings that a test scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.clock.reading import ClockReading

if TYPE_CHECKING:
    from collections.abc import Callable


class ScriptedClock:
    """A source whose values a test sets.

    Attributes:
        calls: the methods that were called, in order.
        values: the values of each reading, by field.
        failing: the method that raises, and its error; None if none does.
        before: is called before each reading.
    """

    def __init__(self, name: str = "scripted", **values: float) -> None:
        self.name = name
        self.calls: list[str] = []
        self.values = values
        self.failing: tuple[str, Exception] | None = None
        self.before: Callable[[], object] = lambda: None

    def open(self) -> None:
        """Note the call."""
        self._called("open")

    def read(self, now_ns: int) -> ClockReading:
        """Return the values."""
        self._called("read")
        self.before()
        return ClockReading(self.name, now_ns, **self.values)

    def close(self) -> None:
        """Note the call."""
        self._called("close")

    def _called(self, method: str) -> None:
        self.calls.append(method)
        if self.failing is not None and self.failing[0] == method:
            raise self.failing[1]
