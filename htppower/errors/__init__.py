"""The errors of htppower: one root, a few leaves, each saying what, where and what to do; and findings in files.

May import votes.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors.finding import Finding as Finding
from htppower.errors.finding import Path as Path
from htppower.errors.finding import Place as Place
from htppower.errors.finding import Severity as Severity
from htppower.errors.finding import bounded as bounded
from htppower.errors.finding import printable as printable
from htppower.errors.finding import shortened as shortened
from htppower.votes.native_codes import code_name, what_to_do

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.votes.vote_set import VoteSet


# What ``ProfileError.problems`` holds: the findings for which a file is refused.
Problem = Finding


class HtpPowerError(Exception):
    """The root of every error that htppower raises."""


class ProfileError(HtpPowerError, ValueError):
    """A profile that can't be read or is invalid.

    All problems of a file are reported at once.

    Attributes:
        problems: each of them; of more than 100 in one file the last says how many are left out.
        path, line, column, rule, hint: those of the first.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = bounded(problems)
        first = self.problems[0]
        self.path = first.path
        self.line = first.line
        self.column = first.column
        self.rule = first.rule
        self.hint = first.hint
        super().__init__("\n".join(str(problem) for problem in self.problems))


class RuleBreach(ProfileError):  # noqa: N818 - reads as what it is
    """A well-formed profile that a rule of the votes refuses, by itself or on this platform."""


class VoteTestError(ProfileError):
    """A test that can't be run: its file, or a profile that it tests, can't be read or is invalid."""


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
        origin: which, such as ``QNN_SDK_ROOT``.
        path: where.
        outcome: what came of it, ``loaded`` where it was chosen.
    """

    origin: str
    path: str
    outcome: str

    def __str__(self) -> str:
        """Return the step in a line."""
        return ": ".join(part for part in (self.origin, self.path, self.outcome) if part)


class BackendUnavailable(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A backend that was asked for can't be used; nothing falls back to another in its place.

    Attributes:
        reason: why.
        message: what is wrong, in a sentence.
        hint: what to do about it.
        tried: the steps of the search for the library, in order; the last was chosen, if any was.
        code: the native code that told so, or None.
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


class VoteRejected(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A native call that did not return 0.

    Attributes:
        code: the native code, the low 16 bits of the vendor's error handle.
        name: the vendor's name for it.
        votes: the vote set that was sent, or None for a call that carries none.
        function: the native function.
        power_config_id: the id it was called on, or None.
        core: device id and core id of a createPowerConfigId, or None.
    """

    def __init__(
        self,
        code: int,
        votes: VoteSet | None = None,
        *,
        function: str = "setPowerConfig",
        power_config_id: int | None = None,
        core: tuple[int, int] | None = None,
    ) -> None:
        self.code = code
        self.name = code_name(code)
        self.votes = votes
        self.function = function
        self.power_config_id = power_config_id
        self.core = core
        where = "" if power_config_id is None else f" on power config id {power_config_id}"
        if core is not None:
            where = f" for device {core[0]}, core {core[1]}"
        carried = "" if votes is None else f" with {votes}"
        super().__init__(f"{function}{where} returned {code} {self.name}{carried}: {what_to_do(code, function)}")


def kept(error: VoteRejected) -> VoteRejected:
    """Return an error for status, without its traceback, which would keep the inputs of an inference alive."""
    return error.with_traceback(None)


def to_raise(kept: VoteRejected) -> VoteRejected:
    """Return an equal error to raise, since the kept one would keep every frame that it passes."""
    twin = VoteRejected(
        kept.code, kept.votes, function=kept.function, power_config_id=kept.power_config_id, core=kept.core
    )
    twin.__cause__ = kept.__cause__
    return twin


class SessionClosed(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was begun, or a profile asked for, on a session or controller that is closed."""
