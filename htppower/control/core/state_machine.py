"""The state machine of a session: its table, what it should be in, the next transition to that, and how one is made.

A transition makes the calls that it needs before the state changes, so that a failure leaves no wrong state behind;
only ``lose`` makes none. ``desired`` and ``next_step`` are functions of values, without lock, clock or call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import transitions

from htppower.control.core.sustain_timer import NO_DEADLINE
from htppower.errors import kept
from htppower.events import (
    CallsSaved,
    Cause,
    Degraded,
    Recovered,
    ReleaseFailed,
    State,
    SustainLearned,
    Transition,
    Trigger,
)
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.core.event_bus import EventBus
    from htppower.control.core.executor import Executor, Outcome
    from htppower.control.core.plans import Plan
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.tokens import Use
    from htppower.control.learning.pace import Pace
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Degradation, Phase
    from htppower.votes.vote_set import VoteSet

# Whoever makes these goes on only when the settings of the process are in force, too.
_IN_TIME = frozenset({Trigger.RAISE, Trigger.REVISE})
# Why an alarm lowers: the sustain time is over, or the lowering was left to the background.
_LOWERINGS = frozenset({Cause.SUSTAIN_EXPIRED, Cause.INFERENCE_ENDED, Cause.EXPECTED_IN_VAIN})


@attrs.frozen
class Row:
    """One row of the transition table."""

    trigger: Trigger
    sources: tuple[State, ...]
    dest: State
    meaning: str

    __repr__ = field_repr


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
    Row(
        Trigger.LOWER_FURTHER,
        (State.LOWERED,),
        State.LOWERED,
        "cast the votes of the second power state",
    ),
    Row(Trigger.LOSE, _LIVE, State.UNKNOWN, "a call failed, or the DSP restarted"),
    Row(Trigger.RELEASE, _LIVE, State.UNVOTED, "change to a profile without votes: destroy the ids"),
    Row(Trigger.DESTROY, _LIVE, State.DESTROYED, "give back process-wide settings, destroy the ids"),
)


class TransitionTable:
    """The table as a machine of ``transitions``, which all sessions share.

    It is asked for the way and not fired: a machine that is fired swallows an exception such as Ctrl-C that comes in
    its last step (measured), and takes as long as several native calls (8 us).
    """

    def __init__(self) -> None:
        machine = transitions.Machine(
            model=None,
            states=State,
            transitions=[
                {"trigger": row.trigger.value, "source": list(row.sources), "dest": row.dest} for row in TRANSITIONS
            ],
            initial=State.UNVOTED,
            auto_transitions=False,
        )
        self._dests = {
            (trigger, State[str(source)]): State[str(way.dest)]
            for trigger in Trigger
            for source, ways in machine.events[trigger.value].transitions.items()
            for way in ways
        }

    def dest(self, trigger: Trigger, source: State) -> State:
        """Return the state in which a transition ends.

        Raises:
            transitions.MachineError: the table has no such transition from that state.
        """
        dest = self._dests.get((trigger, source))
        if dest is None:
            raise transitions.MachineError(f"no transition {trigger} from {source}")
        return dest


class Step(NamedTuple):
    """A transition to be made.

    Attributes:
        trigger: which.
        votes: what it casts; None for one that gives the ids back.
    """

    trigger: Trigger
    votes: VoteSet | None = None


def desired(use: Use, plan: Plan, state: State, *, has_ids: bool, now_us: int) -> State:
    """Return the state that a session should be in; ``now_us`` is on the clock of the deadline of its use."""
    if state is State.DESTROYED:
        return state
    if use.closing:
        return State.LOWERED if state in (State.RAISED, State.UNKNOWN) and has_ids else State.DESTROYED
    if not plan.casts:
        return State.UNVOTED
    # An alarm that rings at its deadline must lower: <, and not <=.
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
    """Return the transition that brings a session nearer to its target, None where it is there.

    ``differs``: whether the raised votes are not known to be in force; ``after_deinit``: whether a DE-INIT was the last
    phase to end; ``further``: whether relaxed votes are to relax further now.
    """
    if target is State.RAISED:
        if state is State.RAISED:
            return Step(Trigger.REVISE, plan.raised) if differs else None
        return Step(Trigger.RAISE, plan.raised)
    if target is State.LOWERED:
        votes = plan.after_deinit if after_deinit else plan.lowered
        if state in (State.LOWERED, State.UNVOTED):
            return Step(Trigger.LOWER_FURTHER, plan.then) if further else None
        return Step(Trigger.LOWER, votes)
    if target is State.UNVOTED:
        given_back = state is State.UNVOTED and not has_ids
        return None if plan.casts or given_back else Step(Trigger.RELEASE)
    return None if state is State.DESTROYED else Step(Trigger.DESTROY)


@attrs.define(eq=False, repr=False)
class SessionTransitions:
    """Makes transitions. The session's turn is held."""

    _registry: Registry
    _executor: Executor
    _events: EventBus
    _time: Time
    _table: TransitionTable = attrs.field(init=False, factory=TransitionTable)

    def make(self, session: SessionRecord, step: Step, cause: Cause, phase: Phase | None) -> Outcome:
        """Make the calls of a step, then change the state; where a call fails the session is lost."""
        trigger, source = step.trigger, session.state
        dest = self._table.dest(trigger, source)
        by_alarm = trigger is Trigger.LOWER and cause in _LOWERINGS and phase is None
        deadline_us = session.gate.sustain.deadline_us if by_alarm else NO_DEADLINE
        # A change of profile, a hold or a cap that ends the sustain meanwhile leaves no deadline to be late for, and so
        # does closing.
        is_due = deadline_us != NO_DEADLINE and not session.gate.closing
        late_us = self._time.now_us - deadline_us if is_due else None
        # Until the state says what was cast, nothing is known: an exception such as Ctrl-C may come at any time.
        session.casting = True
        outcome = self._executor.run(session, step.votes, in_time=trigger in _IN_TIME)
        for power_config_id, error in outcome.not_given_back:
            if power_config_id is not None:
                self._events.tell(ReleaseFailed, session, power_config_id=power_config_id, error=kept(error))
        if outcome.error is not None:
            self.lose(session, outcome.error, cause, phase, trigger)
        else:
            if dest is State.DESTROYED and self._registry.learnt is not None:
                # First: one that is destroyed makes no transition again.
                self._registry.learnt.keep(session)
            session.state = dest
            session.error = None
            session.casting = False
            session.gate.moved(trigger)
            self._moved(session, source, cause, trigger=trigger, phase=phase, late_us=late_us)
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
        self._moved(session, source, cause, trigger=Trigger.LOSE, phase=phase, error=failed, attempted=attempted)

    def tell_saves(self, session: SessionRecord) -> None:
        """Tell how many inferences have made no call since that was last told."""
        if session.gate.plan.casts:
            begun = session.gate.begun
            inferences = begun - session.history.saves.told
            # Fewer than none where one was counted that had begun, and was about to wait: the next make up for it.
            if inferences > 0:
                calls = 2 * inferences * len(session.core_ids)
                self._events.tell(CallsSaved, session, inferences=inferences, calls=calls)
                session.history.saved(begun)

    def tell_learnt(self, session: SessionRecord, pace: Pace) -> None:
        """Tell that a session has learnt another sustain time, or time to relax further, since that was last told."""
        for learns, further in ((pace.watch, False), (pace.further, True)):
            if learns is None or learns.told_us == learns.learnt_us:
                continue
            with session.gate.lock:
                learner, after_us = learns.learner, learns.learnt_us
                before_us, learns.told_us = learns.told_us, after_us
                learnt = None if learner is None else learner.savings()
            if learnt is None or before_us is None or after_us is None:
                continue
            self._events.tell(
                SustainLearned,
                session,
                before_us=before_us,
                after_us=after_us,
                gaps=learnt.gaps,
                raised_us=learnt.raised_us,
                cold_starts=learnt.cold_starts,
                further=further,
            )

    def tell_degradations(self, session: SessionRecord, before: Iterable[Degradation]) -> None:
        """Tell what a session lacks that it did not lack before."""
        for degradation in session.plan.degradations:
            if degradation not in before:
                self._events.tell(Degraded, session, degradation=degradation)

    def _moved(self, session: SessionRecord, source: State, cause: Cause, **told: Any) -> None:
        """Note and tell that a session has changed its state; ``told`` is what else the event says."""
        if session.state is not State.RAISED:
            self.tell_saves(session)
        lasted_us = session.history.moved(source, session.state, self._time.now_us, cause)
        told |= {"source": source, "dest": session.state, "cause": cause, "lasted_us": lasted_us}
        self._events.tell(Transition, session, **told)
        if source is State.UNKNOWN and session.state in (State.RAISED, State.LOWERED):
            self._events.tell(Recovered, session, state=session.state, unknown_us=lasted_us, cause=cause)
