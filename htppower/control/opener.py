"""Opening sessions: their ids are created, and they are taken in, or nothing stays of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.desired import Step
from htppower.control.recovery import MOST_RESTARTS
from htppower.errors import VoteRejected, without_frames
from htppower.events import Cause, SessionOpened, Trigger
from htppower.votes.native_codes import LINK_LOST, TRANSPORT

if TYPE_CHECKING:
    from htppower.control.event_bus import EventBus
    from htppower.control.executor import Executor
    from htppower.control.power_config_ids import PowerConfigIds
    from htppower.control.reconciler import Reconciler
    from htppower.control.recovery import Recovery
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord
    from htppower.control.session_transitions import SessionTransitions
    from htppower.control.stepper import Stepper

# The DSP is out of reach, not the id: a session opens nevertheless, and its ids are created later.
_DSP_OUT_OF_REACH = LINK_LOST | {TRANSPORT}


class Opener:
    """Opens sessions.

    Args:
        registry, ids, executor, transitions, recovery, stepper, reconciler, events: has those that are open, creates
            ids, gives them back, takes in that there are none, tries again, knows a restart, settles others, is told.
    """

    def __init__(
        self,
        registry: Registry,
        ids: PowerConfigIds,
        executor: Executor,
        transitions: SessionTransitions,
        recovery: Recovery,
        stepper: Stepper,
        reconciler: Reconciler,
        events: EventBus,
    ) -> None:
        self._registry = registry
        self._ids = ids
        self._executor = executor
        self._transitions = transitions
        self._recovery = recovery
        self._stepper = stepper
        self._reconciler = reconciler
        self._events = events

    def open(self, session: SessionRecord) -> None:
        """Create a session's ids, take it in, and let it follow the caps that were set and lifted meanwhile.

        Raises:
            VoteRejected: an id can't be created although the DSP is in reach.
            SessionClosed: the controller was closed meanwhile.
        """
        try:
            for again in reversed(range(MOST_RESTARTS)):
                if self._take_in(session, again=again > 0):
                    break
                # The others are voted side by side with this one.
                self._reconciler.after_turn()
            self._reconciler.follow(session, Cause.SESSION_OPENED, None)
            self._reconciler.after_turn()
        except BaseException:
            # Nobody gets the session, so nobody would close it.
            try:
                self._give_back(session)
            finally:
                self._reconciler.after_turn()
            raise

    def _take_in(self, session: SessionRecord, *, again: bool) -> bool:
        """Create a session's ids and take it in; return False where the DSP has just restarted, to try again."""
        with session.turn:
            error = self._create_ids(session) if session.plan.raised else None
            if again and self._stepper.restarted(error):
                return False
            with self._registry.lock:
                # Closing the controller notes that first, and looks then who is open.
                self._registry.require_open()
                self._registry.sessions[session.number] = session
            ids = tuple(session.power_config_ids.values())
            self._events.tell(SessionOpened, session, power_config_ids=ids)
            self._transitions.tell_degradations(session, ())
            if not session.plan.raised:
                session.gate.set_open()
            elif error is not None:
                self._transitions.lose(session, error, Cause.SESSION_OPENED)
                self._recovery.failed(session, error)
            return True

    def _create_ids(self, session: SessionRecord) -> VoteRejected | None:
        """Create the ids of a session; return why the DSP is out of reach.

        Raises:
            VoteRejected: an id can't be created although the DSP is in reach.
        """
        if self._recovery.waiting:
            return self._recovery.error
        try:
            if session.epoch != (epoch := self._registry.epoch):
                # The library may know those no longer that were created before the DSP restarted.
                session.doubted = frozenset(session.ledgers)
                session.epoch = epoch
            for core_id in session.core_ids:
                self._ids.create(session, core_id)
        except VoteRejected as rejected:
            if rejected.code in _DSP_OUT_OF_REACH:
                return without_frames(rejected)
            raise
        return None

    def _give_back(self, session: SessionRecord) -> None:
        """Destroy the ids of a session that does not open."""
        if session.number in self._registry.sessions:
            session.gate.close()
            self._reconciler.close(session, None)
            return
        with session.turn:
            failures = self._executor.run(session, Step(Trigger.DESTROY)).not_given_back
        for _, failed in failures:
            self._recovery.failed(None, failed)
