"""The heartbeat: sends votes that stay up again, in the background, to notice a restart of the DSP.

Only a native call can notice a restart. A session whose inferences all begin within the sustain time makes no call,
perhaps for hours. So if a session is RAISED and has made no call for some time, its votes are sent again, unchanged.
Lowered votes are not repeated: each call would wake the DSP, and the next raise notices the restart in time.

One alarm serves all sessions of a controller. When it rings, each session that is due gets its own request in the line.
The line is held in all functions here but those that the alarm calls.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.control.core.line import Urgency
from htppower.control.time.base import SingleAlarm
from htppower.events import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.core.home import Home
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time

DEFAULT_HEARTBEAT_US = 10_000_000


def due_us(state: State, called_us: int, heartbeat_us: int) -> int | None:
    """Return when to repeat the votes of a session; None if they are not raised."""
    return called_us + heartbeat_us if state is State.RAISED else None


def next_look_us(dues_us: Iterable[int], now_us: int, heartbeat_us: int) -> int | None:
    """Return when to check the sessions again, or None for never.

    Votes that are due now are repeated now, and again after the interval.
    """
    return min((due if due > now_us else now_us + heartbeat_us for due in dues_us), default=None)


class Heartbeat:
    """The alarm of one controller, which repeats the votes of the sessions that are due.

    Args:
        home: the parts that the controller's sessions share.
        time: clock and alarms.
        heartbeat_us: how long a raised session may make no call; 0 for no heartbeat.

    Attributes:
        asleep: whether no alarm is armed, so that a raise must call ``wake``.
    """

    def __init__(self, home: Home, time: Time, heartbeat_us: int) -> None:
        self._home = home
        self._time = time
        self._heartbeat_us = heartbeat_us
        self._alarm = SingleAlarm(time, "the heartbeat", self._rang)
        self.asleep = heartbeat_us > 0

    def wake(self) -> None:
        """Arm the alarm, since a session is raised."""
        self._arm(self._time.now_us + self._heartbeat_us)

    def stop_if_idle(self) -> None:
        """Disarm the alarm if no session is open."""
        if not self._home.registry.sessions:
            self._alarm.disarm()
            self.asleep = self._heartbeat_us > 0

    def _arm(self, at_us: int) -> None:
        self._alarm.arm(at_us)
        self.asleep = not self._alarm.armed

    def _rang(self) -> None:
        self._home.engine.post(self._look, Urgency.HEARTBEAT)

    def _look(self) -> None:
        self._alarm.disarm()
        now_us = self._time.now_us
        dues_us = {each: due for each in self._home.registry.all() if (due := self._due_us(each)) is not None}
        look_us = next_look_us(dues_us.values(), now_us, self._heartbeat_us)
        self.asleep = True
        if look_us is not None:
            self._arm(look_us)
        for session, due in dues_us.items():
            if due <= now_us:
                self._home.engine.post(functools.partial(self._cast_again, session), Urgency.HEARTBEAT)

    def _cast_again(self, session: SessionRecord) -> None:
        due = self._due_us(session)
        if due is not None and due <= self._time.now_us:
            self._home.reconciler.cast_again(session)

    def _due_us(self, session: SessionRecord) -> int | None:
        history = session.history
        called_us = history.stay.since_us if history.last_call is None else history.last_call.time_us
        return due_us(session.state, called_us, self._heartbeat_us)
