"""The gate of a session: what its phases count, when its votes come down, and whether a phase may begin without a call.

An inference inside a sustain window costs a lock, a counter and a clock read; it makes no call, touches no timer and
takes no lock that a native call is made under. Everything else goes through the reconciler, which asks ``decide`` what
the session should have, and compares that with what is in force.
"""

from __future__ import annotations

import functools
import logging
import sys
import threading
from typing import TYPE_CHECKING, Any

import attrs

from htppower.events import Cause, Phase, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")

_NEVER_US = sys.maxsize


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Gate:
    """Counts the phases of one session, and arms the alarm that ends its sustain.

    ``phases`` and ``async_phases`` read and write the fields themselves: a method call more on the hot path would cost
    as much again.

    Args:
        session: the record of the session, which is handed to ``ring``.
        time: clock and alarms.
        ring: called with the session and the cause when its alarm rings.

    Attributes:
        lock: protects the others.
        ready: whether a phase may begin without a call.
        in_flight: how many inferences are running.
        preparing: how many INIT and DE-INIT phases are.
        begun: how many inferences have begun without waiting for a call.
        deadline_us: when the votes of an idle session come down.
        alarm, alarm_us: the alarm that is armed, or None, and when it rings, far ahead where there is none.
        voting: whether the session casts votes at all.
        after_init_us, sustain_us: how long its votes stay up after INIT, and after an inference.
        background: whether they are lowered by an alarm where sustain_us is 0.
        closing: whether the session is being closed.
    """

    _session: object
    time: Time
    _ring: Callable[[Any, Cause], None]
    lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)
    ready: bool = attrs.field(default=False, init=False)
    in_flight: int = attrs.field(default=0, init=False)
    preparing: int = attrs.field(default=0, init=False)
    begun: int = attrs.field(default=0, init=False)
    deadline_us: int = attrs.field(default=0, init=False)
    alarm: Any = attrs.field(default=None, init=False)
    alarm_us: int = attrs.field(default=_NEVER_US, init=False)
    voting: bool = attrs.field(default=False, init=False)
    after_init_us: int = attrs.field(default=0, init=False)
    sustain_us: int = attrs.field(default=0, init=False)
    background: bool = attrs.field(default=False, init=False)
    closing: bool = attrs.field(default=False, init=False)

    def follow(self, *, voting: bool, after_init_us: int, sustain_us: int, background: bool) -> None:
        """Go by another plan from now on, and shut."""
        with self.lock:
            self.voting = voting
            self.after_init_us = after_init_us
            self.sustain_us = sustain_us
            self.background = background
            self.ready = False

    def set_ready(self, ready: bool) -> None:
        """Open or shut the hot path: open while the profile's votes are known to be in force, or there are none."""
        with self.lock:
            self.ready = ready and not self.closing

    def decide(self, state: State, *, has_ids: bool) -> State:
        """Return the state that the session should be in, and see to it that an alarm is armed where it needs one.

        From the moment that it says LOWERED, a beginning inference is settled instead of taking the hot path.

        Args:
            state: the session's state.
            has_ids: whether it has power config ids.
        """
        with self.lock:
            if self.closing:
                return State.LOWERED if state in (State.RAISED, State.UNKNOWN) and has_ids else state
            if not self.voting:
                return State.UNVOTED
            if self.in_flight or self.preparing:
                return State.RAISED
            if state is State.UNVOTED:
                return State.UNVOTED
            if self.time.now_us < self.deadline_us and state is not State.LOWERED and self._arm():
                return State.RAISED
            self.ready = False
            return State.LOWERED

    def finish(self) -> bool:
        """End an inference without a native call; return whether the votes are to be lowered now.

        ``phases.Inference`` does the same on the hot path, without this call: change both.
        """
        with self.lock:
            self.in_flight -= 1
            if self.in_flight:
                return False
            self.deadline_us = self.time.now_us + self.sustain_us
        return self.must_lower()

    def must_lower(self) -> bool:
        """Return whether the votes are to be lowered now; arm an alarm where they are to be lowered by one."""
        with self.lock:
            if self.in_flight or self.preparing:
                return False
            if (self.sustain_us and self._arm()) or (self.background and self._arm(Cause.INFERENCE_ENDED)):
                return False
            return self.voting or not self.ready

    def finish_preparation(self, phase: Phase) -> None:
        """End INIT or DE-INIT without a native call."""
        with self.lock:
            self.preparing -= 1
            now_us = self.time.now_us
            if phase is Phase.INIT:
                self.deadline_us = max(self.deadline_us, now_us + self.after_init_us)
            else:
                self.deadline_us = now_us

    @property
    def sustained_until_us(self) -> int | None:
        """When an idle session's votes come down, unless an inference begins before; None where no alarm is armed."""
        with self.lock:
            return self.deadline_us if self.alarm is not None and not self.in_flight else None

    def end_sustain(self) -> None:
        """End a pending sustain."""
        with self.lock:
            self.deadline_us = 0
            self._disarm()

    def shut(self) -> None:
        """Begin no phase from now on, and run no timer."""
        with self.lock:
            self.closing = True
            self.ready = False
            self._disarm()

    def disown(self) -> None:
        """In a forked child: make phases cost nothing and cast nothing, with a lock of the child's own."""
        self.lock = threading.Lock()
        self.ready = True
        self.alarm, self.alarm_us = self, 0  # an alarm that never rings, so that none is armed again

    def _arm(self, cause: Cause = Cause.SUSTAIN_EXPIRED) -> bool:
        """See to it that an alarm is armed, no later than the deadline; return False where none can be."""
        deadline_us = self.deadline_us
        if self.closing or self.alarm_us <= deadline_us:
            return True
        self._disarm()
        try:
            self.alarm = self.time.call_at(deadline_us, functools.partial(self._rang, deadline_us, cause))
        except Exception:
            # No thread can be started, as at the very end of a process: better lowered too early than never.
            _LOGGER.exception("no timer for %r: its votes are lowered at once", self._session)
            self.deadline_us = min(deadline_us, self.time.now_us)
            return False
        self.alarm_us = deadline_us
        return True

    def _disarm(self) -> None:
        if self.alarm is not None:
            self.time.cancel(self.alarm)
            self.alarm, self.alarm_us = None, _NEVER_US

    def _rang(self, deadline_us: int, cause: Cause) -> None:
        with self.lock:
            if self.alarm_us == deadline_us:
                self.alarm, self.alarm_us = None, _NEVER_US
        self._ring(self._session, cause)
