"""Closes sessions within a timeout, even if a native call hangs."""

from __future__ import annotations

import functools
import time as clock
from typing import TYPE_CHECKING

import attrs

from htppower.control.core.line import Urgency
from htppower.errors import CloseTimedOut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.control.claims.claims import Claims
    from htppower.control.core.home import Home
    from htppower.control.core.session_record import SessionRecord
    from htppower.errors import VoteRejected


@attrs.define(eq=False, repr=False)
class Closer:
    """Closes the sessions of a controller."""

    _home: Home
    _claims: Claims

    def close(self, session: SessionRecord, timeout_s: float | None) -> None:
        """Close a session.

        Raises:
            CloseTimedOut, VoteRejected: as ``Session.close`` says.
        """
        self._home.raise_first(self.close_all([session], timeout_s))

    def close_soon(self, session: SessionRecord) -> None:
        """Close a session without waiting, as when its last reference is gone."""
        self._home.engine.post(functools.partial(self._claims.close, session), Urgency.CLOSE)

    def _all_soon(self, sessions: Sequence[SessionRecord]) -> None:
        for session in sessions:
            self.close_soon(session)

    def close_all(self, sessions: Sequence[SessionRecord], timeout_s: float | None) -> list[VoteRejected]:
        """Close sessions, one step each; return the failures.

        If the step of a session does not end within the timeout, the session is closed later.

        Raises:
            CloseTimedOut: a session is not closed within the timeout; its cause is the first failure of another
                session.
        """
        engine = self._home.engine
        failures: list[VoteRejected] = []
        end_s = None if timeout_s is None else clock.monotonic() + timeout_s
        try:
            # From here on no phase begins, even if the worker is busy and closes the sessions later.
            for session in sessions:
                session.gate.close()
            if not engine.may_wait:
                self._all_soon(sessions)
                return failures
            # All steps are submitted before the first wait, so an interrupted wait leaves no session open.
            steps = [functools.partial(self._claims.close, session) for session in sessions]
            requests = [engine.submit(step, Urgency.CLOSE) for step in steps]
        except BaseException:
            engine.time.call_soon(functools.partial(self._all_soon, sessions))
            raise
        for request in requests:
            if request.wait(None if end_s is None else max(0.0, end_s - clock.monotonic())):
                failures += request.value()
        left = [session.number for session in sessions if session.number in self._home.registry.sessions]
        if timeout_s is not None and left:
            raise CloseTimedOut(timeout_s, left, engine.calls_under_way) from next(iter(failures), None)
        return failures
