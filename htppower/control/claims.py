"""Choosing: it sees to it that every session uses the profile that its own, its holds and the caps come to.

A change of any of them is a change of profile in the machine's terms: at once if votes are raised, otherwise at the
next raise; a pending sustain ends.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from typing import TYPE_CHECKING, Any

from htppower.control.precedence import Claim, in_use
from htppower.events import CapLifted, CapSet, Cause, HoldBegan, HoldEnd, HoldEnded, State

if TYPE_CHECKING:
    from htppower.control.event_bus import Journal
    from htppower.control.gate import Usage
    from htppower.control.plans import Plan, Planner
    from htppower.control.reconciler import Keeper
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.profiles.profile import Profile


class Chooser:
    """The holds of all sessions and the caps. The keeper's lock protects it, and every method takes it.

    Args:
        keeper, planner, journal, time: changes plans, makes them, is told, and gives clock and alarms.
    """

    def __init__(self, keeper: Keeper, planner: Planner, journal: Journal, time: Time) -> None:
        self.caps: tuple[Claim, ...] = ()
        self._keeper = keeper
        self._planner = planner
        self._journal = journal
        self._time = time
        self._numbers = itertools.count(1)
        # What ends a hold after its timeout, by the number of its claim.
        self._alarms: dict[int, Any] = {}
        # What ends a hold with an object, likewise. Kept here, so that nothing watches for a hold that has ended.
        self._watches: dict[int, weakref.finalize[Any, Any]] = {}

    def plan(self, profile: Profile) -> Plan:
        """Return what a new session casts of a profile of its own.

        Raises:
            RuleBreach: a rule refuses the profile, or the cap's, on this platform.
        """
        with self._keeper.lock:
            self._planner.plan(profile)
            return self._planner.plan(in_use(profile, (), self.caps)[0])

    def take_in(self, session: Usage) -> None:
        """Note what decides the profile of a session that is being opened."""
        _, session.decided_by = in_use(session.own, session.holds, self.caps)

    def own(self, session: Usage, profile: Profile) -> None:
        """Change a session's own profile."""
        with self._keeper.lock:
            self._keeper.require_open(session)
            self._planner.plan(profile)
            session.own = profile
            error = self._choose(session, Cause.PROFILE_CHANGED, None)
        self._keeper.raise_failure(session, error)

    def hold(self, session: Usage, profile: Profile, reason: str, timeout_us: int | None) -> Claim:
        """Begin a hold on a session, and return it.

        Raises:
            VoteRejected: a call failed and the controller has ``on_error="raise"``; the hold has then not begun.
        """
        with self._keeper.lock:
            self._keeper.require_open(session)
            claim = self._claim("hold", profile, reason, timeout_us)
            if session.state is State.DESTROYED:
                # The process is being ended, or is a forked child: let it pass, without effect.
                return claim
            session.holds = (*session.holds, claim)
            self._journal.tell(HoldBegan, session, held=profile.name, reason=reason, until_us=claim.until_us)
            try:
                error = self._choose(session, Cause.HOLD_BEGAN, reason)
                self._keeper.raise_failure(session, error)
                if claim.until_us is not None:
                    end = functools.partial(self.end_hold, session, claim, HoldEnd.TIMEOUT, quiet=True)
                    self._alarms[claim.number] = self._time.call_at(claim.until_us, end)
            except BaseException:
                # Nobody gets the handle, so nobody would end it.
                self.end_hold(session, claim, HoldEnd.RELEASED, quiet=True)
                raise
            return claim

    def watch(self, session: Usage, claim: Claim, watched: object, end: HoldEnd) -> None:
        """End a hold soon after an object is garbage collected."""
        with self._keeper.lock:
            if claim not in session.holds:
                return
            action = functools.partial(self.end_hold, session, claim, end, quiet=True)
            watch = weakref.finalize(watched, self._time.call_soon, action)
            watch.atexit = False
            self._watches[claim.number] = watch

    def end_hold(self, session: Usage, claim: Claim, end: HoldEnd, *, quiet: bool) -> None:
        """End a hold, if it has not ended before."""
        with self._keeper.lock:
            if claim not in session.holds:
                return
            session.holds = tuple(other for other in session.holds if other is not claim)
            self._ended(session, claim, end)
            error = self._choose(session, Cause.HOLD_ENDED, claim.reason)
        if not quiet:
            self._keeper.raise_failure(session, error)

    def end_holds(self, session: Usage) -> None:
        """End every hold of a session that is being closed: it changes its profile no more."""
        with self._keeper.lock:
            holds, session.holds = session.holds, ()
            for claim in holds:
                self._ended(session, claim, HoldEnd.SESSION_CLOSED)

    def set_cap(self, profile: Profile, reason: str) -> Claim:
        """Limit every session, and return the cap."""
        with self._keeper.lock:
            claim = self._claim("cap", profile, reason, None)
            self.caps = (*self.caps, claim)
            self._journal.tell(CapSet, None, cap=profile.name, reason=reason)
            try:
                self._choose_for_all(Cause.CAP_SET, reason)
            except BaseException:
                # Nobody gets the handle, so nobody would lift it.
                self.lift_cap(claim)
                raise
            return claim

    def lift_cap(self, claim: Claim) -> None:
        """Lift a cap, if it was not lifted before."""
        with self._keeper.lock:
            if claim not in self.caps:
                return
            self.caps = tuple(other for other in self.caps if other is not claim)
            self._journal.tell(CapLifted, None, cap=claim.profile.name, reason=claim.reason)
            self._choose_for_all(Cause.CAP_LIFTED, claim.reason)

    def _ended(self, session: Usage, claim: Claim, end: HoldEnd) -> None:
        alarm = self._alarms.pop(claim.number, None)
        if alarm is not None:
            self._time.cancel(alarm)
        watch = self._watches.pop(claim.number, None)
        if watch is not None:
            watch.detach()
        self._journal.tell(HoldEnded, session, held=claim.profile.name, reason=claim.reason, end=end)

    def _claim(self, kind: str, profile: Profile, reason: str, timeout_us: int | None) -> Claim:
        self._planner.plan(profile)
        now_us = self._time.now_us
        return Claim(
            next(self._numbers), kind, profile, reason, now_us, None if timeout_us is None else now_us + timeout_us
        )

    def _choose(self, session: Usage, cause: Cause, reason: str | None) -> VoteRejected | None:
        chosen, session.decided_by = in_use(session.own, session.holds, self.caps)
        return self._keeper.use(session, self._planner.plan(chosen), cause, reason)

    def _choose_for_all(self, cause: Cause, reason: str) -> None:
        """Choose for every session, also where an exception such as Ctrl-C passes through; it is raised then."""
        interrupt: BaseException | None = None
        for session in tuple(self._keeper.sessions.values()):
            try:
                self._choose(session, cause, reason)
            except BaseException as error:  # noqa: BLE001 - raised below, when it was chosen for every session
                interrupt = interrupt or error
        if interrupt is not None:
            raise interrupt
