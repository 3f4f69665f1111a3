"""The error of a backend that can't be used: the reason, and the places that were searched."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors.root import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Unavailable(enum.Enum):
    """Why a backend can't be used."""

    NO_SUCH_BACKEND = "no such backend"
    NOT_FOUND = "library not found"
    NOT_LOADABLE = "library not loadable"
    WRONG_ARCHITECTURE = "library built for another machine"
    SYMBOL_MISSING = "symbol missing"
    NO_PROVIDER = "no HTP provider"
    CORE_API_TOO_OLD = "core API too old"
    CORE_API_UNKNOWN = "core API unknown"
    BACKEND_CREATE_FAILED = "backend not created"
    DEVICE_CREATE_FAILED = "device not created"
    DEVICE_BUSY = "device busy or banned"
    NO_POWER_INFRASTRUCTURE = "no power infrastructure"


class Step(NamedTuple):
    """One step of the search for a library.

    Attributes:
        origin: the kind of place, such as ``QNN_SDK_ROOT``.
        path: the place itself.
        outcome: the result; ``loaded`` for the library that was chosen.
    """

    origin: str
    path: str
    outcome: str

    def __str__(self) -> str:
        """Return the step on one line."""
        return ": ".join(part for part in (self.origin, self.path, self.outcome) if part)


class BackendUnavailable(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """The requested backend can't be used. No other backend is used instead.

    Attributes:
        reason: the kind of failure.
        message: what is wrong, in a sentence.
        hint: what to do about it.
        tried: the steps of the search for the library, in order; if a library was chosen, it is in the last step.
        code: the native code that was returned, or None.
    """

    def __init__(
        self,
        reason: Unavailable,
        message: str,
        *,
        hint: str = "",
        tried: Iterable[Step] = (),
        code: int | None = None,
    ) -> None:
        self.reason = reason
        self.message = message
        self.hint = hint
        self.tried = tuple(tried)
        self.code = code
        steps = "".join(f"\n  tried {step}" for step in self.tried)
        super().__init__(message + (f": {hint}" if hint else "") + steps)
