"""What a session takes in before and after its steps: lost links, ends of INIT, and what its profile comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.precedence import in_use
from htppower.events import Cause, ProfileChanged, State

if TYPE_CHECKING:
    from htppower.control.event_bus import EventBus
    from htppower.control.plans import Planner
    from htppower.control.process_settings import ProcessSettings
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord
    from htppower.control.session_transitions import SessionTransitions


class SessionUpdates:
    """Takes in what has changed for a session. Its turn is held.

    Each compares what the session knows with what is, and may be done again: so nothing is lost where an exception such
    as Ctrl-C keeps it from being taken in at once.

    Args:
        registry, settings, transitions, events: has epoch and caps, may be lost at the end of INIT, takes in that votes
            are lost, and is told.
        planner: makes of a profile what a session casts on this platform.
    """

    def __init__(
        self,
        registry: Registry,
        settings: ProcessSettings,
        transitions: SessionTransitions,
        events: EventBus,
        planner: Planner,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._transitions = transitions
        self._events = events
        self._planner = planner

    def take_in_losses(self, session: SessionRecord, cause: Cause) -> None:
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

    def take_in_plan(self, session: SessionRecord, cause: Cause, reason: str | None) -> bool:
        """Let a session cast what its profile, its holds, the caps and the platform come to; return whether it changes.

        Its profile, in the place of its own, is told; what the library has refused as not on this platform is left out.
        """
        if self.has_own_plan(session) or session.gone or session.gate.closing:
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
            self._events.tell(ProfileChanged, session, before=before.profile.name, cause=cause, reason=reason)
        self._transitions.tell_degradations(session, before.degradations)
        return True

    def has_own_plan(self, session: SessionRecord) -> bool:
        """Return whether a session's plan is that of its own profile, of which nothing takes the place."""
        plan = session.plan
        replaced = session.holds or self._registry.caps or session.decided_by
        return plan.profile is session.own and plan.missing == len(self._planner.missing) and not replaced

    def take_in_inits(self, session: SessionRecord) -> None:
        """Know no longer what is in force once an INIT has ended, so that the next raise sends everything.

        Votes cast before a graph's context exists may be lost.
        """
        ended = session.gate.inits
        if session.inits != ended:
            session.forget()
            self._settings.forget()
            session.gate.shut()
            if not session.plan.raised:
                session.gate.set_open()
            session.inits = ended
