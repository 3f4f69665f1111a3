"""The keeper: it keeps what is in force in line with what every session should have.

``settle`` is the one place where states change. It compares what a session should have with its state, and fires the
transition between them. Phases that begin and end, timers, changes of profile, a restart of the DSP and retries all
come here, so that none of them needs rules of its own.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from htppower.control.recovery import Restorer
from htppower.control.state_machine import SessionMachine
from htppower.errors import SessionClosed, VoteRejected, kept
from htppower.events import Cause, Phase, ProfileChanged, Recovered, ReleaseFailed, SessionOpened, State, Trigger
from htppower.votes.native_codes import LINK_LOST, TRANSPORT

if TYPE_CHECKING:
    from htppower.control.event_bus import Journal
    from htppower.control.executor import Caster
    from htppower.control.gate import Usage
    from htppower.control.plans import Plan, Planner
    from htppower.control.time.base import Time
    from htppower.votes.vote_set import VoteSet

# Why an alarm lowers: the sustain time is over, or the lowering was left to the background.
_LOWERINGS = frozenset({Cause.SUSTAIN_EXPIRED, Cause.INFERENCE_ENDED})
_BEGINNINGS = frozenset({Cause.INIT_BEGAN, Cause.INFERENCE_BEGAN, Cause.DEINIT_BEGAN, Cause.PROFILE_CHANGED})
# The DSP is out of reach, not the id: a session opens nevertheless, and its ids are created later.
_DSP_OUT_OF_REACH = LINK_LOST | {TRANSPORT}


class Keeper(Restorer):
    """The sessions of a controller, and the lock under which their states change.

    Args:
        caster, planner, journal, time: make the calls, say what a profile casts, are told, and give clock and alarms.
        raises: whether a failed vote raises where a phase begins or ends.
    """

    def __init__(self, caster: Caster, planner: Planner, journal: Journal, time: Time, *, raises: bool) -> None:
        super().__init__(caster, time)
        self._time = time
        # Phases that begin on a closed session are let pass: the process is ending, or is a forked child.
        self.ending = False
        self._planner = planner
        self._journal = journal
        self._machine = SessionMachine()
        self._raises = raises
        self._known_missing = 0

    def open(self, session: Usage) -> None:
        """Create a session's ids and take it in.

        Raises:
            VoteRejected: an id can't be created although the DSP is in reach.
        """
        error = self._backoff.error if self._backoff.waiting else None
        if session.plan.raised and error is None:
            try:
                self._caster.create_ids(session)
            except VoteRejected as rejected:
                if rejected.code not in _DSP_OUT_OF_REACH:
                    self._caster.release(session)
                    self._recover(None)
                    raise
                error = kept(rejected)
            except BaseException:
                self._caster.release(session)
                raise
        self.sessions[session.number] = session
        self._journal.tell(SessionOpened, session, power_config_ids=tuple(session.power_config_ids.values()))
        self._journal.degradations(session, ())
        session.set_ready(not session.plan.raised)
        if error is not None and session.plan.raised:
            self._lose(session, error, Cause.SESSION_OPENED, None)
            self._recover(error)

    def settle(
        self, session: Usage, cause: Cause, phase: Phase | None = None, *, quiet: bool = False, doubt: bool = False
    ) -> None:
        """Bring what is in force in line with what a session should have.

        With ``doubt``, what its votes are known to be is forgotten then: votes cast before a graph's context exists may
        be lost.

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
                    self._caster.doubt(session)
                    session.set_ready(not session.plan.raised)
        self.raise_failure(session, error, quiet=quiet)

    def require_open(self, session: Usage) -> None:
        """Refuse a session that is closed.

        Raises:
            SessionClosed: it is, and the process is not being ended.
        """
        with self.lock:
            self._is_gone(session, Cause.PROFILE_CHANGED, quiet=False)

    def use(self, session: Usage, plan: Plan, cause: Cause, reason: str | None) -> VoteRejected | None:
        """Let a session use another profile: at once if votes are raised, otherwise at the next raise.

        Return the call that failed.
        """
        with self.lock:
            if self._is_gone(session, cause, quiet=True) or plan == session.plan:
                return None
            before = session.plan
            self._tell_saves(session)
            session.plan = plan
            session.record.saves_told = session.begun
            session.end_sustain()
            self._journal.tell(ProfileChanged, session, before=before.profile.name, cause=cause, reason=reason)
            self._journal.degradations(session, before.degradations)
            return self._settle(session, cause, None)

    def raise_failure(self, session: Usage, error: VoteRejected | None, *, quiet: bool = False) -> None:
        """Raise what a call failed with, where the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        missing = session.state in (State.UNKNOWN, State.UNVOTED)
        if error is not None and missing and self._raises and not quiet:
            raise error.again()

    def close(self, session: Usage) -> list[VoteRejected]:
        """Stop the timer, lower, give back, destroy: each step, even if the one before failed. Return the failures."""
        with self.lock:
            if session.number not in self.sessions:
                return []
            session.shut()
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
        self._settle_process()
        self._caster.destroy_orphans()
        self._backoff.close()
        return not self.sessions and not self._caster.orphans

    def disown(self) -> None:
        """In a forked child: the ids are the parent's, and nothing is cast here."""
        self.lock = threading.RLock()
        self.ending = True
        self._backoff.disown()
        for session in self.sessions.values():
            session.disown()
        self.sessions = {}

    def _is_gone(self, session: Usage, cause: Cause, *, quiet: bool) -> bool:
        if session.state is not State.DESTROYED:
            return False
        if cause in _BEGINNINGS and not quiet and not self.ending:
            raise SessionClosed(f"{session!r} is closed: open a new session")
        return True

    def _settle(self, session: Usage, cause: Cause, phase: Phase | None) -> VoteRejected | None:
        """Fire the transition to what a session should have, if there is one; return the call that failed."""
        target, state, plan = session.decide(), session.state, session.plan
        if self._backoff.waiting and plan.raised and not session.closing:
            return self._backoff.error
        if target is State.RAISED:
            if state is not State.RAISED:
                return self._transit(session, Trigger.RAISE, plan.raised, cause, phase)
            if not session.ready and self._caster.differs(session, plan.raised):
                return self._transit(session, Trigger.REVISE, plan.raised, cause, phase)
            session.set_ready(True)
        elif target is State.LOWERED and state is not State.LOWERED:
            return self._transit(session, Trigger.LOWER, plan.lowered, cause, phase)
        elif target is State.UNVOTED and not plan.raised:
            voted = state is not State.UNVOTED or session.power_config_ids
            failures = self._release(session, Trigger.RELEASE, cause) if voted else []
            session.set_ready(True)
            return next(iter(failures), None)
        return None

    def _transit(
        self, session: Usage, trigger: Trigger, votes: VoteSet, cause: Cause, phase: Phase | None
    ) -> VoteRejected | None:
        """Cast the votes, then change the state; return the call that failed."""
        source = session.state
        by_alarm = trigger is Trigger.LOWER and cause in _LOWERINGS and phase is None
        late_us = self._time.now_us - session.deadline_us if by_alarm else None
        try:
            self._machine.fire(session, trigger, lambda: self._caster.cast(session, votes))
        except VoteRejected as error:
            self._lose(session, kept(error), cause, phase, trigger)
            self._recover(error)
            return error
        except BaseException:
            # Ctrl-C, most of all: whether the call was made is not known. It is passed on, and the votes seen to later.
            self._lose(session, None, cause, phase, trigger)
            self._backoff.failed(None)
            raise
        session.error = None
        session.set_ready(trigger is not Trigger.LOWER)
        self._moved(session, trigger, source, cause, phase, late_us=late_us)
        self._recover(None)
        if self._backoff.pending and not self._restoring and not self._is_lacking():
            self._backoff.recovered()
        return None

    def _lose(
        self,
        session: Usage,
        error: VoteRejected | None,
        cause: Cause,
        phase: Phase | None,
        attempted: Trigger | None = None,
    ) -> None:
        """Take in that nothing is known of a session's votes any more."""
        source = session.state
        session.error = error or session.error
        session.set_ready(False)
        self._caster.forget(session)
        self._machine.fire(session, Trigger.LOSE, _already_failed)
        self._moved(session, Trigger.LOSE, source, cause, phase, error=error, attempted=attempted)

    def _moved(
        self, session: Usage, trigger: Trigger, source: State, cause: Cause, phase: Phase | None, **details: Any
    ) -> None:
        """Note and tell that a session has changed its state; the details are those of the journal's transition."""
        if session.state is not State.RAISED:
            self._tell_saves(session)
        lasted_us = session.record.moved(source, session.state, self._time.now_us, cause)
        self._journal.transition(session, trigger, source, cause, phase, lasted_us=lasted_us, **details)
        if source is State.UNKNOWN and session.state in (State.RAISED, State.LOWERED):
            self._journal.tell(Recovered, session, state=session.state, unknown_us=lasted_us, cause=cause)

    def _tell_saves(self, session: Usage) -> None:
        """Tell how many inferences have made no call since that was last told."""
        if session.plan.raised:
            self._journal.saved(session, session.begun - session.record.saves_told)
            session.record.saved(session.begun)

    def _release(self, session: Usage, trigger: Trigger, cause: Cause) -> list[VoteRejected]:
        source = session.state
        if source is State.DESTROYED:
            return []
        failures: list[tuple[int, VoteRejected]] = []
        try:
            self._machine.fire(session, trigger, lambda: failures.extend(self._caster.release(session)))
        except BaseException:
            if source is not State.UNVOTED:
                self._lose(session, None, cause, None, trigger)
            self._backoff.failed(None)
            raise
        if session.state is State.DESTROYED:
            self.sessions.pop(session.number, None)
        for power_config_id, error in failures:
            self._journal.tell(ReleaseFailed, session, power_config_id=power_config_id, error=error)
        self._moved(session, trigger, source, cause, None)
        self._recover(failures[-1][1] if failures else None)
        return [error for _, error in failures]

    def _finish(self, session: Usage) -> None:
        self._release(session, Trigger.DESTROY, Cause.SESSION_CLOSED)

    def _replan(self) -> None:
        if len(self._planner.missing) == self._known_missing:
            return
        self._known_missing = len(self._planner.missing)
        for session in tuple(self.sessions.values()):
            before, ready = session.plan.degradations, session.ready
            session.plan = self._planner.plan(session.plan.profile)
            session.set_ready(ready)
            self._journal.degradations(session, before)


def _already_failed() -> None:
    """The call of a transition whose native call has failed already."""
