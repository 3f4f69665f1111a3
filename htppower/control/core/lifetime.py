"""Opening and closing sessions.

Of one that opens the ids are created and it is taken in, or nothing stays of it. Those that close do so side by side,
and native calls that hang are given up on.
"""

from __future__ import annotations

import functools
import time as clock
from typing import TYPE_CHECKING

import attrs

from htppower.control.core.recovery import MOST_RESTARTS
from htppower.control.time.side_by_side import run_side_by_side
from htppower.errors import CloseTimedOut, VoteRejected, without_frames
from htppower.events import Cause, SessionOpened
from htppower.votes.native_codes import LINK_LOST, TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.control.core.event_bus import EventBus
    from htppower.control.core.executor import Executor
    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.power_config_ids import PowerConfigIds
    from htppower.control.core.reconciler import Reconciler
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.remains import Remains
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.state_machine import SessionTransitions
    from htppower.control.core.stepper import Stepper
    from htppower.control.time.base import Time

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
            for again in reversed(range(MOST_RESTARTS)):
                if self._take_in(session, again=again > 0):
                    break
                # The others are voted side by side with this one.
                self._reconciler.after_turn()
            self._reconciler.follow(session, Cause.SESSION_OPENED, None)
            self._reconciler.after_turn()
        except BaseException:
            # Nobody gets the session, so nobody would close it.
            give_back_soon()
            self._give_up(session)
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
        if failures and self._registry.closed:
            # No back-off follows: this is the second try, as closing makes one.
            self._remains.destroy_orphans()


@attrs.define(eq=False, repr=False)
class Closer:
    """Closes sessions, and what is left of a controller after them.

    Args:
        close_one: ends what is asked of a session, then closes it within a time; returns the failures.
    """

    _registry: Registry
    _reconciler: Reconciler
    _remains: Remains
    _calls: NativeCalls
    _time: Time
    _close_one: Callable[[SessionRecord, float | None], list[VoteRejected]]

    def close(self, session: SessionRecord, timeout_s: float | None) -> None:
        """Close a session.

        Raises:
            CloseTimedOut, VoteRejected: as ``Session.close`` says.
        """
        self._reconciler.raise_first(self._close([session], timeout_s))

    def close_all(self, sessions: Sequence[SessionRecord], timeout_s: float | None) -> tuple[bool, list[VoteRejected]]:
        """Close the sessions of a controller, and bring down what is left after them.

        Return whether nothing is left, and the failures.

        Raises:
            CloseTimedOut: as ``VoteController.close`` says.
        """
        end_s = None if timeout_s is None else clock.monotonic() + timeout_s
        failures = self._close(sessions, timeout_s)
        ended: list[bool] = []
        left_s = None if end_s is None else max(0.0, end_s - clock.monotonic())
        hangs = run_side_by_side(self._time, [lambda: ended.append(self._remains.stop())], left_s)
        if timeout_s is not None and hangs:
            raise CloseTimedOut(timeout_s, (), self._calls.under_way)
        return ended[0], failures

    def _close(self, sessions: Sequence[SessionRecord], timeout_s: float | None) -> list[VoteRejected]:
        """Close sessions side by side; return the failures.

        Raises:
            CloseTimedOut: one is not closed within the time; its cause is the first failure of the others.
        """
        failures: list[VoteRejected] = []

        def close(session: SessionRecord) -> None:
            failures.extend(self._close_one(session, timeout_s))

        run_side_by_side(self._time, [functools.partial(close, session) for session in sessions], timeout_s)
        # Until its end was told, whoever destroyed its ids.
        left = [session.number for session in sessions if session.number in self._registry.sessions]
        if timeout_s is not None and left:
            calls = self._calls.under_way
            # Where they make none they wait for another's, such as the one that casts the settings of the process.
            own = [call for call in calls if call.session in left]
            raise CloseTimedOut(timeout_s, left, own or calls) from next(iter(failures), None)
        return failures
