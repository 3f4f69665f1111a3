"""The errors of htppower: one root, a few leaves, each saying what, where and what to do; and findings in files.

May import votes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower._exports import exported_lazily
from htppower.errors.finding import Finding as Finding
from htppower.errors.finding import KeyPath as KeyPath
from htppower.errors.finding import Place as Place
from htppower.errors.finding import Severity as Severity
from htppower.errors.finding import bounded as bounded
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

# What only a host and a few commands need is imported when it is first used.
_EXPORTS = {
    "htppower.errors.close_timed_out": ("CallUnderWay", "CloseTimedOut"),
    "htppower.errors.trace_error": ("TraceError",),
    "htppower.errors.unavailable": ("BackendUnavailable", "Step", "Unavailable"),
    "htppower.errors.vote_rejected": ("VoteRejected", "kept", "without_frames"),
}

if not TYPE_CHECKING:  # A type checker would take any name for one that exists.
    __getattr__ = exported_lazily(__name__, _EXPORTS)


# What ``ProfileError.problems`` holds: the findings for which a file is refused.
Problem = Finding


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


class PhaseMisuse(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was ended that does not run, or begun while it runs. Nothing has changed, for no other phase either."""


class SessionClosed(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was begun, or a profile asked for, on a session or controller that is closed."""
