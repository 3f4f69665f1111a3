"""The reconciler: it keeps what is in force in line with what every session should have.

``Stepper.settle`` compares what a session should have with its state, and makes the transitions between them. A
``lose`` is made also where a call outside of these fails: that of the heartbeat, and one that creates an id as a
session opens. Phases that begin and end, alarms, changes of profile, a restart of the DSP and retries all come here, so
that none of them needs rules of its own. The reconciler holds the session's turn meanwhile, and looks at no other
session: who else is concerned joins a queue, and is settled when the turn is given back.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, TypeVar

import attrs

from htppower.control.time.interrupts import run_watched
from htppower.control.time.locks import comes_free, is_held, run_if_free
from htppower.errors import VoteRejected, without_frames
from htppower.events import Cause, ColdStart, State
from htppower.votes.native_codes import LINK_LOST, code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.event_bus import EventBus
    from htppower.control.core.other_controllers import OtherControllers
    from htppower.control.core.plans import Planner
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.stepper import Stepper
    from htppower.control.time.base import Time
    from htppower.events import Phase

_T = TypeVar("_T")
_BEGINNINGS = frozenset({Cause.INIT_BEGAN, Cause.INFERENCE_BEGAN, Cause.DEINIT_BEGAN})


@attrs.define(eq=False, repr=False)
class Reconciler:
    """Settles sessions.

    Args:
        planner: knows what the platform was found to lack.
        others: hear of a lost link.
        raises: whether a failed vote raises where a phase begins or ends.
    """

    _registry: Registry
    _stepper: Stepper
    _recovery: Recovery
    _events: EventBus
    _time: Time
    _planner: Planner
    _others: OtherControllers
    _raises: bool = attrs.field(kw_only=True)
    _known_missing: int = attrs.field(init=False, default=0)

    def watched(self, action: Callable[[], _T], *sessions: SessionRecord) -> _T:
        """Run an action that changes sessions, and return what it returns; settle them soon where it is interrupted."""
        return run_watched(action, self.soon(functools.partial(self._make_up, sessions)))

    def soon(self, action: Callable[[], object]) -> Callable[[], object]:
        """Return what runs an action on another thread: it takes no lock, and is one call of a function in C."""
        return functools.partial(self._time.call_soon, action)

    def settle(self, session: SessionRecord, cause: Cause, phase: Phase | None = None, *, quiet: bool = False) -> None:
        """Bring what is in force in line with what a session should have. With ``quiet``, no failed call is raised.

        Raises:
            VoteRejected: a call failed, nothing is known to be in force, and the controller has ``on_error="raise"``.
            SessionClosed: a phase begins on a session that is closed, or was closed meanwhile.
        """
        begins = cause in _BEGINNINGS
        if begins and session.gate.closing:
            # First: its turn may be held over a call that hangs.
            self._registry.require_live(session)
            return
        error = None if session.state is State.DESTROYED else self._in_turn(session, cause, phase)
        if begins and (session.gate.closing or session.state is State.DESTROYED):
            self._registry.require_live(session)
        if error is not None:
            try:
                self.raise_failure(session, error, quiet=quiet)
            finally:
                # Its traceback holds this frame, and that of the inference, with its token and its inputs.
                del error

    def note_cold_start(self, session: SessionRecord, wait_us: int) -> None:
        """Count and tell that an inference has waited for a call, for so long."""
        session.gate.add_cold_start(wait_us)
        self._events.tell(ColdStart, session, wait_us=wait_us)
        self._events.deliver()

    def alarm_rang(self, session: SessionRecord, cause: Cause) -> None:
        """Settle a session whose alarm rings."""
        self.watched(functools.partial(self._settle_when_free, session, cause), session)

    def settle_soon(self, session: SessionRecord, cause: Cause) -> None:
        """Settle a session on another thread, without waiting for it."""
        self._time.spawn(functools.partial(self.alarm_rang, session, cause))

    def follow(self, session: SessionRecord, cause: Cause, reason: str | None) -> VoteRejected | None:
        """Let a session use what its own profile, its holds and the caps come to.

        That is at once if votes are raised, otherwise at the next raise. Return the call that failed.
        """
        return self._in_turn(session, cause, reason=reason, only_if_changed=True)

    def close(self, session: SessionRecord, timeout_s: float | None) -> list[VoteRejected]:
        """Lower, give back, destroy: each step, even if the one before failed. Return the failures.

        The session's gate is closed. Where another thread has the session's turn for longer than the timeout, it closes
        the session, when its call returns.
        """
        failures: list[VoteRejected] = []
        if session.number in self._registry.sessions:
            if timeout_s is not None and not comes_free(session.turn, timeout_s):
                self._settle_when_free(session, Cause.SESSION_CLOSED)
            else:
                self._in_turn(session, Cause.SESSION_CLOSED, failures=failures)
        return failures

    def raise_failure(self, session: SessionRecord, error: VoteRejected | None, *, quiet: bool = False) -> None:
        """Raise what a call failed with, where the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: see there.
        """
        missing = session.state in (State.UNKNOWN, State.UNVOTED)
        try:
            if error is not None and missing and self._raises and not quiet:
                raise without_frames(error)
        finally:
            del error

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
        phase: Phase | None = None,
        failures: list[VoteRejected] | None = None,
        *,
        reason: str | None = None,
        only_if_changed: bool = False,
    ) -> VoteRejected | None:
        """Settle a session in its turn, as ``Stepper.settle``; return the call that failed."""
        if is_held(session.turn):
            # A signal handler, in the middle of this very turn.
            session.again = cause
            return None
        settle = self._stepper.settle
        with session.turn:
            settled = settle(session, cause, phase, failures, reason=reason, only_if_changed=only_if_changed)
        while settled.again:
            self.after_turn()
            with session.turn:
                settled = settle(session, Cause.LINK_LOST, phase, failures)
        self._settle_if_asked(session)
        return settled.error

    def if_free(self, session: SessionRecord, action: Callable[[], object]) -> None:
        """Run an action in a session's turn, unless another thread has it: it makes a call, or has made one."""
        self.watched(functools.partial(self._run_if_free, session, action), session)

    def _run_if_free(self, session: SessionRecord, action: Callable[[], object]) -> None:
        if run_if_free(session.turn, action):
            self._settle_if_asked(session)

    def _settle_if_asked(self, session: SessionRecord) -> None:
        """Settle what was asked for while another thread, or this one, had the turn; to be called after each turn."""
        while session.again is not None:
            # Others need not wait for its calls.
            self._settle_queued()
            if not run_if_free(session.turn, functools.partial(self._settle_again, session)):
                break
        self.after_turn()

    def _settle_again(self, session: SessionRecord) -> None:
        cause, session.again = session.again, None
        if cause is not None and self._stepper.settle(session, cause).again:
            session.again = Cause.LINK_LOST

    def _settle_when_free(self, session: SessionRecord, cause: Cause) -> None:
        """Settle a session now, or let whoever has its turn settle it: no thread of ours waits for another's call."""
        if session.number not in self._registry.sessions:
            self._recovery.done(session)
            return
        session.again = cause
        self._settle_if_asked(session)

    def _make_up(self, sessions: Iterable[SessionRecord]) -> None:
        """Settle sessions at which an interrupt has passed; the back-off does where one passes here, too."""
        for session in sessions:
            self._recovery.lacks(session)
            self._time.spawn(functools.partial(self._settle_when_free, session, Cause.RETRIED))

    def link_lost(self, code: int) -> None:
        """Take in that a call of the host's own was answered with a lost link; the sessions are settled elsewhere.

        Raises:
            ValueError: the code does not say so.
        """
        if code not in LINK_LOST:
            known = " or ".join(f"{each} ({code_name(each)})" for each in sorted(LINK_LOST))
            raise ValueError(f"code is {code!r}: {known}")
        take_in = functools.partial(self._take_in_loss, code)
        run_watched(take_in, functools.partial(self._time.call_soon, take_in))

    def _take_in_loss(self, code: int) -> None:
        if self._registry.opening or self._registry.all() or not self._others.none:
            self._others.link_lost(VoteRejected(code, function="graphExecute"))
            self.after_turn()

    def after_turn(self) -> None:
        """Settle the sessions that what happened in a turn concerns, and deliver the events of it."""
        if len(self._planner.missing) != self._known_missing:
            self._known_missing = len(self._planner.missing)
            for session in self._registry.all():
                self.settle_soon(session, Cause.RETRIED)
        if not self._recovery.calm:
            self._settle_queued()
        self._events.deliver()

    def _settle_queued(self) -> None:
        queued: dict[SessionRecord, Cause] = {}
        try:
            queued = self._recovery.take_queue()
            self._settle_all_soon(queued)
        finally:
            if queued:
                self._recovery.queue_again(queued)

    def _settle_all_soon(self, queued: dict[SessionRecord, Cause]) -> None:
        while queued:
            session = next(iter(queued))
            self.settle_soon(session, queued[session])
            del queued[session]
