"""The use that is made of a session: its counts, its deadline, its timer, and the gate of the hot path.

An inference inside a sustain window costs a lock, a counter and a clock read; it makes no call, touches no timer and
takes no lock that a native call of another session may hold. Everything else goes through the keeper's ``settle``,
which asks ``decide`` what the session should have, and compares that with what is in force.

Locks: the keeper's lock may be held when a session's lock is taken, never the other way round.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from htppower.control.history import Record
from htppower.events import Cause, Phase, State
from htppower.profiles.profile import Lowering

if TYPE_CHECKING:
    from htppower.control.plans import Plan
    from htppower.control.ports import Keeper
    from htppower.control.precedence import Claim
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoteSet

_LOGGER = logging.getLogger("htppower")


class Usage:
    """What the keeper and the phases know of a session. The public face is ``Session``."""

    __slots__ = (
        "__weakref__",
        "_alarm",
        "_alarm_us",
        "_background",
        "_begun",
        "_closing",
        "_in_flight",
        "_keep_until_us",
        "_keeper",
        "_lock",
        "_plan",
        "_preparing",
        "_ready",
        "_state",
        "_sustain_us",
        "_time",
        "core_ids",
        "decided_by",
        "device_id",
        "error",
        "holds",
        "ids_doubted",
        "number",
        "own",
        "owner",
        "power_config_ids",
        "record",
        "wish",
    )

    def __init__(
        self,
        keeper: Keeper,
        time: Time,
        plan: Plan,
        own: Profile,
        number: int,
        device_id: int,
        core_ids: tuple[int, ...],
        owner: str | None,
    ) -> None:
        self.number = number
        self.owner = owner
        self.device_id = device_id
        self.core_ids = core_ids
        # What the keeper knows about the session, under its lock.
        self.power_config_ids: dict[int, int] = {}
        self.ids_doubted = False
        self.wish: VoteSet | None = None
        self.error: VoteRejected | None = None
        self.record = Record(time.now_us)
        # The profile that it was opened with or that ``use`` gave it, and what takes its place.
        self.own = own
        self.holds: tuple[Claim, ...] = ()
        self.decided_by: Claim | None = None
        self._state = State.UNVOTED
        self._keeper = keeper
        self._time = time
        # What the hot path keeps, under the session's own lock.
        self._lock = threading.Lock()
        self._in_flight = 0
        self._begun = 0
        self._preparing = 0
        self._keep_until_us = 0
        self._alarm: Any = None
        self._alarm_us = 0
        self._ready = False
        self._closing = False
        self.plan = plan

    @property
    def state(self) -> State:
        """What is known of the session's votes."""
        return self._state

    @property
    def in_flight(self) -> int:
        """How many inferences are running."""
        return self._in_flight

    @property
    def plan(self) -> Plan:
        """What the session casts on this platform."""
        return self._plan

    @plan.setter
    def plan(self, plan: Plan) -> None:
        with self._lock:
            self._plan = plan
            self._sustain_us = plan.after_inference_us
            self._background = plan.lowering is Lowering.BACKGROUND
            self._ready = False

    @property
    def begun(self) -> int:
        """How many inferences have begun without waiting for a call."""
        return self._begun

    @property
    def deadline_us(self) -> int:
        """When the votes of an idle session are to come down."""
        return self._keep_until_us

    @property
    def sustained_until_us(self) -> int | None:
        """When an idle session's votes come down, unless an inference begins before; None where they are not kept."""
        with self._lock:
            kept = self._state is State.RAISED and self._alarm is not None and not self._in_flight
            return self._keep_until_us if kept else None

    def decide(self) -> State:
        """Return the state that the session should be in, and see to it that an alarm is armed where it needs one.

        From the moment that it says LOWERED, a beginning inference settles instead of taking the hot path.
        """
        with self._lock:
            if self._closing:
                voted = self._state in (State.RAISED, State.UNKNOWN) and self.power_config_ids
                return State.LOWERED if voted else self._state
            if not self._plan.raised:
                return State.UNVOTED
            if self._in_flight or self._preparing:
                return State.RAISED
            if self._state is State.UNVOTED:
                return State.UNVOTED
            if self._time.now_us < self._keep_until_us and self._state is not State.LOWERED and self._arm():
                return State.RAISED
            self._ready = False
            return State.LOWERED

    def set_ready(self, ready: bool) -> None:
        """Open or shut the hot path: open while the profile's votes are known to be in force, or there are none."""
        with self._lock:
            self._ready = ready and not self._closing

    @property
    def ready(self) -> bool:
        """Whether the hot path is open."""
        return self._ready

    @property
    def closing(self) -> bool:
        """Whether the session is being closed."""
        return self._closing

    def end_sustain(self) -> None:
        """End a pending sustain."""
        with self._lock:
            self._keep_until_us = 0
            self._disarm()

    def shut(self) -> None:
        """Begin no phase from now on, and run no timer."""
        with self._lock:
            self._closing = True
            self._ready = False
            self._disarm()

    def disown(self) -> None:
        """In a forked child: make phases cost nothing and cast nothing, with a lock of the child's own."""
        self._lock = threading.Lock()
        self._state = State.DESTROYED
        self.holds = ()
        self._ready = True
        self._alarm, self._alarm_us = self, 0  # an alarm that never rings, so that none is armed again

    def begin(self, cause: Cause, phase: Phase, *, preparing: bool) -> None:
        """Begin a phase: return when the votes are in force."""
        counted = 0
        try:
            with self._lock:
                if preparing:
                    self._preparing += 1
                else:
                    self._in_flight += 1
                counted = 1
                if self._ready:
                    self._begun += not preparing
                    return
            self._keeper.settle(self, cause, phase)
        except BaseException:
            # The phase does not begin, so nobody will end it.
            with self._lock:
                if preparing:
                    self._preparing -= counted
                else:
                    self._in_flight -= counted
            self._keeper.settle(self, cause, phase, quiet=True)
            raise

    def end_soon(self) -> None:
        """End an inference on another thread: a generator may be collected where this one holds a lock of ours."""
        self._time.call_soon(self.end)

    def end_preparation_soon(self, phase: Phase) -> None:
        """Likewise INIT or DE-INIT."""
        self._time.call_soon(lambda: self.end_preparation(phase, quiet=True))

    def end(self) -> None:
        """End an inference; raise nothing."""
        if self.finish():
            self.lower(quiet=True)

    def finish(self) -> bool:
        """End an inference without a native call; return whether it takes one, by ``lower``."""
        with self._lock:
            self._in_flight -= 1
            if self._in_flight:
                return False
            self._keep_until_us = self._time.now_us + self._sustain_us
        return self.must_lower()

    def must_lower(self) -> bool:
        """Return whether the votes are to be lowered now; arm an alarm where they are to be lowered by one."""
        with self._lock:
            if self._in_flight or self._preparing:
                return False
            if (self._sustain_us and self._arm()) or (self._background and self._arm(Cause.INFERENCE_ENDED)):
                return False
            return bool(self._plan.raised) or not self._ready

    def lower(self, *, quiet: bool) -> None:
        """Lower the votes of a session that is idle still."""
        self._keeper.settle(self, Cause.INFERENCE_ENDED, Phase.INFERENCE, quiet=quiet)

    def end_preparation(self, phase: Phase, *, quiet: bool) -> None:
        """End INIT or DE-INIT."""
        with self._lock:
            self._preparing -= 1
            now_us = self._time.now_us
            if phase is Phase.INIT:
                self._keep_until_us = max(self._keep_until_us, now_us + self._plan.after_init_us)
            else:
                self._keep_until_us = now_us
        doubt = phase is Phase.INIT
        self._keeper.settle(self, Cause.INIT_ENDED if doubt else Cause.DEINIT_ENDED, phase, quiet=quiet, doubt=doubt)

    def _arm(self, cause: Cause = Cause.SUSTAIN_EXPIRED) -> bool:
        """See to it that an alarm is armed, no later than the deadline; return False where none can be."""
        deadline_us = self._keep_until_us
        if self._closing or (self._alarm is not None and self._alarm_us <= deadline_us):
            return True
        self._disarm()
        try:
            self._alarm = self._time.call_at(deadline_us, lambda: self._alarm_rang(deadline_us, cause))
        except Exception:
            # No thread can be started, as at the very end of a process: better lowered too early than never.
            _LOGGER.exception("no timer for %r: its votes are lowered at once", self)
            self._keep_until_us = min(deadline_us, self._time.now_us)
            return False
        self._alarm_us = deadline_us
        return True

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._time.cancel(self._alarm)
            self._alarm = None

    def _alarm_rang(self, deadline_us: int, cause: Cause) -> None:
        with self._lock:
            if self._alarm is not None and self._alarm_us == deadline_us:
                self._alarm = None
        self._keeper.settle(self, cause, quiet=True)
