"""Restoring: what follows when a call fails, tells of a lost link, or could not bring something down."""

from __future__ import annotations

import abc
import threading
from typing import TYPE_CHECKING

from htppower.control.retry import Backoff
from htppower.events import Cause, State, Trigger
from htppower.votes.native_codes import LINK_LOST, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from htppower.control.executor import Caster
    from htppower.control.gate import Usage
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Phase

# A subsystem that restarts again while it is being voted again is left to the back-off after this many rounds.
MOST_RESTARTS_IN_A_ROW = 3


class Restorer(abc.ABC):
    """The part of the keeper that puts right what a call left wrong. The keeper's lock protects it."""

    def __init__(self, caster: Caster, time: Time) -> None:
        self.lock = threading.RLock()
        self.sessions: dict[int, Usage] = {}
        self._caster = caster
        self._backoff = Backoff(time, self._retry)
        self._restoring = False

    @abc.abstractmethod
    def _settle(self, session: Usage, cause: Cause, phase: Phase | None) -> VoteRejected | None:
        """Fire the transition to what a session should have, if there is one; return the call that failed."""

    @abc.abstractmethod
    def _lose(
        self,
        session: Usage,
        error: VoteRejected | None,
        cause: Cause,
        phase: Phase | None,
        attempted: Trigger | None = None,
    ) -> None:
        """Take in that nothing is known of a session's votes any more."""

    @abc.abstractmethod
    def _finish(self, session: Usage) -> None:
        """Destroy what is left of a session whose closing was interrupted."""

    @abc.abstractmethod
    def _replan(self) -> None:
        """Leave out of every session what the library has refused as not on this platform."""

    def _recover(self, error: VoteRejected | None) -> None:
        """After a call: where it told that the link was lost, every session that has voted is; see to what follows."""
        self._replan()
        link_error = self._caster.take_link_error()
        if link_error is not None:
            self._caster.ledger.forget_process()
            for session in tuple(self.sessions.values()):
                session.ids_doubted = True
                if session.state in (State.RAISED, State.LOWERED):
                    self._lose(session, None, Cause.LINK_LOST, None)
        if self._restoring:
            return
        if link_error is not None and link_error.code == SYSTEM_COMMUNICATION and not self._keeps_restarting():
            self._restore(Cause.LINK_LOST, link_error)
        elif (failed := link_error or error) is not None or (self._caster.orphans and not self._backoff.pending):
            self._backoff.failed(failed)

    def _keeps_restarting(self) -> bool:
        """Whether the subsystem restarted again while it was being voted again: then it is left to the back-off."""
        error = self._backoff.error
        return self._backoff.pending and error is not None and error.code == SYSTEM_COMMUNICATION

    def _restore(self, cause: Cause, error: VoteRejected | None) -> None:
        """Vote every lost session again, in the order in which they were opened; leave the rest to the back-off."""
        self._restoring = True
        try:
            for _ in range(MOST_RESTARTS_IN_A_ROW):
                failed = self._restore_once(cause)
                error = failed or error
                if not self._is_lacking() or (failed is not None and failed.code != SYSTEM_COMMUNICATION):
                    break
        finally:
            self._restoring = False
        if self._is_lacking():
            self._backoff.failed(error)
        else:
            self._backoff.recovered()

    def _restore_once(self, cause: Cause) -> VoteRejected | None:
        """Settle every session that lacks votes; return a failure, at once where the DSP is out of reach.

        A session that is UNVOTED may have begun an inference while the DSP was left alone.
        """
        failed = None
        for session in tuple(self.sessions.values()):
            if session.closing:
                self._finish(session)
            elif session.state in (State.UNKNOWN, State.UNVOTED):
                error = self._settle(session, cause, None)
                if error is not None:
                    failed = error
                    if error.code in LINK_LOST:
                        return failed
        if failed is None:
            failed = self._settle_process()
            self._recover(failed)
        return failed

    def _settle_process(self) -> VoteRejected | None:
        """Give back the process-wide settings that a session failed to give back; return the failure."""
        known = (session for session in self.sessions.values() if not session.ids_doubted)
        ids = (found for session in known for found in session.power_config_ids.values())
        return self._caster.settle_process(None, next(ids, None))

    def _is_lacking(self) -> bool:
        """Whether anything is left to retry."""
        if any(session.state is State.UNKNOWN for session in self.sessions.values()):
            return True
        return bool(self._caster.orphans) or self._caster.process_differs

    def _retry(self, number: int) -> None:
        """Try again what failed (called by the back-off's alarm)."""
        with self.lock:
            if not self._backoff.rang(number):
                return
            try:
                failures = self._caster.destroy_orphans()
                self._recover(None)
                self._restore(Cause.RETRIED, failures[-1][1] if failures else self._backoff.error)
            except BaseException:
                self._backoff.failed(None)
                raise
