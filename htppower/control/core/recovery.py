"""Recovery: retries failed calls, and restores the votes after the link was lost or is dead.

After a loss every session is settled again, with one request each; sessions with an inference in flight go first. On a
dead link the device is created again first. One alarm for all sessions retries what failed, after 1, 2, 4, 8, 8, ... s.
The line is held.
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
from htppower.control.core.meaning import CallKind, Meaning, kind_of, meaning_of
from htppower.control.time.base import SingleAlarm
from htppower.errors import VoteRejected
from htppower.events import Cause, LinkChanged, LinkState

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.engine import Engine
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time

_LOGGER = logging.getLogger("htppower")
_HELD = (
    "another user of the library in this process keeps the dead link to the DSP, so no vote can be sent: free its"
    " session of the NPU (in ONNX Runtime the InferenceSession), then call link_lost(1011) of the controller"
)
# If the DSP restarts, every running graph call of the host fails, and each may be reported. A report within this time
# after a loss counts as the same loss.
SAME_LOSS_US = 1_000_000


class Recovery:
    """Restores lost votes, and creates the device of a dead link again.

    Args:
        engine: has the sessions, the settings and the line.
        time: clock and alarms.

    Attributes:
        link: the state of the link.
        orphans: the ids that no session has any more and that are not destroyed yet, each with the function that
            destroys it.
        unknown_sessions: the sessions that are UNKNOWN. The one that was tried last is at the end, so that a session
            which always fails delays no other.
    """

    def __init__(self, engine: Engine, time: Time) -> None:
        self._engine = engine
        self._time = time
        self.link = Link(self._changed)
        self.orphans: dict[int, Callable[[], None]] = {}
        self.unknown_sessions: dict[SessionRecord, None] = {}
        self._alarm = SingleAlarm(time, "a retry", self._rang)
        self._delay_us = FIRST_RETRY_US
        self._lost_us: int | None = None
        self._renewals = 0
        self._renewed_us = -SAME_LOSS_US

    def failed(self, error: VoteRejected) -> None:
        """Record that a call has failed.

        A refused setting or a refused create does not change the state of the link.
        """
        means = meaning_of(error)
        if means in (Meaning.ABSENT, Meaning.BAD_ID):
            return
        if means is Meaning.REFUSED and kind_of(error) in (CallKind.SETTINGS, CallKind.CREATE):
            return
        epoch, was_renewed = self.link.epoch, self.link.renewed
        self.link.failed(means, error)
        if self.link.state is LinkState.HELD and was_renewed and not self.link.renewed:
            # The device was created once more, and the link still fails. The next attempt has a longer wait.
            self._alarm.disarm()
        if self.link.failures >= FAILURES_BEFORE_BACK_OFF:
            self.link.closed_until_us = self.retry_later()
        self._follow(epoch)

    def link_lost(self, means: Meaning, error: VoteRejected) -> None:
        """Record that a call of the host returned the code of a lost link."""
        now_us, epoch, state = self._time.now_us, self.link.epoch, self.link.state
        is_known = self._lost_us is not None and now_us - self._lost_us < SAME_LOSS_US
        is_worse = means is Meaning.DEAD and state not in (LinkState.DEAD, LinkState.HELD)
        if is_known and not is_worse and state is not LinkState.HELD:
            return
        if state is LinkState.HELD and now_us - self._renewed_us < SAME_LOSS_US:
            # The host may report each of its failing calls. Creating the device once a second is enough for all of
            # them.
            self._alarm.arm(self._renewed_us + SAME_LOSS_US)
            return
        self._lost_us = now_us
        self.link.host_reported(means, error)
        self._follow(epoch)
        if self.link.needs_renewal and self.link.epoch == epoch:
            self._renew_soon()

    def _follow(self, epoch: int) -> None:
        """After a loss, let every session settle again; on a dead link, create the device again first."""
        if self.link.epoch != epoch:
            self._lost_us = self._time.now_us
            self._engine.settings.lose()
            self.settle_all(Cause.LINK_LOST)
        if self.link.needs_renewal:
            self.retry_later()
            if self.link.epoch != epoch:
                self._renew_soon()

    def settle_all(self, cause: Cause) -> None:
        """Let the worker settle every session that votes or still has an id."""
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
        """Create the device again if the link is still dead and no other step was quicker.

        Its ids are then gone.
        """
        link = self.link
        if not link.needs_renewal or self._renewals != renewals:
            return
        self._renewals += 1
        self._renewed_us = self._time.now_us
        self.orphans.clear()
        for session in self._engine.sessions():
            session.ledgers = {}
            session.failures = session.retry_us = 0
        self._engine.settings.renew()
        try:
            self._engine.renew_backends()
        except Exception as error:  # noqa: BLE001 - a backend of the host may raise any exception
            _LOGGER.warning("the device can't be created again: %s", error)
            self.retry_later()
            return
        link.was_renewed()
        self.settle_all(Cause.LINK_LOST)

    def note_unknown(self, session: SessionRecord) -> None:
        """Record that a session is UNKNOWN."""
        self.unknown_sessions.pop(session, None)
        self.unknown_sessions[session] = None

    def note_failure(self, session: SessionRecord) -> None:
        """Record that settling a session has failed, and retry later."""
        self.note_unknown(session)
        session.failures += 1
        at_us = self.retry_later()
        if session.failures > 1:
            session.retry_us = at_us

    def note_known(self, session: SessionRecord) -> None:
        """Record that a session is no longer UNKNOWN, or is closed."""
        self.unknown_sessions.pop(session, None)
        session.failures = session.retry_us = 0
        self._end_back_off()

    def _end_back_off(self) -> None:
        """End the back-off if no session is UNKNOWN, no orphan is left and the link is up."""
        if not self.unknown_sessions and not self.orphans and not self.link.needs_renewal:
            self._delay_us = FIRST_RETRY_US
            self._alarm.disarm()

    def may_call(self, session: SessionRecord | None = None) -> bool:
        """Return whether a call may be made now, for a session if one is given."""
        now_us = self._time.now_us
        return self.link.may_call(now_us) and (session is None or now_us >= session.retry_us)

    def any_id(self) -> int | None:
        """Return an id of any open session, to carry settings of the process; None without an id."""
        ledgers = (ledger for session in self._engine.sessions() for ledger in session.ledgers.values())
        first = next(ledgers, None)
        return None if first is None else first.power_config_id

    @property
    def may_destroy_ids(self) -> bool:
        """Whether the link works, as far as is known, and a call may be made now.

        A destroy that fails on a dead link loses the id.
        """
        return self.link.state in (LinkState.WELL, LinkState.LOST) and self.may_call()

    def retry_later(self) -> int:
        """Arm the alarm that retries everything, unless it is armed; return its time."""
        now_us = self._time.now_us
        if self._alarm.armed and self._alarm.at_us > now_us:
            return self._alarm.at_us
        is_held = self.link.state is LinkState.HELD and self.link.needs_renewal
        at_us = now_us + (HELD_RETRY_US if is_held else self._delay_us)
        # An alarm that has rung still counts as armed until its retry has the line; that retry arms the next alarm.
        if not self._alarm.armed:
            self._alarm.arm(at_us)
        return at_us

    def destroy_orphans(self) -> None:
        """Destroy the orphans, as long as calls may be made."""
        for power_config_id, destroy in list(self.orphans.items()):
            if not self.may_call():
                break
            # An id that can't be destroyed goes to the end of the queue, so that it delays no other.
            self.orphans.pop(power_config_id)
            try:
                destroy()
            except VoteRejected as error:
                if meaning_of(error) is not Meaning.BAD_ID:
                    self.orphans[power_config_id] = destroy
        self._end_back_off()

    def stop(self) -> None:
        """Stop all retries, since the last controller has left."""
        self._alarm.disarm()

    def disown(self) -> None:
        """In a forked child: drop the alarm, whose thread exists only in the parent."""
        self._alarm = SingleAlarm(self._time, "a retry", self._rang)
        self.orphans, self.unknown_sessions = {}, {}

    def _rang(self) -> None:
        self._engine.post(self._retry, Urgency.LOWER)

    def _retry(self) -> None:
        self._alarm.disarm()
        self._delay_us = min(2 * self._delay_us, LONGEST_RETRY_US)
        # If one of these calls fails, the failure arms the alarm again.
        self.link.closed_until_us = 0
        if self.link.needs_renewal and self._time.now_us - self._renewed_us >= SAME_LOSS_US:
            self._renew(self._renewals)
        for session in self.unknown_sessions:
            session.retry_us = 0
            self._settle_soon(session, Cause.RETRIED)
        self.destroy_orphans()
        if self.unknown_sessions or self.orphans or self.link.needs_renewal:
            self.retry_later()

    def _changed(self, before: LinkState) -> None:
        state = self.link.state
        if state is LinkState.HELD:
            _LOGGER.error("%s", _HELD)
        if LinkState.HELD in (state, before):
            # The interval until the next retry changes in this state, so the armed alarm has the wrong time.
            self._alarm.disarm()
        if state is LinkState.WELL:
            self._delay_us = FIRST_RETRY_US
            for session in self.unknown_sessions:
                self._settle_soon(session, Cause.RETRIED)
        if self.orphans or self.unknown_sessions:
            self.retry_later()
        for home in self._engine.homes:
            home.events.tell(LinkChanged, None, source=before, dest=state, error=self.link.error)
