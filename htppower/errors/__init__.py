"""The errors of htppower: one root and a few subclasses. Each says what is wrong, where, and what to do.

Also findings: the problems that are reported about a file. May import votes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower._exports import exported_lazily
from htppower.errors.finding import Finding as Finding
from htppower.errors.finding import KeyPath as KeyPath
from htppower.errors.finding import Place as Place
from htppower.errors.finding import Severity as Severity
from htppower.errors.finding import bounded as bounded
from htppower.errors.finding import located as located
from htppower.errors.finding import place_of as place_of
from htppower.errors.finding import printable as printable
from htppower.errors.finding import shortened as shortened
from htppower.errors.root import HtpPowerError as HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.errors.close_timed_out import CallUnderWay as CallUnderWay
    from htppower.errors.close_timed_out import CloseTimedOut as CloseTimedOut
    from htppower.errors.trace_error import TraceError as TraceError
    from htppower.errors.unavailable import BackendUnavailable as BackendUnavailable
    from htppower.errors.unavailable import Step as Step
    from htppower.errors.unavailable import Unavailable as Unavailable
    from htppower.errors.vote_rejected import VoteRejected as VoteRejected
    from htppower.errors.vote_rejected import kept as kept
    from htppower.errors.vote_rejected import without_frames as without_frames

# Errors that only a host and a few commands need are imported on first use.
_EXPORTS = {
    "htppower.errors.close_timed_out": ("CallUnderWay", "CloseTimedOut"),
    "htppower.errors.trace_error": ("TraceError",),
    "htppower.errors.unavailable": ("BackendUnavailable", "Step", "Unavailable"),
    "htppower.errors.vote_rejected": ("VoteRejected", "kept", "without_frames"),
}

if not TYPE_CHECKING:  # With a __getattr__, type checkers would accept any name.
    __getattr__ = exported_lazily(__name__, _EXPORTS)


# The findings that make a file refused, as ``ProfileError.problems`` holds them.
Problem = Finding


class ProfileError(HtpPowerError, ValueError):
    """A profile that can't be read or is invalid.

    All problems of a file are reported at once.

    Attributes:
        problems: all problems; if one file has more than 100, the last one says how many are omitted.
        path, line, column, rule, hint: taken from the first problem.
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
    """A well-formed profile that a rule of the votes refuses, on every platform or on this one."""


class VoteTestError(ProfileError):
    """A test that can't be run: its file, or a profile that it tests, can't be read or is invalid."""


class PhaseMisuse(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was ended that is not running, or begun while it is running. No phase has changed."""


class SessionClosed(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was begun, or a profile requested, on a closed session or controller."""
