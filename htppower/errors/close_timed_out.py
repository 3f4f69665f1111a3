"""What closing raises that gives up on native calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors.root import HtpPowerError
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

# How many sessions a message names.
_MOST_SHOWN = 10


@attrs.frozen
class CallUnderWay:
    """A native call that has not returned yet.

    Attributes:
        session: the number of the session that it is made for; 0 for the controller itself.
        function: the native function.
        power_config_id: the id that it is made on; None for a createPowerConfigId.
        since_us: when it began, by the controller's clock.
        lasted_us: how long ago that was.
    """

    session: int
    function: str
    power_config_id: int | None
    since_us: int
    lasted_us: int

    __repr__ = field_repr

    def __str__(self) -> str:
        """Return what is called, for whom and since when."""
        whose = f"session {self.session}" if self.session else "the controller"
        where = "" if self.power_config_id is None else f" on power config id {self.power_config_id}"
        since = f"for {self.lasted_us / 1_000_000:.3f} s, since {self.since_us} us"
        return f"{self.function}{where} for {whose} has not returned {since}"


class CloseTimedOut(HtpPowerError, TimeoutError):  # noqa: N818 - reads as what it is
    """Closing has given up waiting for native calls, and left the rest closed.

    A session that is left is closed by the thread that has its call, when that returns. Closing again goes on.

    Attributes:
        sessions: the numbers of the sessions that are not closed yet.
        calls: the calls that closing waits for.
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
