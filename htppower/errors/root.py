"""The root of the errors."""

from __future__ import annotations

from typing import Any


class HtpPowerError(Exception):
    """The root of every error that htppower raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The arguments of an error are its text, and not what its kind is made with.
        return _made_again, (type(self), self.args), vars(self)


def _made_again(kind: type[HtpPowerError], arguments: tuple[Any, ...]) -> HtpPowerError:
    """Return an error as it comes from another process, before it has its attributes."""
    made = kind.__new__(kind)
    made.args = arguments
    return made
