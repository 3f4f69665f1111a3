"""The sustain time of a session: when its votes come down, and the alarm for this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from htppower.control.time.base import armed_or_logged

if TYPE_CHECKING:
    from htppower.control.time.base import Time
    from htppower.events import Cause

# Before every end of a phase.
_NEVER = -1
# The deadline once a sustain time was ended early: it is before all other times.
NO_DEADLINE = -1


class AlarmHandler(Protocol):
    """The method of the gate that the alarm of a sustain time calls."""

    def rang(self, at_us: int, cause: Cause) -> None:
        """Settle the session: its alarm has rung."""


class SustainTimer:
    """Knows when the votes of one session come down, and arms the alarm for this. The lock of its gate is held.

    ``phases.blocks`` reads and writes the fields itself: another method call on the hot path would double its cost.
    ``learning`` sets ``us`` and ``until_us``.

    Args:
        session: the record of the session.
        time: clock and alarms.

    Attributes:
        ended_ns: when the last inference ended. Setting ``deadline_us`` changes it, too: the deadline is this time plus
            ``us``.
        us: how long votes stay up after ``ended_ns``.
        until_us: the time until which votes stay up for a predicted inference, or ``NO_DEADLINE``.
        alarm, alarm_us: the alarm that is armed, or None; and when it rings.
        covered: whether the armed alarm rings in time for every inference that ends from now on, so that none is armed
            for it.
    """

    __slots__ = ("_deinit_ns", "_session", "_time", "alarm", "alarm_us", "covered", "ended_ns", "until_us", "us")

    def __init__(self, session: object, time: Time) -> None:
        self._session = session
        self._time = time
        # The value that the last DE-INIT gave to ``ended_ns``. While both are equal, that DE-INIT was the last phase to
        # end: the end of an inference changes only ``ended_ns``.
        self._deinit_ns = _NEVER
        self.ended_ns = self.us = 0
        self.until_us = NO_DEADLINE
        self.alarm: Any = None
        self.alarm_us = 0
        self.covered = False

    @property
    def deadline_us(self) -> int:
        """When the votes of an idle session come down."""
        return max(self.ended_ns // 1000 + self.us, self.until_us)

    @deadline_us.setter
    def deadline_us(self, deadline_us: int) -> None:
        self._put(deadline_us, after_deinit=self.after_deinit)

    def _put(self, deadline_us: int, *, after_deinit: bool) -> None:
        # The last digit of the nanoseconds marks a DE-INIT: an inference that ends in the same microsecond has another
        # value.
        ended_ns = (deadline_us - self.us) * 1000 + after_deinit
        self._deinit_ns = ended_ns if after_deinit else _NEVER
        self.ended_ns = ended_ns

    @property
    def after_deinit(self) -> bool:
        """Whether a DE-INIT was the last phase to end."""
        return self._deinit_ns == self.ended_ns

    def ends(self) -> tuple[int, bool, bool]:
        """Return the deadline, whether a DE-INIT has set it, and whether votes stay up for a predicted inference."""
        return self.deadline_us, self.after_deinit, self.until_us != NO_DEADLINE

    def set_time(self, us: int, deadline_us: int) -> None:
        """Keep votes up for this time after later inferences; the deadline of the votes that are up now stays."""
        self.covered = False
        self.us = us
        self.deadline_us = deadline_us

    def end_inference(self) -> None:
        """Note that an inference has ended, off the hot path."""
        self._put(self._time.now_us + self.us, after_deinit=False)

    def end_init(self, after_init_us: int) -> None:
        """Note that INIT has ended, and how long votes stay up after it."""
        self._put(max(self.deadline_us, self._time.now_us + after_init_us), after_deinit=False)

    def end_deinit(self) -> None:
        """Note that DE-INIT has ended."""
        self._put(self._time.now_us, after_deinit=True)

    def end(self) -> None:
        """End the sustain time now, and cancel its alarm."""
        self.deadline_us = NO_DEADLINE
        self.disarm()

    def arm(self, gate: AlarmHandler, cause: Cause) -> bool:
        """Make sure that an alarm rings by the deadline; return False if no alarm can be armed."""
        deadline_us = self.deadline_us
        ringing = self.alarm is not None and self.alarm_us <= deadline_us
        if not ringing and not self.set_alarm(gate, deadline_us, cause):
            # Without an alarm no later step would lower the votes. So they are lowered now, too early.
            self.deadline_us = min(deadline_us, self._time.now_us)
            return False
        self.covered = self.alarm_us <= self._time.now_us + self.us
        return True

    def set_alarm(self, gate: AlarmHandler, at_us: int, cause: Cause) -> bool:
        """Replace the alarm; return False if no alarm can be armed."""
        self.disarm()
        self.alarm_us = at_us
        lost = "no timer for %r: its votes are lowered at once"
        self.alarm = armed_or_logged(self._time, at_us, _AlarmAction(gate, at_us, cause), lost, self._session)
        return self.alarm is not None

    def disarm(self) -> None:
        """Cancel the alarm."""
        self.covered, alarm = False, self.alarm
        if alarm is not None and alarm is not self:
            self.alarm = None
            self._time.cancel(alarm)

    def rang(self, at_us: int) -> None:
        """Record that an alarm has rung."""
        if self.alarm is not None and self.alarm_us == at_us:
            self.alarm, self.covered = None, False

    def disown(self) -> None:
        """In a forked child: arm no alarm."""
        # Any object that is not None counts as an armed alarm. This one never rings, so no real alarm is armed.
        self.alarm, self.alarm_us, self.covered = self, NO_DEADLINE, True
        self.until_us = NO_DEADLINE


class _AlarmAction:
    """The action of an alarm.

    A partial of a method would take four times the memory, in each session whose sustain time runs.
    """

    __slots__ = ("_at_us", "_cause", "_gate")

    def __init__(self, gate: AlarmHandler, at_us: int, cause: Cause) -> None:
        self._gate = gate
        self._at_us = at_us
        self._cause = cause

    def __call__(self) -> None:
        self._gate.rang(self._at_us, self._cause)
