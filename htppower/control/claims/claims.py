"""Holds and caps: which profile every session uses, out of its own, its holds and the caps.

A change of any of them is a change of profile in the machine's terms: at once if votes are raised, otherwise at the
next raise; a pending sustain ends.
"""

from __future__ import annotations

import functools
import itertools
import types
import weakref
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.core.precedence import Claim, in_use
from htppower.control.time.alarms import armed_or_none
from htppower.control.time.interrupts import run_watched
from htppower.control.time.side_by_side import run_side_by_side
from htppower.events import CapLifted, CapSet, Cause, HoldBegan, HoldEnd, HoldEnded

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from htppower.control.core.event_bus import EventBus
    from htppower.control.core.plans import Plan, Planner
    from htppower.control.core.reconciler import Reconciler
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.profiles.cache import ProfileCache
    from htppower.profiles.profile import Profile


@attrs.define(eq=False, repr=False)
class Claims:
    """The holds of all sessions and the caps. The registry's lock protects them; the profiles follow without it.

    Args:
        profiles: reads the profiles of names and paths.
    """

    _registry: Registry
    _reconciler: Reconciler
    _planner: Planner
    profiles: ProfileCache
    _events: EventBus
    _time: Time
    _numbers: Iterator[int] = attrs.field(init=False, factory=functools.partial(itertools.count, 1))
    # What ends a hold after its timeout, by the number of its claim.
    _alarms: dict[int, Any] = attrs.field(init=False, factory=dict)
    # The numbers of the caps that are made, and neither set nor lifted yet.
    _to_set: set[int] = attrs.field(init=False, factory=set)
    # What ends a hold with an object, likewise. Kept here, so that nothing watches for a hold that has ended.
    _watches: dict[int, weakref.ref[Any]] = attrs.field(init=False, factory=dict)

    def check(self, profile: str | os.PathLike[str] | Profile) -> Profile:
        """Return a profile, loaded and found to be usable on this platform.

        Raises:
            ProfileError: the profile can't be found or is invalid, or a rule refuses it here.
            SessionClosed: the controller is closed.
        """
        loaded = self.profiles.load(profile)
        with self._registry.lock:
            self._registry.require_open()
            self._planner.plan(loaded)
        return loaded

    def plan(self, profile: Profile) -> tuple[Plan, Claim | None]:
        """Return what a new session casts of a profile of its own, and the cap that decides it.

        Raises:
            RuleBreach: a rule refuses the profile, or the cap's, on this platform.
        """
        with self._registry.lock:
            self._planner.plan(profile)
            chosen, cap = in_use(profile, (), self._registry.caps)
            return self._planner.plan(chosen), cap

    def use(self, session: SessionRecord, profile: str | os.PathLike[str] | Profile) -> None:
        """Change a session's own profile.

        Raises:
            ProfileError, SessionClosed, VoteRejected: as ``Session.use`` says.
        """
        loaded = self.profiles.load(profile)
        with self._registry.lock:
            self._registry.require_live(session)
            self._planner.plan(loaded)
        error = self._reconciler.watched(functools.partial(self._use, session, loaded), session)
        self._reconciler.raise_failure(session, error)

    def _use(self, session: SessionRecord, profile: Profile) -> VoteRejected | None:
        session.own = profile
        return self._reconciler.follow(session, Cause.PROFILE_CHANGED, None)

    def make_hold(
        self, session: SessionRecord, profile: str | os.PathLike[str] | Profile, reason: str, timeout_us: int | None
    ) -> Claim:
        """Return a hold for a session, which has not begun.

        Raises:
            ProfileError, SessionClosed: as ``Session.hold`` says.
        """
        loaded = self.profiles.load(profile)
        with self._registry.lock:
            self._registry.require_live(session)
            return self._claim("hold", loaded, reason, timeout_us)

    def begin_hold(self, session: SessionRecord, claim: Claim) -> None:
        """Begin a hold on a session; where an exception passes, the hold has ended.

        Raises:
            SessionClosed: the session is being closed.
            VoteRejected: a call failed and the controller has ``on_error="raise"``.
        """
        begin = functools.partial(self._begin_hold, session, claim)
        error = self._reconciler.watched(begin, session)
        self._reconciler.raise_failure(session, error)

    def _begin_hold(self, session: SessionRecord, claim: Claim) -> VoteRejected | None:
        with self._registry.lock:
            self._registry.require_live(session)
            if session.gate.closing or session.gone:
                # The process is being ended, or is a forked child: let it pass, without effect.
                return None
            session.holds = (*session.holds, claim)
            told = {"held": claim.profile.name, "reason": claim.reason, "until_us": claim.until_us}
            self._events.tell(HoldBegan, session, **told)
            if claim.until_us is not None:
                end = functools.partial(self.end_hold, session, claim, HoldEnd.TIMEOUT, quiet=True)
                self._alarms[claim.number] = armed_or_none(self._time, claim.until_us, end, "the timeout of a hold")
        return self._reconciler.follow(session, Cause.HOLD_BEGAN, claim.reason)

    def watch(self, session: SessionRecord, claim: Claim, watched: object, end: HoldEnd) -> None:
        """End a hold soon after an object is garbage collected."""
        with self._registry.lock:
            if claim not in session.holds:
                return
            action = functools.partial(self.end_hold, session, claim, end, quiet=True)
            # C functions from end to end: what an exception from outside hits in a finalizer is lost.
            self._watches[claim.number] = weakref.ref(watched, types.MethodType(self._time.call_soon, action))

    def end_hold(self, session: SessionRecord, claim: Claim, end: HoldEnd, *, quiet: bool) -> None:
        """End a hold, if it has not ended before."""
        action = functools.partial(self._end_hold, session, claim, end)
        # Both: what asked for the end may ask no more, and where it has ended the session has yet to follow.
        watched = functools.partial(self._reconciler.watched, action, session)
        end_soon = self._reconciler.soon(functools.partial(self.end_hold, session, claim, end, quiet=True))
        error: VoteRejected | None = run_watched(watched, end_soon)
        if not quiet:
            self._reconciler.raise_failure(session, error)

    def _end_hold(self, session: SessionRecord, claim: Claim, end: HoldEnd) -> VoteRejected | None:
        with self._registry.lock:
            if claim not in session.holds:
                return None
            session.holds = tuple(other for other in session.holds if other is not claim)
            self._ended(session, claim, end)
        return self._reconciler.follow(session, Cause.HOLD_ENDED, claim.reason)

    def close(self, session: SessionRecord, timeout_s: float | None) -> list[VoteRejected]:
        """End every hold of a session, then close it; return the failures. The timeout is as for the reconciler's."""
        return self._reconciler.watched(functools.partial(self._close, session, timeout_s), session)

    def _close(self, session: SessionRecord, timeout_s: float | None) -> list[VoteRejected]:
        with self._registry.lock:
            # First, so that no hold begins that nobody would end.
            session.gate.close()
            holds, session.holds = session.holds, ()
            for claim in holds:
                self._ended(session, claim, HoldEnd.SESSION_CLOSED)
        return self._reconciler.close(session, timeout_s)

    def make_cap(self, profile: str | os.PathLike[str] | Profile, reason: str) -> Claim:
        """Return a cap, which is not set.

        Raises:
            ProfileError, SessionClosed: as ``VoteController.cap`` says.
        """
        loaded = self.profiles.load(profile)
        # Without the lock: a finalizer or a signal handler may come here while this thread holds one that comes after
        # it. Each step is one by itself.
        self._registry.require_open()
        self._time.start()
        claim = self._claim("cap", loaded, reason, None)
        self._to_set.add(claim.number)
        return claim

    def set_cap(self, claim: Claim) -> None:
        """Limit every session, unless the cap was lifted before."""
        self._reconciler.watched(functools.partial(self._set_cap, claim), *self._registry.all())

    def _set_cap(self, claim: Claim) -> None:
        with self._registry.lock:
            if claim.number not in self._to_set:
                return
            if claim not in self._registry.caps:
                self._registry.caps = (*self._registry.caps, claim)
                self._events.tell(CapSet, None, cap=claim.profile.name, reason=claim.reason)
            # Last: where an exception from outside comes before, it is set again.
            self._to_set.discard(claim.number)
        self._all_follow(Cause.CAP_SET, claim.reason)

    def lift_cap(self, claim: Claim) -> None:
        """Lift a cap, if it was not lifted before."""
        lift = functools.partial(self._lift_cap, claim)
        self._reconciler.watched(lift, *self._registry.all())

    def _lift_cap(self, claim: Claim) -> None:
        with self._registry.lock:
            self._to_set.discard(claim.number)
            if claim not in self._registry.caps:
                return
            self._registry.caps = tuple(other for other in self._registry.caps if other is not claim)
            self._events.tell(CapLifted, None, cap=claim.profile.name, reason=claim.reason)
        self._all_follow(Cause.CAP_LIFTED, claim.reason)

    def _ended(self, session: SessionRecord, claim: Claim, end: HoldEnd) -> None:
        alarm = self._alarms.pop(claim.number, None)
        if alarm is not None:
            self._time.cancel(alarm)
        self._watches.pop(claim.number, None)
        self._events.tell(HoldEnded, session, held=claim.profile.name, reason=claim.reason, end=end)

    def _claim(self, kind: str, profile: Profile, reason: str, timeout_us: int | None) -> Claim:
        self._planner.plan(profile)
        now_us = self._time.now_us
        return Claim(
            next(self._numbers), kind, profile, reason, now_us, None if timeout_us is None else now_us + timeout_us
        )

    def _all_follow(self, cause: Cause, reason: str) -> None:
        """Let every session follow, side by side."""
        follow = self._reconciler.follow
        actions = [functools.partial(follow, session, cause, reason) for session in self._registry.all()]
        run_side_by_side(self._time, actions)
        self._reconciler.after_turn()
