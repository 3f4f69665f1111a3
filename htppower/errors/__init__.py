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
from htppower.votes.native_codes import code_name, what_to_do

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.errors.close_timed_out import CallUnderWay as CallUnderWay
    from htppower.errors.close_timed_out import CloseTimedOut as CloseTimedOut
    from htppower.errors.trace_error import TraceError as TraceError
    from htppower.errors.unavailable import BackendUnavailable as BackendUnavailable
    from htppower.errors.unavailable import Step as Step
    from htppower.errors.unavailable import Unavailable as Unavailable
    from htppower.votes.vote_set import VoteSet

# What only a host and a few commands need is imported when it is first used.
_EXPORTS = {
    "htppower.errors.close_timed_out": ("CallUnderWay", "CloseTimedOut"),
    "htppower.errors.trace_error": ("TraceError",),
    "htppower.errors.unavailable": ("BackendUnavailable", "Step", "Unavailable"),
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
    """Return an equal error for status and events: without frames, and with the text alone of what caused it.

    Frames, and the exceptions of others, would keep the inputs of an inference alive.
    """
    cause = error.__cause__
    if cause is None or type(cause) is HtpPowerError:
        return _twin(error, cause)
    import traceback  # noqa: PLC0415 - a command that makes no call does not pay for it

    # As a traceback's last line says it, also where its own __str__ raises.
    return _twin(error, HtpPowerError("".join(traceback.format_exception_only(cause)).strip()))


def without_frames(error: VoteRejected) -> VoteRejected:
    """Return an equal error to hand on or to raise, with what caused it, and without the frames that it has passed."""
    return _twin(error, error.__cause__)


def _twin(error: VoteRejected, cause: BaseException | None) -> VoteRejected:
    twin = VoteRejected(
        error.code, error.votes, function=error.function, power_config_id=error.power_config_id, core=error.core
    )
    twin.__cause__ = cause
    return twin


class PhaseMisuse(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was ended that does not run, or begun while it runs. Nothing has changed, for no other phase either."""


class SessionClosed(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A phase was begun, or a profile asked for, on a session or controller that is closed."""
