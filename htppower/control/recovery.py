"""Recovery: what follows when a call fails, tells of a lost link, or could not bring something down.

After 1007, where the DSP restarted, every session is voted again at once. After 1011, where it is gone, the back-off
votes them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import Cause, State
from htppower.votes.native_codes import LINK_LOST, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.executor import Executor
    from htppower.control.plans import Planner
    from htppower.control.retry import Retry
    from htppower.control.session_record import SessionRecord
    from htppower.control.state_machine import StateMachine
    from htppower.errors import VoteRejected

# A subsystem that restarts again while it is being voted again is left to the back-off after this many rounds.
MOST_RESTARTS_IN_A_ROW = 3


class Recovery:
    """Puts right what a call left wrong. The controller's lock protects it.

    Args:
        executor, planner, machine: makes the calls, knows what the platform lacks, and loses sessions.
        retry: when to try again.
        settle_again: settles a session that lacks votes, and returns the call that failed.
    """

    def __init__(
        self,
        executor: Executor,
        planner: Planner,
        machine: StateMachine,
        retry: Retry,
        settle_again: Callable[[SessionRecord, Cause], VoteRejected | None],
    ) -> None:
        self._executor = executor
        self._planner = planner
        self._machine = machine
        self._retry = retry
        self._settle_again = settle_again
        self._restoring = False
        self._known_missing = 0

    def after(self, error: VoteRejected | None) -> None:
        """See to what follows a call: where it told that the link was lost, every session that has voted is."""
        self._replan()
        link_error = self._executor.take_link_error()
        if link_error is not None:
            self._executor.ledger.forget_process()
            for session in self._sessions():
                session.ids_doubted = True
                if session.state in (State.RAISED, State.LOWERED):
                    self._machine.lose(session, None, Cause.LINK_LOST)
        if self._restoring:
            return
        if link_error is not None and link_error.code == SYSTEM_COMMUNICATION and not self._keeps_restarting():
            self._restore(Cause.LINK_LOST, link_error)
        elif (failed := link_error or error) is not None or (self._executor.orphans and not self._retry.pending):
            self._retry.failed(failed)

    def end_if_done(self) -> None:
        """End the back-off where nothing is left to retry."""
        if self._retry.pending and not self._restoring and not self._is_lacking():
            self._retry.recovered()

    def try_again(self, number: int) -> None:
        """Try again what failed, on the alarm of that number."""
        if not self._retry.rang(number):
            return
        try:
            failures = self._executor.destroy_orphans()
            self.after(None)
            self._restore(Cause.RETRIED, failures[-1][1] if failures else self._retry.error)
        except BaseException:
            self._retry.failed(None)
            raise

    def settle_process(self) -> VoteRejected | None:
        """Give back the process-wide settings that a session failed to give back; return the failure."""
        known = (session for session in self._sessions() if not session.ids_doubted)
        ids = (found for session in known for found in session.power_config_ids.values())
        return self._executor.settle_process(None, next(ids, None))

    def _sessions(self) -> tuple[SessionRecord, ...]:
        return tuple(self._machine.sessions.values())

    def _replan(self) -> None:
        """Leave out of every session what the library has refused as not on this platform."""
        if len(self._planner.missing) == self._known_missing:
            return
        self._known_missing = len(self._planner.missing)
        for session in self._sessions():
            before, ready = session.plan.degradations, session.gate.ready
            session.follow(self._planner.plan(session.plan.profile))
            session.gate.set_ready(ready)
            self._machine.tell_degradations(session, before)

    def _keeps_restarting(self) -> bool:
        """Whether the subsystem restarted again while it was being voted again: then it is left to the back-off."""
        error = self._retry.error
        return self._retry.pending and error is not None and error.code == SYSTEM_COMMUNICATION

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
            self._retry.failed(error)
        else:
            self._retry.recovered()

    def _restore_once(self, cause: Cause) -> VoteRejected | None:
        """Settle every session that lacks votes; return a failure, at once where the DSP is out of reach."""
        failed = None
        for session in self._sessions():
            error = self._settle_again(session, cause)
            if error is not None:
                failed = error
                if error.code in LINK_LOST:
                    return failed
        if failed is None:
            failed = self.settle_process()
            self.after(failed)
        return failed

    def _is_lacking(self) -> bool:
        """Whether anything is left to retry."""
        if any(session.state is State.UNKNOWN for session in self._machine.sessions.values()):
            return True
        return bool(self._executor.orphans) or self._executor.process_differs
