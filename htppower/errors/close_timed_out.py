"""The error of a close that stopped waiting for native calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors.root import HtpPowerError
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

# A message names at most this many sessions.
_MOST_SHOWN = 10


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

    __repr__ = field_repr

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
