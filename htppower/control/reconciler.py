"""The reconciler: it keeps what is in force in line with what every session should have.

``settle`` is the one place where states change. It compares what a session should have with its state, and makes the
transition between them. Phases that begin and end, alarms, changes of profile, a restart of the DSP and retries all
come here, so that none of them needs rules of its own.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from htppower.control.recovery import Recovery
from htppower.control.retry import Retry
from htppower.control.state_machine import StateMachine
from htppower.errors import SessionClosed, VoteRejected, kept, to_raise
from htppower.events import Cause, ProfileChanged, SessionOpened, State, Trigger
from htppower.votes.native_codes import LINK_LOST, TRANSPORT

if TYPE_CHECKING:
    from htppower.control.event_bus import EventBus
    from htppower.control.executor import Executor
    from htppower.control.plans import Plan, Planner
    from htppower.control.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.events import Phase
    from htppower.votes.vote_set import VoteSet

_BEGINNINGS = frozenset({Cause.INIT_BEGAN, Cause.INFERENCE_BEGAN, Cause.DEINIT_BEGAN, Cause.PROFILE_CHANGED})
# The DSP is out of reach, not the id: a session opens nevertheless, and its ids are created later.
_DSP_OUT_OF_REACH = LINK_LOST | {TRANSPORT}


class Reconciler:
    """The sessions of a controller, and the lock under which their states change.

    Args:
        executor, planner, events, time: make the calls, say what a profile casts, are told, and give clock and alarms.
        raises: whether a failed vote raises where a phase begins or ends.

    Attributes:
        lock: see ``htppower.control``.
        sessions: the open sessions by number.
        closed: whether the controller is closed: no session is opened and no cap is set any more.
        ending: whether phases that begin on a closed session are let pass: the process is ending, or is a forked child.
    """

    def __init__(self, executor: Executor, planner: Planner, events: EventBus, time: Time, *, raises: bool) -> None:
        self.lock = threading.RLock()
        self.closed = False
        self.ending = False
        self._executor = executor
        self._events = events
        self._raises = raises
        self._machine = StateMachine(executor, events, time)
        self.sessions = self._machine.sessions
        self._retry = Retry(time, self._retry_rang)
        self._recovery = Recovery(executor, planner, self._machine, self._retry, self._settle_again)

    def open(self, session: SessionRecord) -> None:
        """Create a session's ids and take it in.

        Raises:
            VoteRejected: an id can't be created although the DSP is in reach.
        """
        error = self._retry.error if self._retry.waiting else None
        if session.plan.raised and error is None:
            try:
                self._executor.create_ids(session)
            except VoteRejected as rejected:
                if rejected.code not in _DSP_OUT_OF_REACH:
                    self._executor.release(session)
                    self._recovery.after(None)
                    raise
                error = kept(rejected)
            except BaseException:
                self._executor.release(session)
                raise
        self.sessions[session.number] = session
        self._events.tell(SessionOpened, session.identity, power_config_ids=tuple(session.power_config_ids.values()))
        self._machine.tell_degradations(session, ())
        session.gate.set_ready(not session.plan.raised)
        if error is not None and session.plan.raised:
            self._machine.lose(session, error, Cause.SESSION_OPENED)
            self._recovery.after(error)

    def settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        *,
        quiet: bool = False,
        doubt: bool = False,
    ) -> None:
        """Bring what is in force in line with what a session should have.

        With ``quiet``, nothing is raised. With ``doubt``, what its votes are known to be is forgotten then, so that the
        next raise sends everything: votes cast before a graph's context exists may be lost.

        Raises:
            VoteRejected: a call failed, nothing is known to be in force, and the controller has ``on_error="raise"``.
            SessionClosed: a phase begins on a closed session.
        """
        with self.lock:
            if self._is_gone(session, cause, quiet=quiet):
                return
            try:
                error = self._settle(session, cause, phase)
            finally:
                if doubt:
                    self._executor.doubt(session)
                    session.gate.set_ready(not session.plan.raised)
        self.raise_failure(session, error, quiet=quiet)

    def alarm_rang(self, session: SessionRecord, cause: Cause) -> None:
        """Settle a session whose alarm rings."""
        self.settle(session, cause, quiet=True)

    def require_open(self) -> None:
        """Refuse a controller that is closed.

        Raises:
            SessionClosed: it is.
        """
        if self.closed:
            raise SessionClosed("the controller is closed: make a new one")

    def require_live(self, session: SessionRecord) -> None:
        """Refuse a session that is closed.

        Raises:
            SessionClosed: it is, and the process is not being ended.
        """
        with self.lock:
            self._is_gone(session, Cause.PROFILE_CHANGED, quiet=False)

    def use(self, session: SessionRecord, plan: Plan, cause: Cause, reason: str | None) -> VoteRejected | None:
        """Let a session use another profile: at once if votes are raised, otherwise at the next raise.

        Return the call that failed.
        """
        with self.lock:
            if self._is_gone(session, cause, quiet=True) or plan == session.plan:
                return None
            before = session.plan
            self._machine.tell_saves(session)
            session.follow(plan)
            session.history.saves_told = session.gate.begun
            session.gate.end_sustain()
            self._events.tell(ProfileChanged, session.identity, before=before.profile.name, cause=cause, reason=reason)
            self._machine.tell_degradations(session, before.degradations)
            return self._settle(session, cause, None)

    def raise_failure(self, session: SessionRecord, error: VoteRejected | None, *, quiet: bool = False) -> None:
        """Raise what a call failed with, where the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        missing = session.state in (State.UNKNOWN, State.UNVOTED)
        if error is not None and missing and self._raises and not quiet:
            raise to_raise(error)

    def raise_first(self, failures: list[VoteRejected]) -> None:
        """Raise the first failure of a close, where the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        if failures and self._raises:
            raise failures[0]

    def close(self, session: SessionRecord) -> list[VoteRejected]:
        """Stop the timer, lower, give back, destroy: each step, even if the one before failed. Return the failures."""
        with self.lock:
            if session.number not in self.sessions:
                return []
            session.gate.shut()
            failures = []
            try:
                error = self._settle(session, Cause.SESSION_CLOSED, None)
                if error is not None and session.state is State.UNKNOWN:
                    failures.append(error)
            finally:
                failures += self._release(session, Trigger.DESTROY, Cause.SESSION_CLOSED)
            return failures

    def stop(self) -> bool:
        """Destroy what could not be destroyed before, and retry nothing from now on; return whether nothing is left."""
        self._recovery.settle_process()
        self._executor.destroy_orphans()
        self._retry.close()
        return not self.sessions and not self._executor.orphans

    def disown(self) -> None:
        """In a forked child: the ids are the parent's, and nothing is cast here."""
        self.lock = threading.RLock()
        self.closed = self.ending = True
        self._retry.disown()
        for session in self.sessions.values():
            session.disown()
        self.sessions.clear()

    def _is_gone(self, session: SessionRecord, cause: Cause, *, quiet: bool) -> bool:
        if session.state is not State.DESTROYED:
            return False
        if cause in _BEGINNINGS and not quiet and not self.ending:
            raise SessionClosed(f"{session!r} is closed: open a new session")
        return True

    def _settle(self, session: SessionRecord, cause: Cause, phase: Phase | None) -> VoteRejected | None:
        """Make the transition to what a session should have, if there is one; return the call that failed."""
        gate, state, plan = session.gate, session.state, session.plan
        target = gate.decide(state, has_ids=bool(session.power_config_ids))
        if self._retry.waiting and plan.raised and not gate.closing:
            return self._retry.error
        if target is State.RAISED:
            if state is not State.RAISED:
                return self._cast(session, Trigger.RAISE, plan.raised, cause, phase)
            if not gate.ready and self._executor.differs(session, plan.raised):
                return self._cast(session, Trigger.REVISE, plan.raised, cause, phase)
            gate.set_ready(True)
        elif target is State.LOWERED and state is not State.LOWERED:
            return self._cast(session, Trigger.LOWER, plan.lowered, cause, phase)
        elif target is State.UNVOTED and not plan.raised:
            voted = state is not State.UNVOTED or session.power_config_ids
            failures = self._release(session, Trigger.RELEASE, cause) if voted else []
            gate.set_ready(True)
            return next(iter(failures), None)
        return None

    def _cast(
        self, session: SessionRecord, trigger: Trigger, votes: VoteSet, cause: Cause, phase: Phase | None
    ) -> VoteRejected | None:
        try:
            error = self._machine.cast(session, trigger, votes, cause, phase)
        except BaseException:
            self._retry.failed(None)
            raise
        self._recovery.after(error)
        if error is None:
            self._recovery.end_if_done()
        return error

    def _release(self, session: SessionRecord, trigger: Trigger, cause: Cause) -> list[VoteRejected]:
        if session.state is State.DESTROYED:
            return []
        try:
            failures = self._machine.release(session, trigger, cause)
        except BaseException:
            self._retry.failed(None)
            raise
        self._recovery.after(failures[-1] if failures else None)
        return failures

    def _settle_again(self, session: SessionRecord, cause: Cause) -> VoteRejected | None:
        """Settle a session if it lacks votes, and finish a closing that was interrupted; return the call that failed.

        A session that is UNVOTED may have begun an inference while the DSP was left alone.
        """
        if session.gate.closing:
            self._release(session, Trigger.DESTROY, Cause.SESSION_CLOSED)
            return None
        return self._settle(session, cause, None) if session.state in (State.UNKNOWN, State.UNVOTED) else None

    def _retry_rang(self, number: int) -> None:
        with self.lock:
            self._recovery.try_again(number)
