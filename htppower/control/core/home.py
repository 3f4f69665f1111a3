"""The home of a controller's sessions: the parts that they share, and how host threads have a session settled.

The line is not held when these methods are called.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.control.core.caster import Caster
from htppower.control.core.heartbeat import Heartbeat
from htppower.control.core.lifetimes import Lifetimes
from htppower.control.core.line import Urgency
from htppower.control.core.reconciler import Reconciler
from htppower.errors import VoteRejected, without_frames
from htppower.events import Cause, State

if TYPE_CHECKING:
    from htppower.control.core.engine import Engine
    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.event_bus import EventBus
    from htppower.control.plans.plans import Planner
    from htppower.control.registry import Registry
    from htppower.events import Phase

_BEGINNINGS = frozenset({Cause.INIT_BEGAN, Cause.INFERENCE_BEGAN, Cause.DEINIT_BEGAN})


class Home:
    """The parts that the sessions of one controller share.

    Args:
        engine: has the line, the link and the settings of the process.
        registry: the open sessions.
        planner: makes the plans, which state the votes that each profile should cast here.
        events: delivers events to subscribers.
        calls: makes native calls.
        strict: whether an option that the platform lacks is an error.
        raises: whether a failed vote raises at the begin or the end of a phase.
        heartbeat_us: how long a raised session may make no call; 0 for no heartbeat.

    Attributes:
        number: the number of the controller on its backend, from 1; the engine sets it.
        reconciler: settles the sessions.
        lifetimes: opens and closes the sessions.
        heartbeat: repeats the votes that stay up.
    """

    number: int

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
        heartbeat_us: int,
    ) -> None:
        self.engine = engine
        self.registry = registry
        self.planner = planner
        self.events = events
        self.calls = calls
        self.raises = raises
        caster = Caster(calls, engine.recovery, engine.settings, engine.missing, strict=strict)
        self.reconciler = Reconciler(self, caster)
        self.lifetimes = Lifetimes(self, caster, self.reconciler)
        self.heartbeat = Heartbeat(self, engine.time, heartbeat_us)

    def __str__(self) -> str:
        """Return the number of the controller, and the owners of its sessions."""
        owners = [session.owner for session in self.registry.all() if session.owner]
        return f"controller {self.number}" + (f" ({', '.join(owners)})" if owners else "")

    def settle(
        self,
        session: SessionRecord,
        cause: Cause,
        phase: Phase | None = None,
        *,
        quiet: bool = False,
        waits: int | None = None,
    ) -> None:
        """Let the reconciler settle a session, and wait until it is settled.

        Args:
            session: the session to settle.
            cause: why the session is settled.
            phase: the phase that begins or ends, if one does.
            quiet: do not raise an error for a failed call.
            waits: when an inference began to wait for its votes, in ns; None if no inference waits.

        Raises:
            VoteRejected: a call failed, the session has no votes that are known to be in force, and the controller has
                ``on_error="raise"``.
            SessionClosed: a phase begins on a session that is closed, or was closed while the phase waited.
        """
        begins = cause in _BEGINNINGS
        if begins and session.gate.closing:
            self.registry.require_live(session)
            return
        error = None
        if session.state is not State.DESTROYED:
            urgency = Urgency.RAISE if begins else Urgency.LOWER
            step = functools.partial(self.reconciler.settle_for, session, cause, phase, waits)
            error = self.engine.run(step, urgency)
        self.after_settling(session, error, begins=begins, quiet=quiet)

    def after_settling(self, session: SessionRecord, error: VoteRejected | None, *, begins: bool, quiet: bool) -> None:
        """Raise the errors of a phase after its session was settled.

        Raises:
            VoteRejected, SessionClosed: for the same reasons as in ``settle``.
        """
        if begins and (session.gate.closing or session.state is State.DESTROYED):
            self.registry.require_live(session)
        if error is not None:
            try:
                self.raise_failure(session, error, quiet=quiet)
            finally:
                # The traceback refers to this frame and to the frame of the inference. Without this line, the error
                # would keep the inference's token and inputs alive in a reference cycle.
                del error

    def settle_soon(self, session: SessionRecord, cause: Cause, phase: Phase | None = None) -> None:
        """Let the worker settle a session, without waiting. Alarms call this."""
        urgency = Urgency.RAISE if cause is Cause.INFERENCE_EXPECTED else Urgency.LOWER
        self.engine.post(functools.partial(self.reconciler.settle, session, cause, phase), urgency)

    def raise_failure(self, session: SessionRecord, error: VoteRejected | None, *, quiet: bool = False) -> None:
        """Raise a failed call if the controller has ``on_error="raise"`` and the session has no votes in force.

        Raises:
            VoteRejected: the call that failed.
        """
        lacks_votes = session.state in (State.UNKNOWN, State.UNVOTED)
        try:
            if error is not None and lacks_votes and self.raises and not quiet:
                raise without_frames(error)
        finally:
            del error

    def raise_first(self, failures: list[VoteRejected]) -> None:
        """Raise the first failed call of a close if the controller has ``on_error="raise"``.

        Raises:
            VoteRejected: the call that failed.
        """
        if failures and self.raises:
            raise without_frames(failures[0])
