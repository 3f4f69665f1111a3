"""The transitions of sessions as they are made: cast the votes, change the state, note it and tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.state_machine import TransitionTable
from htppower.errors import kept
from htppower.events import CallsSaved, Cause, Degraded, Recovered, ReleaseFailed, State, Transition, Trigger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.desired import Step
    from htppower.control.event_bus import EventBus
    from htppower.control.executor import Executor, Outcome
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Degradation, Phase

# Why an alarm lowers: the sustain time is over, or the lowering was left to the background.
_LOWERINGS = frozenset({Cause.SUSTAIN_EXPIRED, Cause.INFERENCE_ENDED})


class SessionTransitions:
    """Makes the transitions that the reconciler asks for. The session's turn is held.

    Args:
        registry, executor, events, time: what a destroyed session leaves, makes calls, is told, and gives the clock.
    """

    def __init__(self, registry: Registry, executor: Executor, events: EventBus, time: Time) -> None:
        self._registry = registry
        self._executor = executor
        self._events = events
        self._time = time
        self._table = TransitionTable()

    def make(self, session: SessionRecord, step: Step, cause: Cause, phase: Phase | None) -> Outcome:
        """Make the calls of a step, then change the state; where a call fails the session is lost."""
        trigger, source = step.trigger, session.state
        dest = self._table.dest(trigger, source)
        by_alarm = trigger is Trigger.LOWER and cause in _LOWERINGS and phase is None
        late_us = self._time.now_us - session.gate.deadline_us if by_alarm else None
        # Until the state says what was cast, nothing is known: an exception such as Ctrl-C may come at any time.
        session.casting = True
        outcome = self._executor.run(session, step)
        for power_config_id, error in outcome.not_given_back:
            if power_config_id is not None:
                self._events.tell(ReleaseFailed, session, power_config_id=power_config_id, error=kept(error))
        if outcome.error is not None:
            self.lose(session, outcome.error, cause, phase, trigger)
        else:
            session.state = dest
            session.error = None
            session.casting = False
            if dest is State.DESTROYED:
                with self._registry.lock:
                    self._registry.sessions.pop(session.number, None)
            self._moved(session, trigger, source, cause, phase, late_us=late_us)
        return outcome

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
        failed = None if error is None else kept(error)
        session.gate.shut()
        session.error = failed or session.error
        session.forget()
        session.state = self._table.dest(Trigger.LOSE, source)
        session.casting = False
        self._moved(session, Trigger.LOSE, source, cause, phase, error=failed, attempted=attempted)

    def tell_saves(self, session: SessionRecord) -> None:
        """Tell how many inferences have made no call since that was last told."""
        if session.plan.raised:
            begun = session.gate.begun
            inferences = begun - session.history.saves_told
            if inferences:
                calls = 2 * inferences * len(session.core_ids)
                self._events.tell(CallsSaved, session, inferences=inferences, calls=calls)
            session.history.saved(begun)

    def tell_degradations(self, session: SessionRecord, before: Iterable[Degradation]) -> None:
        """Tell what a session lacks that it did not lack before."""
        for degradation in session.plan.degradations:
            if degradation not in before:
                self._events.tell(Degraded, session, degradation=degradation)

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
            session,
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
            self._events.tell(Recovered, session, state=session.state, unknown_us=lasted_us, cause=cause)
