"""The state machine of a session: its table, the state that it should have, and the next transition to that state.

All sessions share one machine of ``transitions``. The calls of a transition are made in ``before``, so after a failed
call the state is unchanged; ``lose`` makes no call. ``desired`` and ``next_step`` are pure functions: they take no
lock, read no clock and make no call.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import attrs
import transitions

from htppower.control.gate.sustain_timer import NO_DEADLINE
from htppower.errors import VoteRejected, kept, without_frames
from htppower.events import Cause, Recovered, State, Transition, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.gate.tokens import Use
    from htppower.control.plans.plans import Plan
    from htppower.events import Phase
    from htppower.votes.vote_set import VoteSet

# ``transitions`` writes six INFO records for each step, which are dropped. The records of other machines are the
# host's, and stay.
_NAME = "htppower"
logging.getLogger("transitions.core").addFilter(lambda record: not _is_ours(record))
# The causes of a lowering by an alarm: the sustain time is over, or the lowering runs in the background.
_ALARM_CAUSES = frozenset({Cause.SUSTAIN_EXPIRED, Cause.INFERENCE_ENDED, Cause.EXPECTED_IN_VAIN})


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
    Row(Trigger.RAISE, (State.UNVOTED, State.LOWERED, State.UNKNOWN), State.RAISED, "send the profile's votes"),
    Row(
        Trigger.REVISE,
        (State.RAISED,),
        State.RAISED,
        "send other votes: a new profile, or votes that may be lost",
    ),
    Row(Trigger.LOWER, (State.RAISED, State.UNKNOWN), State.LOWERED, "send the power state's votes"),
    Row(
        Trigger.LOWER_FURTHER,
        (State.LOWERED,),
        State.LOWERED,
        "send the votes of the second power state",
    ),
    Row(Trigger.LOSE, _LIVE, State.UNKNOWN, "a call failed, or the DSP restarted"),
    Row(Trigger.RELEASE, _LIVE, State.UNVOTED, "change to a profile without votes: destroy the ids"),
    Row(Trigger.DESTROY, _LIVE, State.DESTROYED, "send the settings without the session's wishes, destroy the ids"),
)


@attrs.frozen
class Step:
    """A transition to be made.

    Attributes:
        trigger: the trigger.
        votes: the votes to cast; None for a transition that destroys the ids.
    """

    trigger: Trigger
    votes: VoteSet | None = None


def desired(use: Use, plan: Plan, state: State, *, now_us: int) -> State:
    """Return the state that a session should have; ``now_us`` and the deadline of the use are on the same clock.

    A session that is being closed stays as it is, since another step, the close, lowers it.
    """
    if state is State.DESTROYED or use.closing:
        return state
    if not plan.casts:
        return State.UNVOTED
    # An alarm that rings exactly at the deadline must lower the votes, so this is < and not <=.
    if use.busy or (now_us < use.deadline_us and (use.expected or state in (State.RAISED, State.UNKNOWN))):
        return State.RAISED
    return state if state is State.UNVOTED else State.LOWERED


def next_step(
    target: State,
    plan: Plan,
    state: State,
    *,
    has_ids: bool,
    differs: bool,
    after_deinit: bool = False,
    further: bool = False,
) -> Step | None:
    """Return the next transition on the way to the target state; None if the session is there.

    ``differs``: whether some vote of the raised profile is not known to be in force; ``after_deinit``: whether the
    phase that ended last was a DE-INIT; ``further``: whether lowered votes are due to relax to the second power state.
    """
    if target is State.RAISED:
        if state is State.RAISED:
            return Step(Trigger.REVISE, plan.raised) if differs else None
        return Step(Trigger.RAISE, plan.raised)
    if target is State.LOWERED:
        if state in (State.LOWERED, State.UNVOTED):
            return Step(Trigger.LOWER_FURTHER, plan.then) if further else None
        return Step(Trigger.LOWER, plan.relaxed(after_deinit=after_deinit))
    if target is State.UNVOTED:
        given_back = state is State.UNVOTED and not has_ids
        return None if plan.casts or given_back else Step(Trigger.RELEASE)
    return None


def _is_ours(record: logging.LogRecord) -> bool:
    return isinstance(record.args, tuple) and f"{_NAME}: " in record.args


class SessionMachine:
    """Makes the transitions of sessions. The line is held.

    Args:
        cast: makes the calls of a step for a session; raises ``VoteRejected`` if one fails.
        tell_saves: reports the inferences without a call; called before a transition of a session that is not raised.
    """

    def __init__(
        self,
        cast: Callable[[SessionRecord, Step], None],
        tell_saves: Callable[[SessionRecord], None],
    ) -> None:
        self._tell_saves = tell_saves

        def before(fired: Any) -> None:
            if fired.args:
                cast(fired.model, *fired.args)

        machine = transitions.Machine(
            model=None,
            name=_NAME,
            states=State,
            transitions=[
                {"trigger": row.trigger.name, "source": list(row.sources), "dest": row.dest, "before": before}
                for row in TRANSITIONS
            ],
            initial=State.UNVOTED,
            auto_transitions=False,
            send_event=True,
        )
        self._events = machine.events

    def make(self, session: SessionRecord, step: Step, cause: Cause, phase: Phase | None) -> VoteRejected | None:
        """Make a step; if a call fails, the session becomes UNKNOWN. Return the call that failed."""
        trigger, source, gate = step.trigger, session.state, session.gate
        by_alarm = trigger is Trigger.LOWER and cause in _ALARM_CAUSES and phase is None
        deadline_us = gate.sustain.deadline_us if by_alarm else NO_DEADLINE
        # The lowering can't be late if no sustain time was running: after a change of profile, a hold, a cap or a
        # close.
        is_due = deadline_us != NO_DEADLINE and not gate.closing
        late_us = gate.time.now_us - deadline_us if is_due else None
        try:
            self._events[trigger.name].trigger(session, step)
        except VoteRejected as error:
            failed = without_frames(error)
            # ``transitions`` keeps the error in an object, and its traceback refers to that object. This cycle would
            # keep the inputs of the inference alive.
            error.__traceback__ = None
            self.lose(session, failed, cause, phase, trigger)
            return failed
        session.error = None
        gate.moved(trigger)
        self._moved(session, source, cause, trigger=trigger, phase=phase, late_us=late_us)
        return None

    def lose(
        self,
        session: SessionRecord,
        error: VoteRejected | None,
        cause: Cause,
        phase: Phase | None = None,
        attempted: Trigger | None = None,
    ) -> None:
        """Make a session UNKNOWN: no vote is known to be in force."""
        source = session.state
        failed = None if error is None else kept(error)
        session.gate.shut()
        session.error = failed or session.error
        session.forget()
        self._events[Trigger.LOSE.name].trigger(session)
        self._moved(session, source, cause, trigger=Trigger.LOSE, phase=phase, error=failed, attempted=attempted)

    def _moved(self, session: SessionRecord, source: State, cause: Cause, **told: Any) -> None:
        """Record and report a transition; ``told`` has the other fields of its event."""
        if session.state is not State.RAISED:
            self._tell_saves(session)
        lasted_us = session.history.moved(source, session.state, session.gate.time.now_us, cause)
        told |= {"source": source, "dest": session.state, "cause": cause, "lasted_us": lasted_us}
        events = session.home.events
        events.tell(Transition, session, **told)
        if source is State.UNKNOWN and session.state in (State.RAISED, State.LOWERED):
            events.tell(Recovered, session, state=session.state, unknown_us=lasted_us, cause=cause)
