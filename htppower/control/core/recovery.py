"""Recovery: what follows when a call fails, tells of a lost link, or could not bring something down.

It settles nothing itself: it notes who is to be settled, in a queue that is taken when a turn is given back, and sees
to it that the back-off tries again what is left: one alarm for all, after 1, 2, 4, 8, 8, ... s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.time.alarms import SingleAlarm
from htppower.errors import kept
from htppower.events import Cause, State
from htppower.votes.native_codes import SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.process_settings import ProcessSettings
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected

# A dead DSP may cost an inference no more than one failed call per second.
FIRST_RETRY_US = 1_000_000
LONGEST_RETRY_US = 8_000_000
# A subsystem that restarts more often, while sessions are being voted again, is left to the back-off. A call that began
# later than this after the restart before begins the count anew: however long each takes, the count ends.
MOST_RESTARTS = 3
CALM_US = 1_000_000
# Every call of a host that is under way when the subsystem restarts tells of it, one after the other. What it tells
# within this time of a loss, with the same code, is that loss.
SAME_LOSS_US = 1_000_000


class Recovery:
    """What is left to put right. The registry's lock protects it.

    Args:
        registry, settings, time: the open sessions, the settings of the process, and clock and alarms.
        retry: called when the back-off's alarm rings.

    Attributes:
        calm: whether nothing is left to put right, so that nobody need ask. Where that is so, it may be
            False for a while.
        error: the call that failed last, None where nothing is left to retry.
        stopped: whether nothing is retried, for now or from now on.
    """

    def __init__(self, registry: Registry, settings: ProcessSettings, time: Time, retry: Callable[[], None]) -> None:
        self._registry = registry
        self._settings = settings
        self._time = time
        self._retry = retry
        self.calm = True
        self.error: VoteRejected | None = None
        # Whom to settle, and why; in the order of dictionaries, each once.
        self._queue: dict[SessionRecord, Cause] = {}
        # The sessions that lack votes, or that could not be brought down.
        self._lacking: dict[SessionRecord, None] = {}
        # How many there were, and when the last was told of.
        self._restarts = self._restarted_us = 0
        # When the link was lost last, by the code that told of it.
        self._lost_us: dict[int, int] = {}
        # The epoch in which the sessions that lost their votes were left to the back-off; 0, before any loss, for none.
        self._put_off = 0
        self._delay_us = FIRST_RETRY_US
        # Whether the longest delay has passed, and something is still left.
        self._in_vain = False
        self._dead_until_us = 0
        self._alarm = SingleAlarm(time, "a retry")
        self.stopped = False

    @property
    def waiting(self) -> bool:
        """Whether the DSP is dead and not to be called yet."""
        return self._dead_until_us > 0 and self._time.now_us < self._dead_until_us

    @property
    def gives_up(self) -> bool:
        """Whether a subsystem that has just restarted is left to the back-off, since it restarts again and again."""
        return self._restarts > MOST_RESTARTS

    @property
    def settings_follow(self) -> bool:
        """Whether the settings of the process are left to a session that lacks votes, which sends them with these.

        Not once the longest delay was in vain, unless the DSP is dead: its calls may fail for as long as it is open.
        """
        return bool(self._lacking) and (self.waiting or not self._in_vain)

    def puts_off(self, cause: Cause) -> bool:
        """Return whether a session that lacks votes is left to the back-off: the DSP is dead, or restarts too often."""
        return self.waiting or (cause is Cause.LINK_LOST and self._registry.epoch == self._put_off)

    def link_lost(self, error: VoteRejected, *, earlier: bool, by_host: bool, lasted_us: int) -> bool:
        """Take in that the link to the DSP was lost: every vote is. Each session that has voted joins the queue.

        Those with an inference in flight come first. Where the link was not rebuilt, or is lost again and again, they
        are not voted before the back-off is over: see ``puts_off``. Return whether it is news.

        Args:
            error: the call that told of it.
            earlier: whether it was under way when a 1007 was told: it may tell of that same restart, or of the time
                before it, and does not make the DSP count as dead, nor as restarting again.
            by_host: whether it is a call of a host's own: nothing is done where that loss is known, and none counts
                towards ``MOST_RESTARTS``.
            lasted_us: how long the call took.
        """
        with self._registry.lock:
            now_us = self._time.now_us
            known = error.code in self._lost_us and now_us - self._lost_us[error.code] < SAME_LOSS_US
            if by_host and known:
                return False
            # Until it is taken in whole: an exception such as Ctrl-C may come in the middle.
            self._registry.doubtful = True
            self._lost_us[error.code] = now_us
            if error.code == SYSTEM_COMMUNICATION_FATAL and not earlier and not self.waiting:
                # First: who sees that its votes are lost is not to call a dead DSP.
                self._alarm.disarm()
                self._dead_until_us = now_us + self._delay_us
            self._lose_all(Cause.LINK_LOST)
            self._follow_loss(error, now_us, now_us - lasted_us, earlier=earlier, by_host=by_host)
            self._registry.doubtful = False
            return True

    def _follow_loss(self, error: VoteRejected, now_us: int, began_us: int, *, earlier: bool, by_host: bool) -> None:
        if error.code == SYSTEM_COMMUNICATION_FATAL and not earlier:
            self.failed(None, error)
            return
        if error.code != SYSTEM_COMMUNICATION_FATAL:
            if began_us - self._restarted_us >= CALM_US:
                self._restarts = 0
            if not by_host and not earlier:
                self._restarts, self._restarted_us = self._restarts + 1, now_us
            # It is there again, and may be called at once.
            self._dead_until_us = 0
        if self.gives_up:
            self._put_off = self._registry.epoch
            self.failed(None, error)
        else:
            # What an exception such as Ctrl-C keeps from being settled at once is tried again.
            self._go_on()

    def call_interrupted(self) -> None:
        """Take in that an exception such as Ctrl-C came when a call returned: it may have told of a lost link."""
        with self._registry.lock:
            self._lose_all(Cause.RETRIED)
            self._go_on()
            self._registry.doubtful = False

    def failed(self, session: SessionRecord | None, error: VoteRejected) -> None:
        """Take in that a call failed, so that a session lacks votes, or, with None, that something is not given back.

        The back-off tries again.
        """
        with self._registry.lock:
            self.error = kept(error)
            self.lacks(session)

    def lacks(self, session: SessionRecord | None) -> None:
        """Take in that a session is not where it should be: the DSP is dead, or an interrupt has passed.

        With None, something else may be left, which another controller, or a call that was interrupted, was to see to.
        """
        with self._registry.lock:
            self.calm = False
            if session is not None:
                self._lacking[session] = None
            self._go_on()

    def done(self, session: SessionRecord) -> None:
        """Take in that a session is where it should be."""
        with self._registry.lock:
            self._lacking.pop(session, None)
            # A dead DSP is left alone until the retry, although nobody asks for anything; and that ends a controller of
            # which a close has given up.
            if self._alarm.armed and not (self.waiting or self._registry.closed or self.is_left()):
                self._recovered()
            if self._restarts and not self._lost():
                # Nor is anyone left to the back-off by them: who tried again and was put off would try without end.
                self._restarts = self._put_off = 0
            self.calm = not (self._lacking or self._queue or self._restarts or self._alarm.armed or self._dead_until_us)

    def take_queue(self) -> dict[SessionRecord, Cause]:
        """Return whom to settle, and why; to the first who asks."""
        if self._registry.doubtful:
            with self._registry.lock:
                # Where another thread was just taking a loss in, it has by now: each that took it for one more would
                # have every session voted again, and the next thread do likewise.
                if self._registry.doubtful:
                    self.call_interrupted()
        if not self._queue:
            return {}
        with self._registry.lock:
            queued, self._queue = self._queue, {}
            return queued

    def queue_again(self, queued: dict[SessionRecord, Cause]) -> None:
        """Put back who was taken and not settled."""
        with self._registry.lock:
            self.calm = False
            self._queue = {**queued, **self._queue}

    def retried(self, error: VoteRejected | None) -> None:
        """Take in that everything was tried again: end the back-off where nothing is left, else go on with it."""
        with self._registry.lock:
            if not self.is_left():
                self._recovered()
            elif error is not None:
                self.failed(None, error)
            else:
                self._go_on()

    def stop(self) -> None:
        """Retry nothing, until ``resume``."""
        with self._registry.lock:
            self.stopped = True
            self._alarm.disarm()

    def resume(self) -> None:
        """Retry again: something is left."""
        with self._registry.lock:
            self.stopped = False
            self.lacks(None)

    def disown(self) -> None:
        """In a forked child: the alarm is the parent's."""
        self.stopped = True
        self._alarm.disown()
        self._queue = {}
        self._lacking = {}

    def _rang(self, number: int) -> None:
        with self._registry.lock:
            if self.stopped or not self._alarm.rang(number):
                return
            self.calm = False
            self._in_vain = self._delay_us == LONGEST_RETRY_US
            self._delay_us = min(2 * self._delay_us, LONGEST_RETRY_US)
            for session in self._by_urgency(self._lacking):
                self._queue.setdefault(session, Cause.RETRIED)
            # What comes of this one ends it; an exception such as Ctrl-C may keep that from being noted.
            self._go_on()
        self._retry()

    def _go_on(self) -> None:
        """See to it that a retry is coming."""
        if not self.stopped and not self._alarm.armed:
            self.calm = False
            self._alarm.arm(self._time.now_us + self._delay_us, self._rang)

    def _recovered(self) -> None:
        """Note that nothing is left to retry."""
        self._delay_us = FIRST_RETRY_US
        self._in_vain = False
        self._dead_until_us = 0
        self.error = None
        self._alarm.disarm()

    def _lose_all(self, cause: Cause) -> None:
        """Take in that nothing is known of any vote; each session that votes is shut and joins the queue."""
        self.calm = False
        # First: a session that sees the new epoch sends its votes with the settings that are lost.
        self._settings.lose()
        self._registry.epoch += 1
        for session in self._by_urgency(self._registry.sessions.values()):
            # One that is to give its ids back, or has none left, may have been left alone while the DSP was dead.
            if session.plan.casts or session.ledgers or session.state is State.UNKNOWN:
                session.gate.shut()
                self._queue.setdefault(session, cause)
                self._lacking[session] = None

    def _by_urgency(self, sessions: Iterable[SessionRecord]) -> list[SessionRecord]:
        return sorted(sessions, key=lambda session: not session.gate.in_flight)

    def _lost(self) -> bool:
        """Return whether a session lacks votes since the link was lost."""
        epoch = self._registry.epoch
        return any(
            each.plan.casts and (each.epoch != epoch or each.casting or each.state is State.UNKNOWN)
            for each in self._registry.sessions.values()
        )

    def is_left(self) -> bool:
        """Return whether sessions lack votes, settings of the process differ, or ids are left to destroy."""
        return bool(self._lacking) or bool(self._settings.difference()) or bool(self._registry.orphans)
