"""The steps of a session: from what is known of its votes to what it should have, one transition after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.desired import Step, desired, next_step
from htppower.events import State, Trigger
from htppower.votes.native_codes import LINK_LOST

if TYPE_CHECKING:
    from htppower.control.executor import Executor
    from htppower.control.heartbeat import Heartbeat
    from htppower.control.plans import Plan
    from htppower.control.recovery import Recovery
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord
    from htppower.control.session_transitions import SessionTransitions
    from htppower.control.session_updates import SessionUpdates
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Cause, Phase
    from htppower.votes.vote_set import VoteSet

# A session that is not where it should be after so many transitions never will be.
MOST_STEPS = 16


class Stepper:
    """Makes the transitions that a session needs. Its turn is held.

    Args:
        registry, executor, transitions, updates, recovery, heartbeat, time: has the epoch, says what differs, makes
            transitions, takes in what has changed, hears of failures, looks after what is raised, and gives the clock.
    """

    def __init__(
        self,
        registry: Registry,
        executor: Executor,
        transitions: SessionTransitions,
        updates: SessionUpdates,
        recovery: Recovery,
        heartbeat: Heartbeat,
        time: Time,
    ) -> None:
        self._registry = registry
        self._executor = executor
        self._transitions = transitions
        self._updates = updates
        self._recovery = recovery
        self._heartbeat = heartbeat
        self._time = time

    def settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        failures: list[VoteRejected] | None = None,
        *,
        reason: str | None = None,
        only_if_changed: bool = False,
    ) -> VoteRejected | None:
        """Make the transitions to what a session should have; return the call that failed.

        Args:
            session: which.
            cause: why.
            phase: in which phase, if any.
            failures: where to note the failures of a session that is being closed.
            reason: what for another profile is used.
            only_if_changed: whether to make none unless another profile is used.
        """
        changes = self._updates.take_in_plan(session, cause, reason)
        # Of one that was interrupted the plan may have changed before.
        raising = session.state is State.RAISED and not session.gate.open
        if only_if_changed and not changes and not raising:
            return None
        error = self._make_steps(session, cause, phase, [] if failures is None else failures)
        if session.inits != session.gate.inits:
            self._updates.take_in_inits(session)
        return error

    def restarted(self, error: VoteRejected | None) -> bool:
        """Return whether a session is to be settled again, since the DSP has restarted in the middle of it.

        A 1011 counts as 1007 where its call began before a restart, so that the DSP is not left alone.
        """
        if error is None or error.code not in LINK_LOST:
            return False
        return not self._recovery.waiting and not self._recovery.gives_up

    def _make_steps(  # noqa: C901, PLR0911 - one loop, in which each way out is a rule of its own
        self, session: SessionRecord, cause: Cause, phase: Phase | None, failures: list[VoteRejected]
    ) -> VoteRejected | None:
        error: VoteRejected | None = None
        cast: VoteSet | None = None
        for _ in range(MOST_STEPS):
            if session.casting or session.epoch != self._registry.epoch:
                self._updates.take_in_losses(session, cause)
            plan, closing = session.plan, session.gate.closing
            step = self._next_step(session, plan, cast, close_now=bool(failures))
            if step is None:
                if session.epoch == self._registry.epoch or not plan.raised:
                    self._recovery.done(session)
                    self._heartbeat.follow(session)
                    return error
                # The link was lost while its gate was opened.
                session.gate.shut()
                continue
            if self._recovery.puts_off(cause) and not closing:
                self._recovery.lacks(session)
                return self._recovery.error if plan.raised else None
            outcome = self._transitions.make(session, step, cause, phase)
            for _, failed in outcome.not_given_back:
                failures.append(failed)
                self._recovery.failed(None, failed)
            error = outcome.error
            if error is None:
                self._recovery.done(session)
                for _, failed in outcome.not_given_back:
                    if self.restarted(failed):
                        return failed
                if self._rests(session, step):
                    self._heartbeat.follow(session)
                    return error
                cast = step.votes
                self._updates.take_in_plan(session, cause, None)
                continue
            if self.restarted(error):
                return error
            if not session.gate.closing:
                self._recovery.failed(session, error)
                return error
            failures.append(error)
        return error

    def _rests(self, session: SessionRecord, step: Step) -> bool:
        """Return whether no other step can follow one that was made; open the gate of one that is raised and in use.

        The gate of a lowered session is shut: whoever begins a phase meanwhile settles it in a turn of its own.
        """
        if step.trigger is Trigger.LOWER:
            return not session.gate.closing and session.epoch == self._registry.epoch
        if step.votes is None:
            return session.gone
        # Who loses the link counts that first, and shuts the gates then.
        opened = self._updates.has_own_plan(session) and session.gate.open_if_busy()
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
            if not use.busy and not gate.arm():
                gate.shut()
                target = State.LOWERED
            elif session.state is State.RAISED and not gate.open and plan.raised is not cast:
                differs = self._executor.differs(session, plan.raised)
        step = next_step(target, plan, session.state, has_ids=has_ids, differs=differs)
        if step is None and (target is State.RAISED or not plan.raised) and not gate.open:
            gate.set_open()
        return step
