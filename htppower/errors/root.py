"""The root class of the errors."""

from __future__ import annotations

from typing import Any


class HtpPowerError(Exception):
    """The root class of every error that htppower raises."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception.args holds the text of the error, not the arguments of its class, so pickle needs this.
        return _made_again, (type(self), self.args), vars(self)


def _made_again(kind: type[HtpPowerError], arguments: tuple[Any, ...]) -> HtpPowerError:
    """Return an error that was pickled in another process, before its attributes are set."""
    made = kind.__new__(kind)
    made.args = arguments
    return made
