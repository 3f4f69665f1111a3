"""The reconciler: it keeps what is in force in line with what every session should have.

``settle`` is the one place where states change. It compares what a session should have with its state, and makes the
transitions between them. Phases that begin and end, alarms, changes of profile, a restart of the DSP and retries all
come here, so that none of them needs rules of its own. It holds the session's turn and looks at no other session: who
else is concerned joins a queue, and is settled when the turn is given back.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.control.desired import Step, desired, next_step
from htppower.control.locks import comes_free, is_held
from htppower.control.precedence import in_use
from htppower.control.recovery import MOST_RESTARTS, Recovery
from htppower.errors import VoteRejected, without_frames
from htppower.events import Cause, ProfileChanged, SessionOpened, State, Trigger
from htppower.votes.native_codes import LINK_LOST, TRANSPORT, code_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.event_bus import EventBus
    from htppower.control.executor import Executor
    from htppower.control.heartbeat import Heartbeat
    from htppower.control.plans import Plan, Planner
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord
    from htppower.control.session_transitions import SessionTransitions
    from htppower.control.time.base import Time
    from htppower.events import Phase
    from htppower.votes.vote_set import VoteSet

_BEGINNINGS = frozenset({Cause.INIT_BEGAN, Cause.INFERENCE_BEGAN, Cause.DEINIT_BEGAN, Cause.PROFILE_CHANGED})
# The DSP is out of reach, not the id: a session opens nevertheless, and its ids are created later.
_DSP_OUT_OF_REACH = LINK_LOST | {TRANSPORT}
# A session that is not where it should be after so many transitions never will be.
MOST_STEPS = 16


class Reconciler:
    """Settles sessions.

    Args:
        registry, executor, transitions, recovery, heartbeat, events, time: the open sessions, what makes calls and
            transitions, what is left to put right, what casts votes again, who is told, and clock, alarms and threads.
        planner: makes of a profile what a session casts on this platform.
        raises: whether a failed vote raises where a phase begins or ends.
    """

    def __init__(
        self,
        registry: Registry,
        executor: Executor,
        transitions: SessionTransitions,
        recovery: Recovery,
        heartbeat: Heartbeat,
        events: EventBus,
        time: Time,
        planner: Planner,
        *,
        raises: bool,
    ) -> None:
        self._planner = planner
        self._known_missing = len(planner.missing)
        self._registry = registry
        self._executor = executor
        self._transitions = transitions
        self._recovery = recovery
        self._heartbeat = heartbeat
        self._events = events
        self._time = time
        self._raises = raises

    def settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        *,
        quiet: bool = False,
        doubt: bool = False,
    ) -> None:
        """Bring what is in force in line with what a session should have.

        With ``quiet``, nothing is raised. With ``doubt``, what its votes are known to be is forgotten then, so that the
        next raise sends everything: votes cast before a graph's context exists may be lost.

        Raises:
            VoteRejected: a call failed, nothing is known to be in force, and the controller has ``on_error="raise"``.
            SessionClosed: a phase begins on a closed session.
        """
        if session.gone:
            if cause in _BEGINNINGS and not quiet:
                self._registry.require_live(session)
            return
        error = self._in_turn(session, cause, phase, doubt=doubt)
        self.raise_failure(session, error, quiet=quiet)

    def alarm_rang(self, session: SessionRecord, cause: Cause) -> None:
        """Settle a session whose alarm rings."""
        self._settle_when_free(session, cause)

    def settle_soon(self, session: SessionRecord, cause: Cause) -> None:
        """Settle a session on another thread, without waiting for it."""
        self._time.spawn(functools.partial(self._settle_when_free, session, cause))

    def open(self, session: SessionRecord) -> None:
        """Create a session's ids and take it in.

        Raises:
            VoteRejected: an id can't be created although the DSP is in reach.
        """
        try:
            for again in reversed(range(MOST_RESTARTS)):
                if self._take_in(session, again=again > 0):
                    break
                # The others are voted side by side with this one.
                self.after_turn()
        finally:
            self.after_turn()

    def _take_in(self, session: SessionRecord, *, again: bool) -> bool:
        """Create a session's ids and take it in; return False where the DSP has just restarted, to try again."""
        with session.turn:
            error = self._create_ids(session) if session.plan.raised else None
            if again and self._restarted(error):
                return False
            with self._registry.lock:
                # Closing the controller notes that first, and looks then who is open.
                closed = self._registry.closed
                if not closed:
                    self._registry.sessions[session.number] = session
            if closed:
                self._give_back(session)
                self._registry.require_open()
            ids = tuple(session.power_config_ids.values())
            self._events.tell(SessionOpened, session.identity, power_config_ids=ids)
            self._transitions.tell_degradations(session, ())
            if not session.plan.raised:
                session.gate.set_open()
            elif error is not None:
                self._transitions.lose(session, error, Cause.SESSION_OPENED)
                self._recovery.failed(session, error)
            return True

    def follow(self, session: SessionRecord, cause: Cause, reason: str | None) -> VoteRejected | None:
        """Let a session use what its own profile, its holds and the caps come to.

        That is at once if votes are raised, otherwise at the next raise. Return the call that failed.
        """
        return self._in_turn(session, cause, None, reason=reason, only_if_changed=True)

    def interrupted(self, sessions: Iterable[SessionRecord]) -> None:
        """Settle sessions soon, at which an exception such as Ctrl-C has passed; by the back-off, at the latest."""
        for session in sessions:
            self._recovery.interrupted(session)
            self._time.call_soon(functools.partial(self._settle_when_free, session, Cause.RETRIED))

    def close(self, session: SessionRecord, timeout_s: float | None) -> list[VoteRejected]:
        """Stop the timer, lower, give back, destroy: each step, even if the one before failed. Return the failures.

        Where another thread has the session's turn for longer than the timeout, it closes the session, when its call
        returns.
        """
        if session.gone:
            return []
        failures: list[VoteRejected] = []
        try:
            session.gate.close()
            if timeout_s is not None and not comes_free(session.turn, timeout_s):
                self._settle_when_free(session, Cause.SESSION_CLOSED)
                return failures
            self._in_turn(session, Cause.SESSION_CLOSED, None, failures=failures)
        except BaseException:
            self.interrupted((session,))
            raise
        return failures

    def raise_failure(self, session: SessionRecord, error: VoteRejected | None, *, quiet: bool = False) -> None:
        """Raise what a call failed with, where the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        missing = session.state in (State.UNKNOWN, State.UNVOTED)
        if error is not None and missing and self._raises and not quiet:
            raise without_frames(error)

    def raise_first(self, failures: list[VoteRejected]) -> None:
        """Raise the first failure of a close, where the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        if failures and self._raises:
            raise without_frames(failures[0])

    def _in_turn(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None,
        *,
        doubt: bool = False,
        failures: list[VoteRejected] | None = None,
        reason: str | None = None,
        only_if_changed: bool = False,
    ) -> VoteRejected | None:
        """Settle a session in its turn, for a cause and in a phase; return the call that failed.

        Args:
            session: which.
            cause: why.
            phase: in which phase, if any.
            doubt: whether to forget then what is known of its votes.
            failures: where to note the failures of a session that is being closed.
            reason: what for another profile is used.
            only_if_changed: whether to settle only where another profile is used.
        """
        if is_held(session.turn):
            # A signal handler, in the middle of this very turn.
            session.again = cause
            return None
        noted: list[VoteRejected] = [] if failures is None else failures
        try:
            with session.turn:
                try:
                    error = None
                    changes = self._take_in_plan(session, cause, reason)
                    # Of one that was interrupted the plan may have changed before.
                    raising = session.state is State.RAISED and not session.gate.open
                    if changes or raising or not only_if_changed:
                        error = self._settle(session, cause, phase, noted)
                finally:
                    if doubt:
                        session.forget()
                        self._recovery.doubt_settings()
                        session.gate.shut()
                        if not session.plan.raised:
                            session.gate.set_open()
            while self._restarted(error):
                self.after_turn()
                with session.turn:
                    error = self._settle(session, Cause.LINK_LOST, phase, noted)
        except BaseException:
            # Ctrl-C, most of all. What is left is settled by whoever comes next, and by the back-off at the latest.
            self.interrupted((session,))
            raise
        self.settle_if_asked(session)
        return error

    def _restarted(self, error: VoteRejected | None) -> bool:
        """Return whether a session is to be settled again, since the DSP has restarted in the middle of it.

        A 1011 counts as 1007 where its call began before a restart, so that the DSP is not left alone.
        """
        if error is None or error.code not in LINK_LOST:
            return False
        return not self._recovery.waiting and not self._recovery.gives_up

    def _settle_when_free(self, session: SessionRecord, cause: Cause) -> None:
        """Settle a session now, or let whoever has its turn settle it: no thread of ours waits for another's call."""
        if session.gone:
            self._recovery.done(session)
            return
        session.again = cause
        self.settle_if_asked(session)

    def settle_if_asked(self, session: SessionRecord) -> None:
        """Settle what was asked for while another thread, or this one, had the turn; to be called after each turn."""
        try:
            self._look_again(session)
        except BaseException:
            self.interrupted((session,))
            raise
        self.after_turn()

    def _look_again(self, session: SessionRecord) -> None:
        turn = session.turn
        while session.again is not None and not is_held(turn):
            # Others need not wait for its calls.
            self._settle_queued()
            try:
                if not turn.acquire(blocking=False):
                    return
                cause, session.again = session.again, None
                if cause is not None and self._restarted(self._settle(session, cause, None, [])):
                    session.again = Cause.LINK_LOST
            finally:
                try:  # noqa: SIM105 - nothing may come before the release: see locks.py
                    turn.release()
                except RuntimeError:
                    pass

    def link_lost(self, code: int) -> None:
        """Take in that a call of the host's own was answered with a lost link; the sessions are settled elsewhere.

        Raises:
            ValueError: the code does not say so.
        """
        if code not in LINK_LOST:
            known = " or ".join(f"{each} ({code_name(each)})" for each in sorted(LINK_LOST))
            raise ValueError(f"code is {code!r}: {known}")
        if not self._registry.sessions:
            return
        try:
            self._recovery.link_lost(VoteRejected(code, function="graphExecute"))
            self.after_turn()
        except BaseException:
            self.interrupted(self._registry.all())
            raise

    def retry(self) -> None:
        """Try again what is left."""
        # First those who lack votes: the call that destroys an orphan may hang.
        self.after_turn()
        failed = self._executor.destroy_orphans()
        self.after_turn()
        if self._restarted(failed):
            failed = self._executor.destroy_orphans()
        if not self._recovery.lacking:
            failed = self._executor.cast_settings() or failed
        self._recovery.retried(failed)
        self.after_turn()

    def stop(self) -> bool:
        """Try once more what is left, and nothing from then on; return whether nothing is left."""
        self._executor.cast_settings(wait=True)
        self._executor.destroy_orphans()
        self._recovery.stop()
        self.after_turn()
        left = self._registry.sessions or self._registry.orphans or self._executor.settings_differ
        return not left

    def after_turn(self) -> None:
        """Settle the sessions that what happened in a turn concerns, and deliver the events of it."""
        if len(self._planner.missing) != self._known_missing:
            self._known_missing = len(self._planner.missing)
            for session in self._registry.all():
                self.settle_soon(session, Cause.RETRIED)
        self._settle_queued()
        self._events.deliver()

    def _settle_queued(self) -> None:
        queued: dict[SessionRecord, Cause] = {}
        try:
            queued = self._recovery.take_queue()
            while queued:
                session = next(iter(queued))
                self.settle_soon(session, queued[session])
                del queued[session]
        except BaseException:
            self._recovery.queue_again(queued)
            raise

    def _settle(  # noqa: C901, PLR0911 - one loop, in which each way out is a rule of its own
        self, session: SessionRecord, cause: Cause, phase: Phase | None, failures: list[VoteRejected]
    ) -> VoteRejected | None:
        """Make the transitions to what a session should have; return the call that failed.

        Args:
            session: which.
            cause: why.
            phase: in which phase, if any.
            failures: where to note the failures of a session that is being closed.
        """
        error: VoteRejected | None = None
        cast: VoteSet | None = None
        for _ in range(MOST_STEPS):
            self._take_in_losses(session, cause)
            self._take_in_plan(session, cause, None)
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
                self._recovery.left_alone(session)
                return self._recovery.error if plan.raised else None
            outcome = self._transitions.make(session, step, cause, phase)
            for _, failed in outcome.not_given_back:
                failures.append(failed)
                self._recovery.left(failed)
            error = outcome.error
            if error is None:
                self._recovery.done(session)
                told = [failed for _, failed in outcome.not_given_back if self._restarted(failed)]
                if told:
                    return told[0]
                if self._rests(session, step):
                    self._heartbeat.follow(session)
                    return error
                cast = step.votes
                continue
            if self._restarted(error):
                return error
            if not session.gate.closing:
                self._recovery.failed(session, error)
                return error
            failures.append(error)
        return error

    def _rests(self, session: SessionRecord, step: Step) -> bool:
        """Return whether no other step can follow one that was made.

        The gate of a lowered session is shut: whoever begins a phase meanwhile settles it in a turn of its own.
        """
        known = session.epoch == self._registry.epoch
        return session.gone or (step.trigger is Trigger.LOWER and known and not session.gate.closing)

    def _next_step(self, session: SessionRecord, plan: Plan, cast: VoteSet | None, *, close_now: bool) -> Step | None:
        """Return the next transition of a session; where there is none, open its gate or arm its alarm as it needs.

        ``cast``: the votes that it has just cast, which are in force.
        """
        gate = session.gate
        use = gate.use()
        if close_now and use.closing:
            return None if session.gone else Step(Trigger.DESTROY)
        has_ids = bool(session.ledgers)
        target = desired(use, plan, session.state, has_ids=has_ids, now_us=self._time.now_us)
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

    def _take_in_losses(self, session: SessionRecord, cause: Cause) -> None:
        """Take in that the link was lost since a session was cast, or that a call of its was interrupted."""
        # Read once: it may be lost again at any time.
        epoch = self._registry.epoch
        lost = session.epoch != epoch
        if lost:
            session.doubted = frozenset(session.ledgers)
            session.forget()
        if session.casting or (lost and session.state in (State.RAISED, State.LOWERED)):
            self._transitions.lose(session, None, Cause.LINK_LOST if lost else cause)
        session.casting = False
        session.epoch = epoch

    def _take_in_plan(self, session: SessionRecord, cause: Cause, reason: str | None) -> bool:
        """Let a session cast what its profile, its holds, the caps and the platform come to; return whether it changes.

        Its profile, in the place of its own, is told; what the library has refused as not on this platform is left out.
        """
        if session.gone or session.gate.closing:
            return False
        before = session.plan
        with self._registry.lock:
            chosen, session.decided_by = in_use(session.own, session.holds, self._registry.caps)
            plan = self._planner.plan(chosen)
        if plan is before or plan == before:
            return False
        if plan.profile == before.profile:
            was_open = session.gate.open
            session.follow(plan)
            if was_open:
                session.gate.set_open()
        else:
            self._transitions.tell_saves(session)
            session.follow(plan)
            session.history.saves_told = session.gate.begun
            session.gate.end_sustain()
            self._events.tell(ProfileChanged, session.identity, before=before.profile.name, cause=cause, reason=reason)
        self._transitions.tell_degradations(session, before.degradations)
        return True

    def _create_ids(self, session: SessionRecord) -> VoteRejected | None:
        """Create the ids of a session that is being opened; return why the DSP is out of reach.

        Raises:
            VoteRejected: an id can't be created although the DSP is in reach.
        """
        if self._recovery.waiting:
            return self._recovery.error
        try:
            session.epoch = self._registry.epoch
            self._executor.create_ids(session)
        except VoteRejected as rejected:
            if rejected.code in _DSP_OUT_OF_REACH:
                return without_frames(rejected)
            self._give_back(session)
            raise
        except BaseException:
            self._recovery.left(None)
            self._give_back(session)
            raise
        return None

    def _give_back(self, session: SessionRecord) -> None:
        """Destroy the ids of a session that does not open."""
        for _, failed in self._executor.run(session, Step(Trigger.DESTROY)).not_given_back:
            self._recovery.left(failed)
