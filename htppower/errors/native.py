"""The errors of the native library: it can't be used, a call fails, or a call does not return in time."""

from __future__ import annotations

import enum
import traceback
from typing import TYPE_CHECKING

import attrs

from htppower.errors.root import HtpPowerError
from htppower.votes.native_codes import code_name, what_to_do

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.votes.vote_set import VoteSet

# A message names at most this many sessions.
_MOST_SHOWN = 10


class Unavailable(enum.Enum):
    """Why a backend can't be used."""

    NO_SUCH_BACKEND = "no such backend"
    NOT_FOUND = "library not found"
    NOT_LOADABLE = "library not loadable"
    SKEL_NOT_FOUND = "skel not found"
    ALREADY_LOADED = "library already loaded"
    WRONG_ARCHITECTURE = "library built for another machine"
    SYMBOL_MISSING = "symbol missing"
    NO_PROVIDER = "no HTP provider"
    CORE_API_TOO_OLD = "core API too old"
    CORE_API_UNKNOWN = "core API unknown"
    BACKEND_CREATE_FAILED = "backend not created"
    DEVICE_CREATE_FAILED = "device not created"
    DEVICE_BUSY = "device busy or banned"
    NO_POWER_INFRASTRUCTURE = "no power infrastructure"


@attrs.frozen
class Step:
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


class VoteRejected(HtpPowerError, RuntimeError):  # noqa: N818 - reads as what it is
    """A native call that did not return 0.

    Attributes:
        code: the native code, the low 16 bits of the vendor's error handle.
        name: the vendor's name for it.
        votes: the vote set that was sent, or None for a call without votes.
        function: the native function.
        power_config_id: the id of the call, or None.
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

    def __str__(self) -> str:
        """Return what failed and what to do. If the backend raised an exception of its own, add its text."""
        cause = self.__cause__
        return super().__str__() + ("" if cause is None else f"; the backend raised {_said(cause)}")


def kept(error: VoteRejected) -> VoteRejected:
    """Return an equal error for status and events, without stack frames and with its cause only as text.

    Stack frames and foreign exceptions would keep the inputs of an inference alive.
    """
    cause = error.__cause__
    if cause is None or type(cause) is HtpPowerError:
        return _twin(error, cause)
    return _twin(error, HtpPowerError(_said(cause)))


def without_frames(error: VoteRejected) -> VoteRejected:
    """Return an equal error to pass on or to raise: with its cause, without the stack frames it has collected."""
    return _twin(error, error.__cause__)


def _said(cause: BaseException) -> str:
    """Return the text of a cause, as in the last line of a traceback; works even if its ``__str__`` raises."""
    if type(cause) is HtpPowerError:
        return str(cause)
    return "".join(traceback.format_exception_only(cause)).strip()


def _twin(error: VoteRejected, cause: BaseException | None) -> VoteRejected:
    twin = VoteRejected(
        error.code, error.votes, function=error.function, power_config_id=error.power_config_id, core=error.core
    )
    twin.__cause__ = cause
    return twin


@attrs.frozen
class CallUnderWay:
    """A native call that has not returned yet.

    Attributes:
        session: the number of the session; 0 for the controller itself.
        function: the native function.
        power_config_id: the id of the call; None for a createPowerConfigId.
        since_us: when the call began, by the controller's clock.
        lasted_us: how long ago the call began.
    """

    session: int
    function: str
    power_config_id: int | None
    since_us: int
    lasted_us: int

    def __str__(self) -> str:
        """Return the function, the session and the time since the call began."""
        whose = f"session {self.session}" if self.session else "the controller"
        where = "" if self.power_config_id is None else f" on power config id {self.power_config_id}"
        since = f"for {self.lasted_us / 1_000_000:.3f} s, since {self.since_us} us"
        return f"{self.function}{where} for {whose} has not returned {since}"


class CloseTimedOut(HtpPowerError, TimeoutError):  # noqa: N818 - reads as what it is
    """A close stopped waiting for native calls. Everything that does not wait for one is closed.

    Each session that is still open is closed by the thread that runs its call, when the call returns. A second close
    continues to wait.

    Attributes:
        sessions: the numbers of the sessions that are not closed yet.
        calls: the native calls that the close waited for.
    """

    def __init__(self, timeout_s: float, sessions: Iterable[int], calls: Iterable[CallUnderWay]) -> None:
        self.sessions = tuple(sessions)
        self.calls = tuple(calls)
        left = f": {_numbered(self.sessions)}" if self.sessions else ""
        waits = "; ".join(map(str, self.calls))
        super().__init__(f"not closed within {timeout_s:g} s{left}{'; ' if waits else ''}{waits}")


def _numbered(sessions: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, sessions[:_MOST_SHOWN]))
    more = f" and {len(sessions) - _MOST_SHOWN} more" if len(sessions) > _MOST_SHOWN else ""
    return f"session{'s' if len(sessions) > 1 else ''} {shown}{more}"
