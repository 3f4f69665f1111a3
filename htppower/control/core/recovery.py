"""Recovery: what follows when calls fail, when the link is lost, and when it is dead.

Every session whose votes are lost is settled again, one request for each, those with an inference in flight first. On a
dead link the device is made anew. One alarm for all tries again, after 1, 2, 4, 8, 8, ... s. The line is held.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from htppower.control.core.line import Urgency
from htppower.control.core.link import (
    FAILURES_BEFORE_BACK_OFF,
    FIRST_RETRY_US,
    HELD_RETRY_US,
    LONGEST_RETRY_US,
    Link,
)
from htppower.control.core.meaning import Carried, Meaning, carried_by, meaning_of
from htppower.control.time.alarms import SingleAlarm
from htppower.errors import VoteRejected
from htppower.events import Cause, LinkChanged, LinkState

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.engine import Engine
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")
_HELD = (
    "another user of the library in this process keeps the dead link to the DSP, so no vote can be cast: free its"
    " session of the NPU (in ONNX Runtime the InferenceSession), then call link_lost(1011) of the controller"
)
# Every call of a host that is under way when the DSP restarts reports it. A report within this time of a loss is about
# that loss.
SAME_LOSS_US = 1_000_000


class Recovery:
    """Puts right what is lost.

    Args:
        engine: has the sessions, the settings and the line.
        time: clock and alarms.

    Attributes:
        link: what is known of the link.
        orphans: ids that no session has any more and that were not destroyed yet, with what destroys each.
        lacking: the sessions that are UNKNOWN; the one that was tried last is at the end, so that one which fails for
            good keeps no other from being tried.
    """

    def __init__(self, engine: Engine, time: Time) -> None:
        self._engine = engine
        self._time = time
        self.link = Link(self._changed)
        self.orphans: dict[int, Callable[[], None]] = {}
        self.lacking: dict[SessionRecord, None] = {}
        self._alarm = SingleAlarm(time, "a retry", self._rang)
        self._delay_us = FIRST_RETRY_US
        self._lost_us: int | None = None
        # When the host reported a loss last while the link was down.
        self._told_us = -SAME_LOSS_US
        self._renewals = 0

    def worked(self) -> None:
        """Note that a call succeeded that the DSP answers."""
        if self.link.failures or self.link.state is not LinkState.WELL:
            self.link.worked()

    def failed(self, error: VoteRejected) -> None:
        """Note that a call has failed. A setting or a create that is refused says nothing of the link."""
        means = meaning_of(error)
        if means in (Meaning.ABSENT, Meaning.BAD_ID):
            return
        if means is Meaning.REFUSED and carried_by(error) in (Carried.SETTINGS, Carried.CREATE):
            return
        epoch, was_renewed = self.link.epoch, self.link.renewed
        self.link.failed(means, error)
        if self.link.state is LinkState.HELD and was_renewed and not self.link.renewed:
            # It was made anew in vain once more.
            self._alarm.disarm()
        if self.link.failures >= FAILURES_BEFORE_BACK_OFF:
            self.link.closed_until_us = self.retry_later()
        self._follow(epoch)

    def link_lost(self, means: Meaning, error: VoteRejected) -> None:
        """Note that a call of the host's own was answered with a lost link."""
        now_us, epoch, state = self._time.now_us, self.link.epoch, self.link.state
        is_known = self._lost_us is not None and now_us - self._lost_us < SAME_LOSS_US
        is_worse = means is Meaning.DEAD and state not in (LinkState.DEAD, LinkState.HELD)
        if is_known and not is_worse and state is not LinkState.HELD:
            return
        if state is LinkState.HELD and now_us - self._told_us < SAME_LOSS_US:
            # Each of a host's failing calls may be reported: one renewal a second answers them all.
            self._alarm.arm(self._told_us + SAME_LOSS_US)
            return
        self._lost_us = now_us
        if self.link.is_down:
            self._told_us = now_us
        self.link.told(means, error)
        self._follow(epoch)
        if self.link.is_down and self.link.epoch == epoch:
            self._renew_soon()

    def _follow(self, epoch: int) -> None:
        """Do what a loss asks for: settle every session again, and make the device anew."""
        if self.link.epoch != epoch:
            self._lost_us = self._time.now_us
            self._engine.settings.lose()
            self.settle_all(Cause.LINK_LOST)
        if self.link.is_down:
            self.retry_later()
            if self.link.epoch != epoch:
                self._renew_soon()

    def settle_all(self, cause: Cause) -> None:
        """Have every session settled that votes, or that may have votes left."""
        for session in self._engine.sessions():
            if session.plan.casts or session.ledgers:
                session.gate.shut()
                self._settle_soon(session, cause)

    def _settle_soon(self, session: SessionRecord, cause: Cause) -> None:
        urgency = Urgency.RAISE if session.gate.in_flight else Urgency.LOWER
        self._engine.post(functools.partial(session.home.reconciler.settle, session, cause), urgency)

    def _renew_soon(self) -> None:
        self._engine.post(functools.partial(self._renew, self._renewals), Urgency.RAISE)

    def _renew(self, renewals: int) -> None:
        """Make the device anew, if the link is dead and that was not tried since; the ids go with it."""
        link = self.link
        if not link.is_down or self._renewals != renewals:
            return
        self._renewals += 1
        self.orphans.clear()
        for session in self._engine.sessions():
            session.ledgers = {}
            session.failures = session.retry_us = 0
        self._engine.settings.renew()
        try:
            self._engine.renew_backends()
        except Exception as error:  # noqa: BLE001 - a backend of the host's own may raise anything
            _LOGGER.warning("the device can't be made anew: %s", error)
            self.retry_later()
            return
        link.was_renewed()
        self.settle_all(Cause.LINK_LOST)

    def lacks(self, session: SessionRecord) -> None:
        """Note that a session is UNKNOWN."""
        self.lacking.pop(session, None)
        self.lacking[session] = None

    def failed_to_settle(self, session: SessionRecord) -> None:
        """Note that a session could not be settled: it is tried again later."""
        self.lacks(session)
        session.failures += 1
        at_us = self.retry_later()
        if session.failures > 1:
            session.retry_us = at_us

    def done(self, session: SessionRecord) -> None:
        """Note that a session that was UNKNOWN is so no more, or is closed."""
        self.lacking.pop(session, None)
        session.failures = session.retry_us = 0
        self._rest()

    def _rest(self) -> None:
        """End the back-off if nothing is left to put right."""
        if not self.lacking and not self.orphans and not self.link.is_down:
            self._delay_us = FIRST_RETRY_US
            self._alarm.disarm()

    def may_call(self, session: SessionRecord | None = None) -> bool:
        """Return whether a call may be made now, for a session if one is given."""
        now_us = self._time.now_us
        return self.link.may_call(now_us) and (session is None or now_us >= session.retry_us)

    def any_id(self) -> int | None:
        """Return an id of any open session, on which settings of the process can be sent; None if there is none."""
        ledgers = (ledger for session in self._engine.sessions() for ledger in session.ledgers.values())
        first = next(ledgers, None)
        return None if first is None else first.power_config_id

    @property
    def is_well(self) -> bool:
        """Whether the link works, as far as is known, and may be called now: a destroy that fails loses the id."""
        return self.link.state in (LinkState.WELL, LinkState.LOST) and self.may_call()

    def retry_later(self) -> int:
        """See to it that everything is tried again; return when."""
        now_us = self._time.now_us
        if self._alarm.armed and self._alarm.at_us > now_us:
            return self._alarm.at_us
        is_held = self.link.state is LinkState.HELD and self.link.is_down
        at_us = now_us + (HELD_RETRY_US if is_held else self._delay_us)
        # One that has rung waits for the line, and arms the next.
        if not self._alarm.armed:
            self._alarm.arm(at_us)
        return at_us

    def destroy_orphans(self) -> None:
        """Destroy the ids that no session has any more, as far as calls may be made."""
        for power_config_id, destroy in list(self.orphans.items()):
            if not self.may_call():
                break
            # One that fails is tried last the next time.
            self.orphans.pop(power_config_id)
            try:
                destroy()
            except VoteRejected as error:
                if meaning_of(error) is not Meaning.BAD_ID:
                    self.orphans[power_config_id] = destroy
        self._rest()

    def stop(self) -> None:
        """Try nothing again: the last controller has left."""
        self._alarm.disarm()

    def disown(self) -> None:
        """In a forked child: the alarm is the parent's."""
        self._alarm = SingleAlarm(self._time, "a retry", self._rang)
        self.orphans, self.lacking = {}, {}

    def _rang(self) -> None:
        self._engine.post(self._retry, Urgency.LOWER)

    def _retry(self) -> None:
        self._alarm.disarm()
        self._delay_us = min(2 * self._delay_us, LONGEST_RETRY_US)
        # A call that fails again arms the alarm again.
        self.link.closed_until_us = 0
        if self.link.is_down:
            self._renew(self._renewals)
        for session in self.lacking:
            session.retry_us = 0
            self._settle_soon(session, Cause.RETRIED)
        self.destroy_orphans()
        if self.lacking or self.orphans or self.link.is_down:
            self.retry_later()

    def _changed(self, before: LinkState) -> None:
        state = self.link.state
        if state is LinkState.HELD:
            _LOGGER.error("%s", _HELD)
        if LinkState.HELD in (state, before):
            # The time of the next try is another.
            self._alarm.disarm()
        if state is LinkState.WELL:
            self._delay_us = FIRST_RETRY_US
            for session in self.lacking:
                self._settle_soon(session, Cause.RETRIED)
        if self.orphans or self.lacking:
            self.retry_later()
        for home in self._engine.homes:
            home.events.tell(LinkChanged, None, source=before, dest=state, error=self.link.error)
