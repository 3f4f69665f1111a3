"""The heartbeat: votes that stay up are cast again in the background, so that a restart of the DSP is noticed.

Only a native call shows a restart, and a session whose inferences all fall into its window makes none, perhaps for
hours. So the votes of a session that is RAISED are cast again, just as they are, when it has made no call for some
time. Votes that are lowered are left alone: each call would wake the DSP, and the next raise shows the restart.

One alarm serves all sessions. It looks when it rings who is due, and when to ring again, and ends where nothing is up.
So whoever raises has nothing to do with it, unless it has ended: then it is asked for, and armed on another thread.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.control.time.alarms import SingleAlarm
from htppower.events import Cause, State
from htppower.votes.native_codes import LINK_LOST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.executor import Executor
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.state_machine import SessionTransitions
    from htppower.control.time.base import Time

DEFAULT_HEARTBEAT_US = 10_000_000


def due_us(state: State, called_us: int, heartbeat_us: int, *, unsettled: bool) -> int | None:
    """Return when the votes of a session are to be cast again; None where none are raised, or soon changed.

    ``unsettled``: whether it is being closed, or has yet to take in that its votes were lost.
    """
    return called_us + heartbeat_us if state is State.RAISED and not unsettled else None


def next_look_us(dues_us: Iterable[int], now_us: int, heartbeat_us: int) -> int | None:
    """Return when to look again, None for never: what is due now is cast now, and is due again after the interval."""
    return min((due if due > now_us else now_us + heartbeat_us for due in dues_us), default=None)


@attrs.define(eq=False, repr=False)
class Heartbeat:
    """The alarm, and the votes that it casts. The registry's lock protects the alarm.

    Args:
        if_free: runs an action in a session's turn, unless another thread has it.
        heartbeat_us: how long a session that is raised may make no call; 0 for no heartbeat.

    Attributes:
        asleep: whether it is to be woken when a session is raised: nobody looks after that now, soon, or when the alarm
            rings.
    """

    _registry: Registry
    _executor: Executor
    _transitions: SessionTransitions
    _recovery: Recovery
    _time: Time
    _if_free: Callable[[SessionRecord, Callable[[], object]], None]
    _heartbeat_us: int
    _alarm: SingleAlarm = attrs.field(init=False)
    asleep: bool = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._alarm = SingleAlarm(self._time, "the heartbeat")
        self.asleep = self._heartbeat_us > 0

    def wake(self) -> None:
        """Look after what is raised. The turn of a session is held: it waits for nothing, as arming an alarm may."""
        # First: who looks at once may find nobody, and writes that.
        self.asleep = False
        self._time.call_soon(self._look)

    def rest(self) -> None:
        """Take in that a session is gone: without one no alarm is armed."""
        if self._registry.sessions:
            return
        with self._registry.lock:
            # Again: one that was opened meanwhile, and is raised, counts on the alarm.
            if not self._registry.sessions:
                self.asleep = self._heartbeat_us > 0
                self._alarm.disarm()

    def _arm(self, at_us: int) -> None:
        """See to it that an alarm is armed; one that is armed already rings no later, but for moments."""
        with self._registry.lock:
            self._alarm.arm(at_us, self._rang)
            if self._alarm.armed:
                self.asleep = False

    def _rang(self, number: int) -> None:
        with self._registry.lock:
            rang = self._alarm.rang(number)
        if rang:
            self._look()

    def _look(self) -> None:
        """Cast the votes again that are due, and see to it that somebody looks when the next are."""
        # First: a session that is raised from now on is either seen here, or asks for another look.
        self.asleep = True
        now_us = self._time.now_us
        try:
            self._look_at_all(now_us)
        except BaseException:
            self._arm(now_us + self._heartbeat_us)
            raise

    def _look_at_all(self, now_us: int) -> None:
        dues_us = {each: due for each in self._registry.all() if (due := self._due_us(each)) is not None}
        look_us = next_look_us(dues_us.values(), now_us, self._heartbeat_us)
        # Before the calls: one that hangs keeps nobody else from being looked after.
        if look_us is not None:
            self._arm(look_us)
        for session, due in dues_us.items():
            if due <= now_us:
                self._if_free(session, functools.partial(self._cast_again, session))

    def _due_us(self, session: SessionRecord) -> int | None:
        history = session.history
        called_us = history.stay.since_us if history.last_call is None else history.last_call.time_us
        unsettled = session.gate.closing or session.epoch != self._registry.epoch
        return due_us(session.state, called_us, self._heartbeat_us, unsettled=unsettled)

    def _cast_again(self, session: SessionRecord) -> None:
        due = self._due_us(session)
        if session.casting or due is None or due > self._time.now_us:
            return
        # An exception such as Ctrl-C may come before it is known what the call has done.
        session.casting = True
        error = self._executor.cast_again(session)
        if error is None:
            session.casting = False
            return
        self._transitions.lose(session, error, Cause.HEARTBEAT)
        if error.code not in LINK_LOST:
            self._recovery.failed(session, error)
