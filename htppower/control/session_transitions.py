"""The transitions of sessions as they are made: cast the votes, change the state, note it and tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.state_machine import SessionMachine
from htppower.errors import VoteRejected, kept
from htppower.events import CallsSaved, Cause, Degraded, Recovered, ReleaseFailed, State, Transition, Trigger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.event_bus import EventBus
    from htppower.control.executor import Executor
    from htppower.control.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.events import Degradation, Phase
    from htppower.votes.vote_set import VoteSet

# Why an alarm lowers: the sustain time is over, or the lowering was left to the background.
_LOWERINGS = frozenset({Cause.SUSTAIN_EXPIRED, Cause.INFERENCE_ENDED})


class SessionTransitions:
    """Makes the transitions that the reconciler asks for. The controller's lock protects it.

    Args:
        executor, events, time: makes the calls, is told, and gives the clock.

    Attributes:
        sessions: the open sessions by number; one leaves it when it is destroyed.
    """

    def __init__(self, executor: Executor, events: EventBus, time: Time) -> None:
        self.sessions: dict[int, SessionRecord] = {}
        self._executor = executor
        self._events = events
        self._time = time
        self._machine = SessionMachine()

    def cast(
        self, session: SessionRecord, trigger: Trigger, votes: VoteSet, cause: Cause, phase: Phase | None
    ) -> VoteRejected | None:
        """Cast the votes, then change the state; where a call fails the session is lost. Return a call that failed."""
        source = session.state
        by_alarm = trigger is Trigger.LOWER and cause in _LOWERINGS and phase is None
        late_us = self._time.now_us - session.gate.deadline_us if by_alarm else None
        try:
            self._machine.fire(session, trigger, lambda: self._executor.cast(session, votes))
        except VoteRejected as error:
            self.lose(session, kept(error), cause, phase, trigger)
            return error
        except BaseException:
            # Ctrl-C, most of all: whether the call was made is not known.
            self.lose(session, None, cause, phase, trigger)
            raise
        session.error = None
        session.gate.set_ready(trigger is not Trigger.LOWER)
        self._moved(session, trigger, source, cause, phase, late_us=late_us)
        return None

    def lose(
        self,
        session: SessionRecord,
        error: VoteRejected | None,
        cause: Cause,
        phase: Phase | None = None,
        attempted: Trigger | None = None,
    ) -> None:
        """Take in that nothing is known of a session's votes any more."""
        source = session.state
        session.error = error or session.error
        session.gate.set_ready(False)
        self._executor.forget(session)
        self._machine.fire(session, Trigger.LOSE, _already_failed)
        self._moved(session, Trigger.LOSE, source, cause, phase, error=error, attempted=attempted)

    def release(self, session: SessionRecord, trigger: Trigger, cause: Cause) -> list[VoteRejected]:
        """Give back what a session has in the process's settings and destroy its ids; return the calls that failed."""
        source = session.state
        failures: list[tuple[int, VoteRejected]] = []
        try:
            self._machine.fire(session, trigger, lambda: failures.extend(self._executor.release(session)))
        except BaseException:
            if source is not State.UNVOTED:
                self.lose(session, None, cause, None, trigger)
            raise
        if session.state is State.DESTROYED:
            self.sessions.pop(session.number, None)
        for power_config_id, error in failures:
            self._events.tell(ReleaseFailed, session.identity, power_config_id=power_config_id, error=error)
        self._moved(session, trigger, source, cause, None)
        return [error for _, error in failures]

    def tell_saves(self, session: SessionRecord) -> None:
        """Tell how many inferences have made no call since that was last told."""
        if session.plan.raised:
            inferences = session.gate.begun - session.history.saves_told
            if inferences:
                calls = 2 * inferences * len(session.core_ids)
                self._events.tell(CallsSaved, session.identity, inferences=inferences, calls=calls)
            session.history.saved(session.gate.begun)

    def tell_degradations(self, session: SessionRecord, before: Iterable[Degradation]) -> None:
        """Tell what a session lacks that it did not lack before."""
        for degradation in session.plan.degradations:
            if degradation not in before:
                self._events.tell(Degraded, session.identity, degradation=degradation)

    def _moved(
        self,
        session: SessionRecord,
        trigger: Trigger,
        source: State,
        cause: Cause,
        phase: Phase | None,
        *,
        error: VoteRejected | None = None,
        attempted: Trigger | None = None,
        late_us: int | None = None,
    ) -> None:
        """Note and tell that a session has changed its state."""
        if session.state is not State.RAISED:
            self.tell_saves(session)
        lasted_us = session.history.moved(source, session.state, self._time.now_us, cause)
        self._events.tell(
            Transition,
            session.identity,
            trigger=trigger,
            source=source,
            dest=session.state,
            cause=cause,
            phase=phase,
            error=error,
            attempted=attempted,
            lasted_us=lasted_us,
            late_us=late_us,
        )
        if source is State.UNKNOWN and session.state in (State.RAISED, State.LOWERED):
            self._events.tell(Recovered, session.identity, state=session.state, unknown_us=lasted_us, cause=cause)


def _already_failed() -> None:
    """The call of a transition whose native call has failed already."""
