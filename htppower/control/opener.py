"""Opening sessions: the ids of one are created and it is taken in, or nothing stays of it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.control.core.recovery import MOST_RESTARTS
from htppower.errors import VoteRejected, without_frames
from htppower.events import Cause, SessionOpened
from htppower.votes.native_codes import LINK_LOST, TRANSPORT

if TYPE_CHECKING:
    from htppower.control.core.event_bus import EventBus
    from htppower.control.core.executor import Executor
    from htppower.control.core.power_config_ids import PowerConfigIds
    from htppower.control.core.reconciler import Reconciler
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.remains import Remains
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.state_machine import SessionTransitions
    from htppower.control.core.stepper import Stepper

# The DSP is out of reach, not the id: a session opens nevertheless, and its ids are created later.
_DSP_OUT_OF_REACH = LINK_LOST | {TRANSPORT}


@attrs.define(eq=False, repr=False)
class Opener:
    """Opens sessions."""

    _registry: Registry
    _ids: PowerConfigIds
    _executor: Executor
    _transitions: SessionTransitions
    _recovery: Recovery
    _stepper: Stepper
    _reconciler: Reconciler
    _remains: Remains
    _events: EventBus

    def open(self, session: SessionRecord) -> None:
        """Create a session's ids, take it in, and let it follow the caps that were set and lifted meanwhile.

        Raises:
            VoteRejected: an id can't be created although the DSP is in reach.
            SessionClosed: the controller was closed meanwhile.
        """
        give_back_soon = self._reconciler.soon(functools.partial(self._give_up, session))
        try:
            self._registry.opening.add(session)
            for again in reversed(range(MOST_RESTARTS)):
                if self._take_in(session, again=again > 0):
                    break
                # The others are voted side by side with this one.
                self._reconciler.after_turn()
            self._reconciler.follow(session, Cause.SESSION_OPENED, None)
            self._reconciler.after_turn()
            # Here: where an exception such as Ctrl-C comes as it returns, nobody gets the session.
            self._registry.opening.discard(session)
        except BaseException:
            # Nobody gets the session, so nobody would close it.
            give_back_soon()
            try:
                self._give_up(session)
            finally:
                self._registry.opening.discard(session)
            raise

    def _take_in(self, session: SessionRecord, *, again: bool) -> bool:
        """Create a session's ids and take it in; return False where the DSP has just restarted, to try again."""
        with session.turn:
            error = self._create_ids(session) if session.plan.casts else None
            if again and self._stepper.restarted(error):
                return False
            with self._registry.lock:
                # Closing the controller notes that first, and looks then who is open.
                self._registry.require_open()
                self._registry.sessions[session.number] = session
                if self._registry.record is not None:
                    session.gate.record(self._registry.record)
            ids = tuple(session.power_config_ids.values())
            self._events.tell(SessionOpened, session, power_config_ids=ids)
            self._transitions.tell_degradations(session, ())
            if not session.plan.casts:
                session.gate.set_open()
            elif error is not None:
                self._transitions.lose(session, error, Cause.SESSION_OPENED)
                self._recovery.failed(session, error)
                # A restart that is told from here on finds it among the open ones.
                if self._stepper.restarted(error):
                    session.again = Cause.LINK_LOST
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

    def _give_up(self, session: SessionRecord) -> None:
        try:
            self._give_back(session)
        finally:
            self._reconciler.after_turn()

    def _give_back(self, session: SessionRecord) -> None:
        """Destroy the ids of a session that does not open."""
        if session.number in self._registry.sessions:
            session.gate.close()
            self._reconciler.close(session, None)
            return
        with session.turn:
            failures = self._executor.run(session, None).not_given_back
        for _, failed in failures:
            self._recovery.failed(None, failed)
        if self._registry.orphans and self._registry.closed:
            # The controller may have ended, so that no back-off follows: what fails is tried a second time.
            self._remains.destroy_orphans()
            self._remains.destroy_orphans()
