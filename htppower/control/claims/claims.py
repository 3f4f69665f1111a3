"""Holds, caps and paces: each replaces a session's own profile.

Each change is one step with the line. The state machine handles it as a change of profile: at once if votes are raised,
otherwise at the next raise. A sustain time that runs ends.
"""

from __future__ import annotations

import functools
import itertools
import types
import weakref
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.core.line import Urgency
from htppower.control.plans.precedence import Claim, in_use
from htppower.control.time.base import armed_or_none
from htppower.events import CapLifted, CapSet, Cause, HoldBegan, HoldEnd, HoldEnded

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from htppower.control.core.home import Home
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.plans import Plan
    from htppower.control.plans.precedence import Paces
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.profiles.cache import ProfileCache
    from htppower.profiles.profile import Profile


@attrs.define(eq=False, repr=False)
class Claims:
    """The holds and paces of all sessions of a controller, and its caps."""

    _home: Home
    profiles: ProfileCache
    _time: Time
    _numbers: Iterator[int] = attrs.field(init=False, factory=functools.partial(itertools.count, 1))
    # For each claim, by its number: the alarm that ends a hold after its timeout, and the weak reference that ends the
    # claim when an object is gone. Both are removed when the claim ends.
    _alarms: dict[int, Any] = attrs.field(init=False, factory=dict)
    _watches: dict[int, weakref.ref[Any]] = attrs.field(init=False, factory=dict)

    def check(self, profile: str | os.PathLike[str] | Profile, session: SessionRecord | None = None) -> Profile:
        """Load a profile, and check it on this platform.

        Raises:
            ProfileError: the profile can't be found or is invalid, or a rule refuses it on this platform.
            SessionClosed: the session is closed, or, if no session is given, the controller.
        """
        loaded = self.profiles.load(profile)
        if session is None:
            self._home.registry.require_open()
        else:
            self._home.registry.require_live(session)
        self._home.planner.plan(loaded)
        return loaded

    def plan(self, profile: Profile) -> tuple[Plan, Claim | None]:
        """Return the plan of a new session with this profile, and the cap that decides it; or raise RuleBreach."""
        planner = self._home.planner
        planner.plan(profile)
        chosen, cap = in_use(profile, (), self._home.registry.caps)
        return planner.plan(chosen), cap

    def use(self, session: SessionRecord, profile: str | os.PathLike[str] | Profile) -> None:
        """Change a session's own profile: see ``Session.use``."""
        step = functools.partial(self._use, session, self.check(profile, session))
        error = self._home.engine.run(step, Urgency.RAISE)
        self._home.raise_failure(session, error)

    def _use(self, session: SessionRecord, profile: Profile) -> VoteRejected | None:
        session.own = profile
        return self._home.reconciler.settle(session, Cause.PROFILE_CHANGED, only_if_changed=True)

    def make_hold(
        self, session: SessionRecord, profile: str | os.PathLike[str] | Profile, reason: str, timeout_us: int | None
    ) -> Claim:
        """Return a hold that has not begun yet; raise the errors of ``Session.hold``."""
        return self._claim("hold", self.check(profile, session), reason, timeout_us)

    def begin_hold(self, session: SessionRecord, claim: Claim, watched: object | None, end: HoldEnd) -> None:
        """Begin a hold. It ends when the ``watched`` object is gone, and ``end`` is the reported reason for that.

        Raises:
            SessionClosed: the session is being closed.
            VoteRejected: a call failed and the controller has ``on_error="raise"``.
        """
        soon = functools.partial(self.end_hold, session, claim, end, quiet=True, soon=True)
        watch = None if watched is None else self._watch(watched, soon)
        wanted = [claim]
        begin = functools.partial(self._begin_hold, session, wanted, watch)
        try:
            self._home.raise_failure(session, self._home.engine.run(begin, Urgency.RAISE))
        except BaseException as error:
            # The caller gets no handle. If the step has not run yet, this makes it begin no hold.
            wanted.clear()
            interrupted = not isinstance(error, Exception)
            self.end_hold(session, claim, HoldEnd.RELEASED, quiet=True, soon=interrupted)
            raise

    def _begin_hold(
        self, session: SessionRecord, wanted: list[Claim], watch: weakref.ref[Any] | None
    ) -> VoteRejected | None:
        self._home.registry.require_live(session)
        gone = not wanted or (watch is not None and watch() is None)
        if session.gate.closing or session.gone or gone:
            # No hold begins: the process is ending or is a forked child, or the handle of the hold is gone.
            return None
        claim = wanted[0]
        session.holds = (*session.holds, claim)
        told = {"held": claim.profile.name, "reason": claim.reason, "until_us": claim.until_us}
        self._home.events.tell(HoldBegan, session, **told)
        if watch is not None:
            self._watches[claim.number] = watch
        if claim.until_us is not None:
            end = functools.partial(self._end_hold_soon, session, claim)
            self._alarms[claim.number] = armed_or_none(self._time, claim.until_us, end, "the timeout of a hold")
        return self._home.reconciler.settle(session, Cause.HOLD_BEGAN, reason=claim.reason, only_if_changed=True)

    def _end_hold_soon(self, session: SessionRecord, claim: Claim) -> None:
        end = functools.partial(self._end_hold, session, claim, HoldEnd.TIMEOUT)
        self._home.engine.post(end, Urgency.LOWER)

    def end_hold(self, session: SessionRecord, claim: Claim, end: HoldEnd, *, quiet: bool, soon: bool) -> None:
        """End a hold, unless it has ended; with ``quiet`` it raises no error, and with ``soon`` it does not wait."""
        action = functools.partial(self._end_hold, session, claim, end)
        if soon:
            self._home.engine.post(action, Urgency.LOWER)
        else:
            error = self._home.engine.run(action, Urgency.LOWER)
            self._home.raise_failure(session, error, quiet=quiet)

    def _end_hold(self, session: SessionRecord, claim: Claim, end: HoldEnd) -> VoteRejected | None:
        if claim not in session.holds:
            return None
        session.holds = tuple(other for other in session.holds if other is not claim)
        self._ended(session, claim, end)
        return self._home.reconciler.settle(session, Cause.HOLD_ENDED, reason=claim.reason, only_if_changed=True)

    def begin_pace(self, session: SessionRecord, pace: Paces, handle: object) -> None:
        """Let a pace choose the profile of a session, until it ends or its handle is gone.

        Raises:
            SessionClosed: the session is being closed.
            ValueError: the session has a pace already.
            VoteRejected: a call failed and the controller has ``on_error="raise"``.
        """
        watch = self._watch(handle, functools.partial(self.end_pace, session, pace, quiet=True, soon=True))
        begin = functools.partial(self._begin_pace, session, pace, watch)
        try:
            self._home.raise_failure(session, self._home.engine.run(begin, Urgency.RAISE))
        except BaseException as error:
            # The caller gets no handle, but the traceback may keep it.
            self.end_pace(session, pace, quiet=True, soon=not isinstance(error, Exception))
            raise

    def _begin_pace(self, session: SessionRecord, pace: Paces, watch: weakref.ref[Any]) -> VoteRejected | None:
        self._home.registry.require_live(session)
        if session.pace is not None:
            raise ValueError(f"session {session.number} has a pace already: close it first")
        if session.gate.closing or session.gone or watch() is None:
            return None
        session.pace, pace.watch = pace, watch
        return self._move_pace(session, pace)

    def move_pace(self, session: SessionRecord, pace: Paces) -> None:
        """Let a session use the profile that its pace has chosen, without waiting."""
        self._home.engine.post(functools.partial(self._move_pace, session, pace), Urgency.RAISE)

    def _move_pace(self, session: SessionRecord, pace: Paces) -> VoteRejected | None:
        if session.pace is not pace:
            return None
        reason = pace.reason
        pace.claim = self._claim("pace", pace.profile, reason, None)
        return self._home.reconciler.settle(session, Cause.PROFILE_CHANGED, reason=reason, only_if_changed=True)

    def end_pace(self, session: SessionRecord, pace: Paces, *, quiet: bool, soon: bool) -> None:
        """End a pace, unless it has ended; with ``quiet`` it raises no error, and with ``soon`` it does not wait."""
        action = functools.partial(self._end_pace, session, pace)
        if soon:
            self._home.engine.post(action, Urgency.LOWER)
        else:
            error = self._home.engine.run(action, Urgency.LOWER)
            self._home.raise_failure(session, error, quiet=quiet)

    def _end_pace(self, session: SessionRecord, pace: Paces) -> VoteRejected | None:
        if session.pace is not pace:
            return None
        session.pace = pace.watch = None
        return self._home.reconciler.settle(session, Cause.PROFILE_CHANGED, only_if_changed=True)

    def close(self, session: SessionRecord) -> list[VoteRejected]:
        """End every hold of a session, then close it; return the failures. The line is held."""
        holds, session.holds = session.holds, ()
        for claim in holds:
            self._ended(session, claim, HoldEnd.SESSION_CLOSED)
        return self._home.lifetimes.close(session)

    def make_cap(self, profile: str | os.PathLike[str] | Profile, reason: str) -> Claim:
        """Return a cap that is not set yet; raise the errors of ``VoteController.cap``."""
        loaded = self.check(profile)
        self._time.start()
        return self._claim("cap", loaded, reason, None)

    def set_cap(self, claim: Claim, handle: object) -> None:
        """Limit every session, until the cap is lifted or its handle is dropped."""
        watch = self._watch(handle, functools.partial(self.lift_cap, claim, soon=True))
        self._run_for_all(functools.partial(self._set_cap, claim, watch))

    def _set_cap(self, claim: Claim, watch: weakref.ref[Any]) -> None:
        if watch() is None:
            return
        self._watches[claim.number] = watch
        registry = self._home.registry
        registry.caps = (*registry.caps, claim)
        self._home.events.tell(CapSet, None, cap=claim.profile.name, reason=claim.reason)
        self._all_follow(Cause.CAP_SET, claim.reason)

    def caps(self) -> tuple[Any, ...]:
        """Return the handles of the caps that are set, oldest first."""
        watches = [self._watches.get(claim.number) for claim in self._home.registry.caps]
        return tuple(handle for watch in watches if watch is not None and (handle := watch()) is not None)

    def lift_cap(self, claim: Claim, *, soon: bool = False) -> None:
        """Lift a cap, unless it is lifted already; with ``soon`` it does not wait."""
        lift = functools.partial(self._lift_cap, claim)
        if soon:
            self._home.engine.post(lift, Urgency.LOWER)
        else:
            self._run_for_all(lift)

    def _lift_cap(self, claim: Claim) -> None:
        registry = self._home.registry
        if claim not in registry.caps:
            return
        self._watches.pop(claim.number, None)
        registry.caps = tuple(other for other in registry.caps if other is not claim)
        self._home.events.tell(CapLifted, None, cap=claim.profile.name, reason=claim.reason)
        self._all_follow(Cause.CAP_LIFTED, claim.reason)

    def _ended(self, session: SessionRecord, claim: Claim, end: HoldEnd) -> None:
        alarm = self._alarms.pop(claim.number, None)
        if alarm is not None:
            self._time.cancel(alarm)
        self._watches.pop(claim.number, None)
        self._home.events.tell(HoldEnded, session, held=claim.profile.name, reason=claim.reason, end=end)

    def _watch(self, watched: object, action: Callable[[], object]) -> weakref.ref[Any]:
        # This consists of C functions only: a finalizer must take no lock, and the exception of a signal handler would
        # be lost in it.
        return weakref.ref(watched, types.MethodType(self._time.call_soon, action))

    def _claim(self, kind: str, profile: Profile, reason: str, timeout_us: int | None) -> Claim:
        now_us = self._time.now_us
        until_us = None if timeout_us is None else now_us + timeout_us
        return Claim(next(self._numbers), kind, profile, reason, now_us, until_us)

    def _run_for_all(self, step: Callable[[], object]) -> None:
        """Run a step, and wait until every session is settled.

        The step posts one request for each session; a second, empty step runs after these.
        """
        self._home.engine.run(step, Urgency.LOWER)
        self._home.engine.run(_nothing, Urgency.LOWER)

    def _all_follow(self, cause: Cause, reason: str) -> None:
        """Let every session settle in a step of its own, so that a raise can run between these steps.

        The line is held.
        """
        follow = functools.partial(self._home.reconciler.settle, cause=cause, reason=reason, only_if_changed=True)
        for session in self._home.registry.all():
            self._home.engine.post(functools.partial(follow, session), Urgency.LOWER)


def _nothing() -> None:
    """Do nothing: the second step of ``_run_for_all``."""
