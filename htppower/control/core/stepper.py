"""The steps of a session: from what is known of its votes to what it should have, one transition after the other.

Before and after them it takes in what has changed: lost links, ends of INIT, and what its profile comes to. Each of
these compares what the session knows with what is, and may be done again: so nothing is lost where an exception such as
Ctrl-C keeps it from being taken in at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.control.core.precedence import in_use
from htppower.control.core.state_machine import Step, desired, next_step
from htppower.events import Cause, ProfileChanged, State, Trigger
from htppower.votes.native_codes import LINK_LOST

if TYPE_CHECKING:
    from htppower.control.core.event_bus import EventBus
    from htppower.control.core.executor import Executor
    from htppower.control.core.heartbeat import Heartbeat
    from htppower.control.core.plans import Plan, Planner
    from htppower.control.core.process_settings import ProcessSettings
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.state_machine import SessionTransitions
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Phase
    from htppower.votes.vote_set import VoteSet

# A session that is not where it should be after so many transitions never will be.
MOST_STEPS = 16


class Settled(NamedTuple):
    """What came of settling a session.

    Attributes:
        error: the call that failed, None where none has.
        again: whether to settle it again, once the others that lost the link are: the DSP has restarted in the middle.
    """

    error: VoteRejected | None = None
    again: bool = False


_SETTLED = Settled()


@attrs.define(eq=False, repr=False)
class Stepper:
    """Makes the transitions that a session needs. Its turn is held."""

    _registry: Registry
    _settings: ProcessSettings
    _planner: Planner
    _events: EventBus
    _executor: Executor
    _transitions: SessionTransitions
    _recovery: Recovery
    _heartbeat: Heartbeat
    _time: Time

    def settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        failures: list[VoteRejected] | None = None,
        *,
        reason: str | None = None,
        only_if_changed: bool = False,
    ) -> Settled:
        """Make the transitions to what a session should have.

        Args:
            session: which.
            cause: why.
            phase: in which phase, if any.
            failures: where to note the failures of a session that is being closed.
            reason: what for another profile is used.
            only_if_changed: whether to make none unless another profile is used.
        """
        if session.gone:
            # Whoever destroyed its ids was interrupted, or this one waited for that.
            self._note_done(session)
            self._leave(session)
            return _SETTLED
        changes = self._take_in_plan(session, cause, reason)
        # Of one that was interrupted the plan may have changed before.
        raising = session.state is State.RAISED and not session.gate.open
        if only_if_changed and not changes and not raising:
            return _SETTLED
        settled = self._make_steps(session, cause, phase, [] if failures is None else failures)
        if session.inits != session.gate.inits:
            self._take_in_inits(session)
        pace = session.gate.pace
        if pace is not None:
            self._transitions.tell_learnt(session, pace)
        if session.state is State.RAISED:
            if self._heartbeat.asleep:
                self._heartbeat.wake()
        elif session.gone:
            self._leave(session)
        return settled

    def restarted(self, error: VoteRejected | None) -> bool:
        """Return whether a session is to be settled again, since the DSP has restarted in the middle of it.

        A 1011 counts as 1007 where its call began before a restart, so that the DSP is not left alone.
        """
        if error is None or error.code not in LINK_LOST:
            return False
        return not self._recovery.waiting and not self._recovery.gives_up

    def _make_steps(  # noqa: C901, PLR0911 - one loop, in which each way out is a rule of its own
        self, session: SessionRecord, cause: Cause, phase: Phase | None, failures: list[VoteRejected]
    ) -> Settled:
        error: VoteRejected | None = None
        cast: VoteSet | None = None
        for _ in range(MOST_STEPS):
            if session.casting or session.epoch != self._registry.epoch:
                self._take_in_losses(session, cause)
            plan, closing = session.gate.plan, session.gate.closing
            step = self._next_step(session, plan, cast, close_now=bool(failures))
            if step is None:
                if session.epoch == self._registry.epoch or not plan.casts:
                    self._note_done(session)
                    return Settled(error) if error is not None else _SETTLED
                # The link was lost while its gate was opened.
                session.gate.shut()
                continue
            if not self._recovery.calm and self._recovery.puts_off(cause) and not closing:
                self._recovery.lacks(session)
                return Settled(self._recovery.error if plan.casts else None)
            outcome = self._transitions.make(session, step, cause, phase)
            for _, failed in outcome.not_given_back:
                failures.append(failed)
                self._recovery.failed(None, failed)
            error = outcome.error
            if error is None:
                self._note_done(session)
                for _, failed in outcome.not_given_back:
                    if self.restarted(failed):
                        return Settled(failed, again=True)
                if self._rests(session, step):
                    return _SETTLED
                cast = step.votes
                self._take_in_plan(session, cause, None)
                continue
            if self.restarted(error):
                return Settled(error, again=True)
            if not session.gate.closing:
                self._recovery.failed(session, error)
                return Settled(error)
            failures.append(error)
        return Settled(error)

    def _leave(self, session: SessionRecord) -> None:
        """Take in that a session is gone: once its end was told, so that who closes the controller waits for that."""
        self._registry.remove(session)
        self._heartbeat.rest()

    def _note_done(self, session: SessionRecord) -> None:
        """Note that a session is where it should be, where that was in question."""
        if not self._recovery.calm:
            self._recovery.done(session)

    def _rests(self, session: SessionRecord, step: Step) -> bool:
        """Return whether no other step can follow one that was made; open the gate of one that is raised and in use.

        The gate of a lowered session is shut: whoever begins a phase meanwhile settles it in a turn of its own.
        """
        if session.state is State.LOWERED:
            pace = session.gate.pace
            waits = pace is not None and pace.further is not None and step.trigger is Trigger.LOWER
            return not (waits or session.gate.closing) and session.epoch == self._registry.epoch
        if step.votes is None:
            return session.gone
        # Who loses the link counts that first, and shuts the gates then.
        opened = self._has_own_plan(session) and session.gate.open_if_busy()
        return opened and session.epoch == self._registry.epoch

    def _next_step(self, session: SessionRecord, plan: Plan, cast: VoteSet | None, *, close_now: bool) -> Step | None:
        """Return the next transition of a session; where there is none, open its gate or arm its alarm as it needs.

        ``cast``: the votes that it has just cast, which are in force.
        """
        gate = session.gate
        use = gate.use()
        if close_now and use.closing:
            return None if session.gone else Step(Trigger.DESTROY)
        has_ids = bool(session.ledgers)
        # Of one in use no deadline is looked at.
        now_us = 0 if use.busy else self._time.now_us
        target = desired(use, plan, session.state, has_ids=has_ids, now_us=now_us)
        if target is State.LOWERED and not use.closing and not gate.shut_if_idle(use.deadline_us):
            target = State.RAISED
        differs = False
        if target is State.RAISED:
            if not use.busy and not gate.arm() and gate.shut_if_idle(use.deadline_us):
                # Nobody would lower it later.
                target = State.LOWERED
            elif session.state is State.RAISED and not gate.open and plan.raised is not cast:
                differs = self._executor.differs(session, plan.raised)
        step = next_step(
            target,
            plan,
            session.state,
            has_ids=has_ids,
            differs=differs,
            after_deinit=use.after_deinit,
            further=gate.pace is not None and session.state is target is State.LOWERED and gate.relax_further(),
        )
        if step is None and (target is State.RAISED or not plan.casts) and not gate.open:
            gate.set_open()
        return step

    def _take_in_losses(self, session: SessionRecord, cause: Cause) -> None:
        """Take in that the link was lost since a session was cast, or that a call of its was interrupted."""
        # Read once: it may be lost again at any time.
        epoch = self._registry.epoch
        lost = session.epoch != epoch
        if lost:
            session.doubted = frozenset(session.ledgers)
            session.forget()
        if session.casting:
            # Such as an id that could not be destroyed.
            self._recovery.lacks(None)
        if session.casting or (lost and session.state in (State.RAISED, State.LOWERED)):
            self._transitions.lose(session, None, Cause.LINK_LOST if lost else cause)
        session.casting = False
        session.epoch = epoch

    def _take_in_plan(self, session: SessionRecord, cause: Cause, reason: str | None) -> bool:
        """Let a session cast what its profile, its holds, the caps and the platform come to; return whether it changes.

        Its profile, in the place of its own, is told; what the library has refused as not on this platform is left out.
        """
        if self._has_own_plan(session) or session.gone or session.gate.closing:
            return False
        before = session.plan
        with self._registry.lock:
            chosen, session.decided_by = in_use(session.own, session.holds, self._registry.caps)
            plan = self._planner.plan(chosen)
        if (plan is before or plan == before) and not session.gate.following:
            return False
        if plan.profile == before.profile:
            was_open = session.gate.open
            session.gate.follow(plan)
            if was_open:
                session.gate.set_open()
        else:
            self._transitions.tell_saves(session)
            session.gate.follow(plan, ends_sustain=True)
            session.history.skip(session.gate.begun)
            self._events.tell(ProfileChanged, session, before=before.profile.name, cause=cause, reason=reason)
        self._transitions.tell_degradations(session, before.degradations)
        return True

    def _has_own_plan(self, session: SessionRecord) -> bool:
        """Return whether a session's plan is that of its own profile, of which nothing takes the place."""
        gate, plan = session.gate, session.gate.plan
        is_own = plan.profile is session.own and plan.missing == len(self._planner.missing) and not gate.following
        return is_own and not (session.holds or self._registry.caps or session.decided_by)

    def _take_in_inits(self, session: SessionRecord) -> None:
        """Know no longer what is in force once an INIT has ended, so that the next raise sends everything.

        Votes cast before a graph's context exists may be lost.
        """
        ended = session.gate.inits
        session.forget()
        self._settings.forget()
        session.gate.shut()
        if not session.plan.casts:
            session.gate.set_open()
        session.inits = ended
