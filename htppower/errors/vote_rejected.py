"""The error of a native call that failed, and copies of it without stack frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors.root import HtpPowerError
from htppower.votes.native_codes import code_name, what_to_do

if TYPE_CHECKING:
    from htppower.votes.vote_set import VoteSet


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
    import traceback  # noqa: PLC0415 - a dry run does not need it

    return "".join(traceback.format_exception_only(cause)).strip()


def _twin(error: VoteRejected, cause: BaseException | None) -> VoteRejected:
    twin = VoteRejected(
        error.code, error.votes, function=error.function, power_config_id=error.power_config_id, core=error.core
    )
    twin.__cause__ = cause
    return twin
