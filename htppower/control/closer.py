"""Closing: sessions side by side, then what is left of a controller; native calls that hang are given up on."""

from __future__ import annotations

import functools
import time as clock
from typing import TYPE_CHECKING

import attrs

from htppower.control.time.side_by_side import run_side_by_side
from htppower.errors import CloseTimedOut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.control.claims.claims import Claims
    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.reconciler import Reconciler
    from htppower.control.core.registry import Registry
    from htppower.control.core.remains import Remains
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected


@attrs.define(eq=False, repr=False)
class Closer:
    """Closes sessions, and what is left of a controller after them."""

    _registry: Registry
    _claims: Claims
    _reconciler: Reconciler
    _remains: Remains
    _calls: NativeCalls
    _time: Time

    def close(self, session: SessionRecord, timeout_s: float | None) -> None:
        """Close a session.

        Raises:
            CloseTimedOut, VoteRejected: as ``Session.close`` says.
        """
        self._reconciler.raise_first(self._close([session], timeout_s))

    def close_all(self, sessions: Sequence[SessionRecord], timeout_s: float | None) -> tuple[bool, list[VoteRejected]]:
        """Close the sessions of a controller, and bring down what is left after them.

        Return whether nothing is left, and the failures.

        Raises:
            CloseTimedOut: as ``VoteController.close`` says.
        """
        end_s = None if timeout_s is None else clock.monotonic() + timeout_s
        failures = self._close(sessions, timeout_s)
        left_s = None if end_s is None else max(0.0, end_s - clock.monotonic())
        ended: list[bool] = []
        given_up: list[bool] = []

        def stop() -> None:
            ended.append(self._remains.stop())
            if given_up and ended[0]:
                self._remains.close_again()

        hangs = run_side_by_side(self._time, [stop], left_s)
        if timeout_s is not None and hangs:
            # First: either this thread sees that it has ended now, or that one sees that nobody waits for it.
            given_up.append(True)
            if not ended:
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
        # Until its end was told, whoever destroyed its ids.
        left = [session.number for session in sessions if session.number in self._registry.sessions]
        if timeout_s is not None and left:
            calls = self._calls.under_way
            # Where they make none they wait for another's, such as the one that casts the settings of the process.
            own = [call for call in calls if call.session in left]
            raise CloseTimedOut(timeout_s, left, own or calls) from next(iter(failures), None)
        return failures
