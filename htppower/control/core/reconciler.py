"""The reconciler of one controller: it makes the steps that put the right votes of every session in force.

``settle`` compares the state that a session should have with its present state, and makes the transitions from one to
the other. Phases, alarms, changes of profile, a lost link and retries all call ``settle``, so none of them has rules of
its own. The line is held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.core.meaning import Meaning, meaning_of
from htppower.control.core.state_machine import SessionMachine, Step, desired, next_step
from htppower.control.core.tellers import tell_degradations, tell_learnt, tell_saves
from htppower.control.gate.counts import count_begun
from htppower.errors import VoteRejected, kept, without_frames
from htppower.events import Cause, ColdStart, ProfileChanged, ReleaseFailed, State, Trigger

if TYPE_CHECKING:
    from htppower.control.core.caster import Caster
    from htppower.control.core.home import Home
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.plans import Plan
    from htppower.events import Phase
    from htppower.votes.vote_set import VoteSet

# Settling gives up after this many transitions: a session that needs more would never reach its target.
MOST_STEPS = 16
# If a call of a step fails with one of these meanings, the step is made once more at once.
_TRIED_AGAIN = (Meaning.LOST, Meaning.SUSPECT)
_LOWERING_TRIGGERS = frozenset({Trigger.LOWER, Trigger.LOWER_FURTHER})


class Reconciler:
    """Settles the sessions of a controller.

    Args:
        home: the parts that the sessions share.
        caster: makes the calls of a step.

    Attributes:
        machine: makes the transitions.
    """

    def __init__(self, home: Home, caster: Caster) -> None:
        engine = home.engine
        self._home = home
        self._registry = home.registry
        self._planner = home.planner
        self._events = home.events
        self._recovery = engine.recovery
        self._link = engine.recovery.link
        self._settings = engine.settings
        self._caster = caster
        self.machine = SessionMachine(self._cast, tell_saves)

    def settle_for(
        self, session: SessionRecord, cause: Cause, phase: Phase | None, waits: int | None
    ) -> VoteRejected | None:
        """Settle a session for a phase; if an inference has waited for a call, count and report the cold start."""
        calls = session.history.calls
        error = self.settle(session, cause, phase)
        # Settling may have made no call, for example on a dead link during the back-off. Then the inference did not
        # wait for a call.
        begins = error is None or not self._home.raises
        if waits is not None and begins and session.history.calls != calls:
            wait_us = (session.gate.time.now_ns() - waits) // 1000
            session.gate.add_cold_start(wait_us)
            self._events.tell(ColdStart, session, wait_us=wait_us)
        return error

    def settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        *,
        reason: str | None = None,
        only_if_changed: bool = False,
    ) -> VoteRejected | None:
        """Make the transitions that lead to the state that a session should have; return the failed call, or None.

        Args:
            session: the session to settle.
            cause: why the session is settled.
            phase: the phase that begins or ends, if one does.
            reason: the reason for another profile, as shown in status and events.
            only_if_changed: do nothing unless the profile has changed.
        """
        if session.gone or session.gate.closing:
            # The session is being closed, and the step that closes it also lowers it.
            return None
        if session.epoch != self._link.epoch:
            self.note_loss(session)
        changes = self._update_plan(session, cause, reason)
        raising = session.state is State.RAISED and not session.gate.open
        if only_if_changed and not changes and not raising:
            return None
        error = self._make_steps(session, cause, phase)
        if session.inits != session.gate.inits:
            self._note_inits(session)
        if session.gate.learning is not None:
            tell_learnt(session, session.gate.learning)
        if session.state is State.RAISED and self._home.heartbeat.asleep:
            self._home.heartbeat.wake()
        return error

    def cast_again(self, session: SessionRecord) -> None:
        """Repeat the votes of a session for the heartbeat, if it is still raised."""
        if session.state is not State.RAISED or not self._recovery.may_call(session):
            return
        try:
            self._caster.cast_again(session)
        except VoteRejected as error:
            self.machine.lose(session, without_frames(error), Cause.HEARTBEAT)
            self._recovery.note_failure(session)
            if meaning_of(error) in (*_TRIED_AGAIN, Meaning.BAD_ID):
                self.settle(session, Cause.LINK_LOST)

    def _cast(self, session: SessionRecord, step: Step) -> None:
        """Make the calls of a step; the state machine calls it before the state changes."""
        if step.votes is not None:
            self._caster.cast(session, step.votes, lowers=step.trigger in _LOWERING_TRIGGERS)
        elif step.trigger is Trigger.RELEASE:
            for number, error in self._caster.give_back(session):
                self._events.tell(ReleaseFailed, session, power_config_id=number, error=kept(error))

    def _make_steps(self, session: SessionRecord, cause: Cause, phase: Phase | None) -> VoteRejected | None:
        cast: VoteSet | None = None
        tried_again = False
        for _ in range(MOST_STEPS):
            plan = session.gate.plan
            step = self._next_step(session, plan, cast)
            if step is None:
                break
            if step.votes is not None and not self._recovery.may_call(session):
                self._give_up_for_now(session, cause)
                return session.error or self._link.error
            error = self.machine.make(session, step, cause, phase)
            if error is not None:
                if tried_again or meaning_of(error) not in _TRIED_AGAIN:
                    self._recovery.note_failure(session)
                    return error
                tried_again = True
                session.epoch = self._link.epoch
                continue
            cast = step.votes
            if self._is_settled(session, step):
                break
            self._update_plan(session, cause, None)
        if session in self._recovery.unknown_sessions:
            self._recovery.note_known(session)
        return None

    def _give_up_for_now(self, session: SessionRecord, cause: Cause) -> None:
        """Make the session UNKNOWN without a call; the back-off settles it later."""
        if session.state is not State.UNKNOWN:
            self.machine.lose(session, None, cause)
        if session not in self._recovery.unknown_sessions:
            self._recovery.note_unknown(session)
        self._recovery.retry_later()

    def _is_settled(self, session: SessionRecord, step: Step) -> bool:
        """Return whether the step was the last one; if the session is then raised and in use, open its gate.

        The gate of a lowered session is shut, so a phase that begins from now on waits for the line.
        """
        if session.state is State.LOWERED:
            return session.gate.plan.then is None or step.trigger is not Trigger.LOWER
        return self._has_own_plan(session) and session.gate.open_if_busy()

    def _next_step(self, session: SessionRecord, plan: Plan, cast: VoteSet | None) -> Step | None:
        """Return the next transition of a session; if there is none, open its gate or arm its alarm if needed.

        ``cast``: the votes that were just sent, and so are in force.
        """
        gate = session.gate
        use = gate.use()
        has_ids = bool(session.ledgers)
        # While a session is in use, its deadline is not looked at.
        now_us = 0 if use.busy else gate.time.now_us
        target = desired(use, plan, session.state, now_us=now_us)
        if use.closing:
            return None
        if target is State.LOWERED and not gate.shut_if_idle(use.deadline_us):
            target = State.RAISED
        differs = False
        if target is State.RAISED:
            if not use.busy and not gate.arm() and gate.shut_if_idle(use.deadline_us):
                # No alarm can be armed, so lower the session now: no later step would do so.
                target = State.LOWERED
            elif session.state is State.RAISED and not gate.open and plan.raised is not cast:
                differs = self._caster.differs(session, plan.raised)
        step = next_step(
            target,
            plan,
            session.state,
            has_ids=has_ids,
            differs=differs,
            after_deinit=use.after_deinit,
            further=plan.then is not None and session.state is target is State.LOWERED and gate.relax_further(),
        )
        if step is None and (target is State.RAISED or not plan.casts) and not gate.open:
            gate.set_open()
        return step

    def note_loss(self, session: SessionRecord) -> None:
        """Record that all votes were lost after the votes of a session were sent."""
        session.forget()
        if session.state in (State.RAISED, State.LOWERED):
            self.machine.lose(session, None, Cause.LINK_LOST)
            self._recovery.note_unknown(session)
        session.epoch = self._link.epoch

    def _update_plan(self, session: SessionRecord, cause: Cause, reason: str | None) -> bool:
        """Give a session the plan that follows from its profile, its holds, the caps and the missing options.

        Report a change of profile and new degradations. Return whether the plan has changed.
        """
        if self._has_own_plan(session) or session.gone or session.gate.closing:
            return False
        before = session.plan
        plan = self._planner.plan(session.chosen(self._registry.caps))
        if plan is before or plan == before:
            return False
        if plan.profile == before.profile:
            was_open = session.gate.open
            session.gate.use_plan(plan)
            if was_open:
                session.gate.set_open()
        else:
            tell_saves(session)
            if not plan.casts and session.state is State.RAISED and self._recovery.may_call(session):
                # The ids are destroyed next. If that fails, votes that are up would stay up, so they are lowered first.
                self.machine.make(session, Step(Trigger.LOWER, before.relaxed(after_deinit=False)), cause, None)
            session.gate.use_plan(plan, ends_sustain=True)
            session.history.skip(count_begun(session.gate))
            if reason is None and session.mode is not None:
                reason = f"mode {session.mode.reason}"
            self._events.tell(ProfileChanged, session, before=before.profile.name, cause=cause, reason=reason)
        tell_degradations(session, before.degradations)
        return True

    def _has_own_plan(self, session: SessionRecord) -> bool:
        """Return whether a session uses the plan of its own profile, since no hold, cap, pace or mode applies."""
        plan = session.gate.plan
        is_own = plan.profile is session.own and plan.missing == self._planner.missing.changes
        claimed = session.holds or self._registry.caps or session.pace or session.modes or session.decided_by
        return is_own and not claimed

    def _note_inits(self, session: SessionRecord) -> None:
        """After an INIT, put all votes of the session in doubt, so that the next raise sends all of them.

        Votes that were sent before the graph's context exists may be lost.
        """
        ended = session.gate.inits
        session.forget()
        self._settings.forget()
        session.gate.shut()
        if not session.plan.casts:
            session.gate.set_open()
        session.inits = ended
