"""The reconciler of one controller: it brings what is in force in line with what every session should have.

``settle`` compares what a session should have with its state, and makes the transitions between them. Phases that begin
and end, alarms, changes of profile, a lost link and retries all come here, so none of them needs rules of its own. The
line is held, but in the methods that wait for it (``run_settle`` and what follows it).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.control.core.caster import Caster
from htppower.control.core.line import Urgency
from htppower.control.core.meaning import Carried, Meaning, meaning
from htppower.control.core.state_machine import SessionMachine, Step, desired, next_step
from htppower.control.core.tellers import tell_degradations, tell_learnt, tell_saves
from htppower.control.plans.precedence import in_use
from htppower.errors import VoteRejected, kept, without_frames
from htppower.events import Cause, ColdStart, ProfileChanged, ReleaseFailed, SessionOpened, State, Trigger

if TYPE_CHECKING:
    from htppower.control.core.engine import Engine
    from htppower.control.core.heartbeat import Heartbeat
    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.event_bus import EventBus
    from htppower.control.plans.plans import Plan, Planner
    from htppower.events import Phase
    from htppower.votes.vote_set import VoteSet

# A session that does not reach its target in so many transitions never will.
MOST_STEPS = 16
# After a loss, or one failure that a healthy link may answer with, a step is tried once more at once.
_TRIED_AGAIN = (Meaning.LOST, Meaning.SUSPECT)
_BEGINNINGS = frozenset({Cause.INIT_BEGAN, Cause.INFERENCE_BEGAN, Cause.DEINIT_BEGAN})
_LOWERINGS = frozenset({Trigger.LOWER, Trigger.LOWER_FURTHER})


class Reconciler:
    """Settles the sessions of a controller.

    Args:
        engine: has the line, the link and the settings of the process.
        registry: the open sessions.
        planner: makes plans of profiles.
        events: tells what happened.
        calls: makes native calls.
        strict: an option that the platform lacks is an error.
        raises: whether a failed vote raises where a phase begins or ends.

    Attributes:
        number: which controller on its backend it is, from 1; the engine numbers it.
        heartbeat: casts votes again that stay up.
    """

    number: int
    heartbeat: Heartbeat

    def __init__(
        self,
        engine: Engine,
        registry: Registry,
        planner: Planner,
        events: EventBus,
        calls: NativeCalls,
        *,
        strict: bool,
        raises: bool,
    ) -> None:
        self.engine = engine
        self.registry = registry
        self.planner = planner
        self.events = events
        self.raises = raises
        self.calls = calls
        self._recovery = engine.recovery
        self._link = engine.recovery.link
        self._settings = engine.settings
        self.caster = Caster(calls, engine.recovery, engine.settings, engine.missing, strict=strict)
        self._machine = SessionMachine(self._cast, tell_saves)

    def __str__(self) -> str:
        """Return the controller's number, and the owners of its sessions."""
        owners = [session.owner for session in self.registry.all() if session.owner]
        return f"controller {self.number}" + (f" ({', '.join(owners)})" if owners else "")

    # Each of these waits for the line.

    def run_settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        *,
        quiet: bool = False,
        waits: int | None = None,
    ) -> None:
        """Bring what is in force in line with what a session should have.

        Args:
            session: which.
            cause: why.
            phase: in which phase.
            quiet: no failed call is raised.
            waits: since when an inference waits for its votes, in ns; None if none does.

        Raises:
            VoteRejected: a call failed, nothing is known to be in force, and the controller has ``on_error="raise"``.
            SessionClosed: a phase begins on a session that is closed, or was closed meanwhile.
        """
        begins = cause in _BEGINNINGS
        if begins and session.gate.closing:
            self.registry.require_live(session)
            return
        error = None
        if session.state is not State.DESTROYED:
            urgency = Urgency.RAISE if begins else Urgency.LOWER
            error = self.engine.run(functools.partial(self.settle_for, session, cause, phase, waits), urgency)
        self.after_step(session, error, begins=begins, quiet=quiet)

    def after_step(self, session: SessionRecord, error: VoteRejected | None, *, begins: bool, quiet: bool) -> None:
        """Raise what a phase raises after its step; the line is not held.

        Raises:
            VoteRejected, SessionClosed: as ``run_settle``.
        """
        if begins and (session.gate.closing or session.state is State.DESTROYED):
            self.registry.require_live(session)
        if error is not None:
            try:
                self.raise_failure(session, error, quiet=quiet)
            finally:
                # Its traceback holds this frame, and that of the inference, with its token and its inputs.
                del error

    def settle_soon(self, session: SessionRecord, cause: Cause, phase: Phase | None = None) -> None:
        """Settle a session on the worker, without waiting for it; called by alarms."""
        urgency = Urgency.RAISE if cause is Cause.INFERENCE_EXPECTED else Urgency.LOWER
        self.engine.post(functools.partial(self.settle, session, cause, phase), urgency)

    def raise_failure(self, session: SessionRecord, error: VoteRejected | None, *, quiet: bool = False) -> None:
        """Raise what a call failed with, if the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        missing = session.state in (State.UNKNOWN, State.UNVOTED)
        try:
            if error is not None and missing and self.raises and not quiet:
                raise without_frames(error)
        finally:
            del error

    def raise_first(self, failures: list[VoteRejected]) -> None:
        """Raise the first failure of a close, if the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        if failures and self.raises:
            raise without_frames(failures[0])

    # The line is held from here on.

    def settle_for(
        self, session: SessionRecord, cause: Cause, phase: Phase | None, waits: int | None
    ) -> VoteRejected | None:
        """Settle a session for a phase; count and tell it if an inference has waited for a call."""
        calls = session.history.calls
        error = self.settle(session, cause, phase)
        # On a dead link, for example, no call is made until the back-off allows one.
        begins = error is None or not self.raises
        if waits is not None and begins and session.history.calls != calls:
            wait_us = (session.gate.time.now_ns() - waits) // 1000
            session.gate.add_cold_start(wait_us)
            self.events.tell(ColdStart, session, wait_us=wait_us)
        return error

    def open(self, session: SessionRecord) -> None:
        """Create a session's ids and take it in. If the link is down, it opens as UNKNOWN.

        Raises:
            VoteRejected: an id can't be created although the link is well.
            SessionClosed: the controller was closed meanwhile.
        """
        self.registry.require_open()
        if session.handle is not None and session.handle() is None:
            # The call of ``VoteController.session`` was interrupted: its caller has no session.
            return
        # A cap may have been set or lifted since the session was made.
        chosen, session.decided_by = in_use(session.own, session.holds, self.registry.caps)
        plan = self.planner.plan(chosen)
        if plan != session.plan:
            session.gate.use_plan(plan)
        session.epoch = self._link.epoch
        error = None
        if session.plan.casts:
            error = self._create_ids(session)
        self.registry.add(session)
        self.events.tell(SessionOpened, session, power_config_ids=tuple(session.power_config_ids.values()))
        tell_degradations(session, ())
        if not session.plan.casts:
            session.gate.set_open()
        elif error is not None:
            self._machine.lose(session, error, Cause.SESSION_OPENED)
            self._recovery.failed_to_settle(session)
        if self.registry.closed:
            # The controller was closed during the calls, and its close may have looked before this session was there.
            self.close(session)
            self.registry.require_open()

    def _create_ids(self, session: SessionRecord) -> VoteRejected | None:
        if not self._recovery.may_call():
            return self._link.error
        try:
            self.caster.create_ids(session)
        except VoteRejected as error:
            if meaning(error.code, Carried.CREATE) is Meaning.REFUSED:
                self.caster.give_back(session)
                raise
            return without_frames(error)
        return None

    def settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        *,
        reason: str | None = None,
        only_if_changed: bool = False,
    ) -> VoteRejected | None:
        """Make the transitions to what a session should have; return the call that failed.

        Args:
            session: which.
            cause: why.
            phase: in which phase, if any.
            reason: what for another profile is used.
            only_if_changed: whether to make none unless another profile is used.
        """
        if session.gone or session.gate.closing:
            # Its closing is a step of its own, which lowers it.
            return None
        if session.epoch != self._link.epoch:
            self._note_loss(session)
        changes = self._update_plan(session, cause, reason)
        raising = session.state is State.RAISED and not session.gate.open
        if only_if_changed and not changes and not raising:
            return None
        error = self._make_steps(session, cause, phase)
        if session.inits != session.gate.inits:
            self._note_inits(session)
        if session.gate.learning is not None:
            tell_learnt(session, session.gate.learning)
        if session.state is State.RAISED and self.heartbeat.asleep:
            self.heartbeat.wake()
        return error

    def close(self, session: SessionRecord) -> list[VoteRejected]:
        """Lower, give back, destroy: each step, even if the one before failed. Return the failures."""
        failures: list[VoteRejected] = []
        if session.gone or session.number not in self.registry.sessions:
            return failures
        session.gate.close()
        if session.epoch != self._link.epoch:
            self._note_loss(session)
        step = Step(Trigger.LOWER, session.plan.relaxed(after_deinit=session.gate.use().after_deinit))
        for _ in range(2):
            lowers = session.state in (State.RAISED, State.UNKNOWN) and session.ledgers and session.plan.casts
            if not lowers or not self._recovery.may_call():
                break
            error = self._machine.make(session, step, Cause.SESSION_CLOSED, None)
            if error is None:
                break
            failures.append(error)
            if session.epoch != self._link.epoch:
                self._note_loss(session)
        if self.registry.learnt is not None:
            self.registry.learnt.keep(session)
        not_given_back = self.caster.give_back(session)
        for number, error in not_given_back:
            self.events.tell(ReleaseFailed, session, power_config_id=number, error=kept(error))
            failures.append(error)
        self._machine.make(session, Step(Trigger.DESTROY), Cause.SESSION_CLOSED, None)
        self.registry.remove(session)
        self._recovery.done(session)
        self.heartbeat.rest()
        return failures

    def cast_again(self, session: SessionRecord) -> None:
        """Cast the votes of a session again that is raised still, as they are; the heartbeat asks for it."""
        if session.state is not State.RAISED or not self._recovery.may_call(session):
            return
        try:
            self.caster.cast_again(session)
        except VoteRejected as error:
            self._machine.lose(session, without_frames(error), Cause.HEARTBEAT)
            self._recovery.failed_to_settle(session)
            if meaning(error.code) in (*_TRIED_AGAIN, Meaning.BAD_ID):
                self.settle(session, Cause.LINK_LOST)

    def _cast(self, session: SessionRecord, step: Step) -> None:
        """Make the calls of a step; the state machine calls it before the state changes."""
        if step.votes is not None:
            self.caster.cast(session, step.votes, lowers=step.trigger in _LOWERINGS)
        elif step.trigger is Trigger.RELEASE:
            for number, error in self.caster.give_back(session):
                self.events.tell(ReleaseFailed, session, power_config_id=number, error=kept(error))

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
            error = self._machine.make(session, step, cause, phase)
            if error is not None:
                if tried_again or meaning(error.code) not in _TRIED_AGAIN:
                    self._recovery.failed_to_settle(session)
                    return error
                tried_again = True
                if session.epoch != self._link.epoch:
                    session.epoch = self._link.epoch
                continue
            cast = step.votes
            if self._rests(session, step):
                break
            self._update_plan(session, cause, None)
        if session in self._recovery.lacking:
            self._recovery.done(session)
        return None

    def _give_up_for_now(self, session: SessionRecord, cause: Cause) -> None:
        """Leave a session to the back-off, which settles what is UNKNOWN: nothing is called now."""
        if session.state is not State.UNKNOWN:
            self._machine.lose(session, None, cause)
        if session not in self._recovery.lacking:
            self._recovery.lacks(session)
        self._recovery.retry_later()

    def _rests(self, session: SessionRecord, step: Step) -> bool:
        """Return whether no other step can follow one that was made; open the gate of one that is raised and in use.

        The gate of a lowered session is shut: a phase that begins meanwhile waits for the line.
        """
        if session.state is State.LOWERED:
            return session.gate.plan.then is None or step.trigger is not Trigger.LOWER
        return self._has_own_plan(session) and session.gate.open_if_busy()

    def _next_step(self, session: SessionRecord, plan: Plan, cast: VoteSet | None) -> Step | None:
        """Return the next transition of a session; if there is none, open its gate or arm its alarm as it needs.

        ``cast``: the votes that it has just cast, which are in force.
        """
        gate = session.gate
        use = gate.use()
        has_ids = bool(session.ledgers)
        # The deadline of a session in use does not matter.
        now_us = 0 if use.busy else gate.time.now_us
        target = desired(use, plan, session.state, now_us=now_us)
        if use.closing:
            return None
        if target is State.LOWERED and not gate.shut_if_idle(use.deadline_us):
            target = State.RAISED
        differs = False
        if target is State.RAISED:
            if not use.busy and not gate.arm() and gate.shut_if_idle(use.deadline_us):
                # Nobody would lower it later.
                target = State.LOWERED
            elif session.state is State.RAISED and not gate.open and plan.raised is not cast:
                differs = self.caster.differs(session, plan.raised)
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

    def _note_loss(self, session: SessionRecord) -> None:
        """Note that every vote was lost since a session was cast."""
        session.forget()
        if session.state in (State.RAISED, State.LOWERED):
            self._machine.lose(session, None, Cause.LINK_LOST)
            self._recovery.lacks(session)
        session.epoch = self._link.epoch

    def _update_plan(self, session: SessionRecord, cause: Cause, reason: str | None) -> bool:
        """Let a session cast what its profile, its holds, the caps and the platform come to; return whether it changes.

        A profile other than its own is told; what the platform was found to lack is left out.
        """
        if self._has_own_plan(session) or session.gone or session.gate.closing:
            return False
        before = session.plan
        chosen, session.decided_by = in_use(session.own, session.holds, self.registry.caps)
        plan = self.planner.plan(chosen)
        if plan is before or plan == before:
            return False
        if plan.profile == before.profile:
            was_open = session.gate.open
            session.gate.use_plan(plan)
            if was_open:
                session.gate.set_open()
        else:
            tell_saves(session)
            session.gate.use_plan(plan, ends_sustain=True)
            session.history.skip(session.gate.begun)
            self.events.tell(ProfileChanged, session, before=before.profile.name, cause=cause, reason=reason)
        tell_degradations(session, before.degradations)
        return True

    def _has_own_plan(self, session: SessionRecord) -> bool:
        """Return whether a session's plan is that of its own profile, and nothing replaces that."""
        plan = session.gate.plan
        is_own = plan.profile is session.own and plan.missing == self.planner.missing.changes
        return is_own and not (session.holds or self.registry.caps or session.decided_by)

    def _note_inits(self, session: SessionRecord) -> None:
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
