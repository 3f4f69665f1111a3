"""The states of a session, the table of the transitions between them, and how one is made.

A transition is a call to the hardware, and a call to the hardware is a transition. So the call is made in the
transition's ``before`` callback, where a failure leaves the old state (measured: one in ``on_enter`` or ``after``
leaves the new one).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs
import transitions

from htppower.errors import VoteRejected, kept
from htppower.events import CallsSaved, Cause, Degraded, Recovered, ReleaseFailed, State, Transition, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.event_bus import EventBus
    from htppower.control.executor import Executor
    from htppower.control.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.events import Degradation, Phase
    from htppower.votes.vote_set import VoteSet


@attrs.frozen
class Row:
    """One row of the transition table."""

    trigger: Trigger
    sources: tuple[State, ...]
    dest: State
    meaning: str


MEANINGS = {
    State.UNVOTED: "nothing is voted",
    State.RAISED: "the profile's votes are in force",
    State.LOWERED: "the power state's votes are in force",
    State.UNKNOWN: "the last call failed, or the DSP restarted: nothing is known to be in force",
    State.DESTROYED: "the power config ids are gone",
}

_LIVE = (State.UNVOTED, State.RAISED, State.LOWERED, State.UNKNOWN)

TRANSITIONS = (
    Row(Trigger.RAISE, (State.UNVOTED, State.LOWERED, State.UNKNOWN), State.RAISED, "cast the profile's votes"),
    Row(
        Trigger.REVISE,
        (State.RAISED,),
        State.RAISED,
        "cast other votes: a new profile, or votes that may be lost",
    ),
    Row(Trigger.LOWER, (State.RAISED, State.UNKNOWN), State.LOWERED, "cast the power state's votes"),
    Row(Trigger.LOSE, _LIVE, State.UNKNOWN, "a call failed, or the DSP restarted"),
    Row(Trigger.RELEASE, _LIVE, State.UNVOTED, "change to a profile without votes: destroy the ids"),
    Row(Trigger.DESTROY, _LIVE, State.DESTROYED, "give back process-wide settings, destroy the ids"),
)

# Why an alarm lowers: the sustain time is over, or the lowering was left to the background.
_LOWERINGS = frozenset({Cause.SUSTAIN_EXPIRED, Cause.INFERENCE_ENDED})


def _perform(call: Callable[[], None]) -> None:
    call()


_NAME = "htppower"


class _OwnMachineFilter(logging.Filter):
    """Leaves out what transitions logs of this machine: three INFO records each time, which an event tells better.

    The records of a host's own machines pass.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return not (isinstance(record.args, tuple) and record.args[:1] == (f"{_NAME}: ",))


def _machine() -> transitions.Machine:
    """Return the machine of the table.

    It binds nothing to a session (measured: some 4 KiB each), and takes its events by enumerator, so that a misspelt
    one fails at import.
    """
    logger = logging.getLogger("transitions.core")
    if not any(isinstance(known, _OwnMachineFilter) for known in logger.filters):
        logger.addFilter(_OwnMachineFilter())
    return transitions.Machine(
        model=None,
        states=State,
        transitions=[
            {"trigger": row.trigger.value, "source": list(row.sources), "dest": row.dest, "before": _perform}
            for row in TRANSITIONS
        ],
        initial=State.UNVOTED,
        name=_NAME,
        auto_transitions=False,
        model_attribute="state",
    )


class StateMachine:
    """Makes the transitions that the reconciler asks for: casts the votes, changes the state, notes it and tells it.

    All sessions of a controller share it. The controller's lock protects it.

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
        self._machine = _machine()

    def cast(
        self, session: SessionRecord, trigger: Trigger, votes: VoteSet, cause: Cause, phase: Phase | None
    ) -> VoteRejected | None:
        """Cast the votes, then change the state; where a call fails the session is lost. Return a call that failed."""
        source = session.state
        by_alarm = trigger is Trigger.LOWER and cause in _LOWERINGS and phase is None
        late_us = self._time.now_us - session.gate.deadline_us if by_alarm else None
        try:
            self._fire(session, trigger, lambda: self._executor.cast(session, votes))
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
        self._fire(session, Trigger.LOSE, _already_failed)
        self._moved(session, Trigger.LOSE, source, cause, phase, error=error, attempted=attempted)

    def release(self, session: SessionRecord, trigger: Trigger, cause: Cause) -> list[VoteRejected]:
        """Give back what a session has in the process's settings and destroy its ids; return the calls that failed."""
        source = session.state
        failures: list[tuple[int, VoteRejected]] = []
        try:
            self._fire(session, trigger, lambda: failures.extend(self._executor.release(session)))
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

    def _fire(self, session: SessionRecord, trigger: Trigger, call: Callable[[], None]) -> None:
        """Make the call, then change the session's ``state``; if the call raises, the state stays.

        Raises:
            transitions.MachineError: the table has no such transition from the session's state.
        """
        self._machine.events[trigger.value].trigger(session, call)

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
