"""Closing sessions side by side, and giving up on native calls that hang."""

from __future__ import annotations

import functools
import threading
import time as clock
from typing import TYPE_CHECKING

from htppower.control.side_by_side import run_side_by_side
from htppower.errors import CloseTimedOut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.control.claims import Claims
    from htppower.control.native_calls import NativeCalls
    from htppower.control.reconciler import Reconciler
    from htppower.control.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected


class Closer:
    """Closes sessions, and what is left of a controller after them.

    Args:
        claims, reconciler, calls, time: ends the holds of sessions, brings them down, knows which calls hang, and gives
            the threads.
    """

    def __init__(self, claims: Claims, reconciler: Reconciler, calls: NativeCalls, time: Time) -> None:
        self._claims = claims
        self._reconciler = reconciler
        self._calls = calls
        self._time = time

    def close(self, session: SessionRecord, timeout_s: float | None) -> None:
        """Close a session.

        Raises:
            CloseTimedOut, VoteRejected, ValueError: as ``Session.close`` says.
        """
        _check(timeout_s)
        self._reconciler.raise_first(self._close([session], timeout_s))

    def close_all(self, sessions: Sequence[SessionRecord], timeout_s: float | None) -> tuple[bool, list[VoteRejected]]:
        """Close the sessions of a controller, and bring down what is left after them.

        Return whether nothing is left, and the failures.

        Raises:
            CloseTimedOut, ValueError: as ``VoteController.close`` says.
        """
        _check(timeout_s)
        end_s = None if timeout_s is None else clock.monotonic() + timeout_s
        failures = self._close(sessions, timeout_s)
        ended: list[bool] = []
        left_s = None if end_s is None else max(0.0, end_s - clock.monotonic())
        hangs = run_side_by_side(self._time, [lambda: ended.append(self._reconciler.stop())], left_s)
        if timeout_s is not None and hangs:
            raise CloseTimedOut(timeout_s, (), self._calls.under_way)
        return ended[0], failures

    def _close(self, sessions: Sequence[SessionRecord], timeout_s: float | None) -> list[VoteRejected]:
        """Close sessions side by side; return the failures.

        Raises:
            CloseTimedOut: one is not closed within the time; its cause is the first failure of the others.
        """
        failures: list[VoteRejected] = []

        def close(session: SessionRecord) -> None:
            failures.extend(self._claims.close(session, timeout_s))

        run_side_by_side(self._time, [functools.partial(close, session) for session in sessions], timeout_s)
        left = [session.number for session in sessions if not session.gone]
        if timeout_s is not None and left:
            calls = self._calls.under_way
            # Where they make none they wait for another's, such as the one that casts the settings of the process.
            own = [call for call in calls if call.session in left]
            raise CloseTimedOut(timeout_s, left, own or calls) from next(iter(failures), None)
        return failures


def _check(timeout_s: float | None) -> None:
    if timeout_s is not None and not 0 <= timeout_s <= threading.TIMEOUT_MAX:
        raise ValueError(f"timeout_s is {timeout_s}: seconds from 0, or None to wait for every call")
