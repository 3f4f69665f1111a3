"""Rules for the settings of the process: of all wishes, the longest polling and the shortest latency count."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulation.backend import SET
from simulation.expectations import expected, in_force
from simulation.situation import HEARTBEAT_US
from support.inside import clients_of, settings_of

if TYPE_CHECKING:
    from simulation.backend import NativeCall
    from simulation.demand import Client
    from simulation.expectations import Expected
    from simulation.situation import Situation, Troubles

SUFFICES = "settings of the process suffice"
GIVEN_BACK = "settings of the process are given back"
# If the host reports a loss within this time after a restart, the restart has caused it.
_LATE_US = 1_000_000
POLLING, LATENCY = "RPC_POLLING_TIME", "RPC_CONTROL_LATENCY"


class Range(NamedTuple):
    """The settings that may be in force.

    If ``most_latency_us`` is 0, any latency may be in force, since it can't be reset.
    """

    least_polling_us: int
    most_polling_us: int
    least_latency_us: int
    most_latency_us: int


class ProcessRules:
    """Judges the process, and the controller as a whole.

    Attributes:
        refused: the settings that the platform has refused since the device was created.
        left: whether a session was closed while no call could be made, so that its settings are reset later.
        unnoticed_us: the idle time at a restart, until a call is answered by a link that does not work.
        restarted_us: when the subsystem restarted last.
    """

    def __init__(self, situation: Situation, troubles: Troubles) -> None:
        self._situation = situation
        self._troubles = troubles
        self.refused: set[str] = set()
        self.left = False
        self.restarted_us = -_LATE_US
        self.unnoticed_us: int | None = None
        self._up_since_restart: list[Client] = []

    def begins(self, call: NativeCall) -> None:
        """Fail if a call carries both votes and settings, or settings before the votes of their profile."""
        situation = self._situation
        if call.settings and call.votes:
            situation.fail("a call carries votes or settings of the process, never both", f"{call}")
        if not call.settings or situation.out_of_reach or None in self._troubles:
            return
        sent = {config.option: next(iter(config.fields.values())) for config in call.configs}
        raised = self._raised()
        for option, now_us in ((POLLING, settings_of(situation.htp).rpc_polling_time_us), (LATENCY, 0)):
            sent_us = sent.get(option, 0)
            wishes = {each.polling_us if option == POLLING else each.latency_us for each in raised}
            if sent_us > now_us and sent_us not in wishes:
                situation.fail("clocks are voted before settings of the process", f"{call} sends {sent_us}")

    def _raised(self) -> list[Expected]:
        """Return the profiles whose votes are in force on an id, or may be in force."""
        found = {in_force(each) for each in clients_of(self._situation.htp).values()}
        certain = [each for each in expected().values() if each.raised in found]
        troubled = [client for client in self._troubles.open if client is not None]
        return [*certain, *(each for client in troubled for each in client.possible(self._situation.caps))]

    def ended(self, call: NativeCall) -> None:
        """Record the result of a call with settings."""
        if call.function == SET and call.settings and call.code == 0:
            self.left = False
        elif call.settings and not call.votes and len(call.settings) == 1:
            self.refused |= call.settings

    def check(self) -> None:
        """Fail if the settings are not enough for the sessions that are surely in use, and no trouble explains this."""
        if None not in self._troubles and not self._suffices(self._range()):
            self._situation.fail(SUFFICES, self.tell())

    def look(self) -> None:
        """Judge the settings, since no task can run."""
        found, settings = self._range(), settings_of(self._situation.htp)
        polling = settings.rpc_polling_time_us > found.most_polling_us and POLLING not in self.refused
        latency = found.most_latency_us > 0 and settings.rpc_control_latency_us < found.least_latency_us
        excess = (polling or (latency and LATENCY not in self.refused)) and not self.left
        if self._suffices(found) and not excess:
            if self._is_sure():
                self._troubles.over(None)
            return
        self._troubles.explain(None, GIVEN_BACK if excess else SUFFICES, self.tell())

    def _is_sure(self) -> bool:
        """Return whether the settings are certainly right: no session is in trouble, and every wish is certain."""
        situation = self._situation
        if situation.out_of_reach or situation.operations:
            return False
        certain = all(situation.must_be_up(each) or not situation.may_be_up(each) for each in situation.clients)
        return certain and self._troubles.open == [None]

    def look_at_caps(self) -> None:
        """Fail if the caps in force are not the caps that were set, while nothing is under way."""
        situation = self._situation
        if situation.operations or situation.closed:
            return
        situation.caps = [cap for cap in situation.caps if cap.certain]
        found = sorted(cap.profile.name for cap in situation.controller.caps)
        wanted = sorted(cap.name for cap in situation.caps)
        if found != wanted:
            situation.fail("caps stand as they were set", f"{found}, not {wanted}")

    def restarted(self) -> None:
        """Record a restart of the subsystem."""
        self.restarted_us = self._situation.scheduler.now_us
        if not self._troubles.open:
            self.unnoticed_us = self._situation.scheduler.idle_us
            self._up_since_restart = [client for client in self._situation.clients if client.busy]

    @property
    def may_be_told(self) -> bool:
        """Whether a call of the host may have been answered with a lost link."""
        return not self._situation.backend.well or self._situation.scheduler.now_us < self.restarted_us + _LATE_US

    def look_at_heartbeat(self) -> None:
        """Fail if a restart was not noticed for too long while the votes of a session were up."""
        situation = self._situation
        self._up_since_restart = [client for client in self._up_since_restart if situation.must_be_up(client)]
        if self.unnoticed_us is None or not self._up_since_restart:
            return
        unnoticed_us = situation.scheduler.idle_us - self.unnoticed_us
        if unnoticed_us > 2 * HEARTBEAT_US:
            details = f"not for {unnoticed_us} us; {situation.tell(self._up_since_restart[0])}"
            situation.fail("a restart is noticed by the heartbeat", details)

    def tell(self) -> str:
        """Describe the settings in a line."""
        settings = settings_of(self._situation.htp)
        return (
            f"polling {settings.rpc_polling_time_us} us, latency {settings.rpc_control_latency_us} us, "
            f"of {self._range()}, refused {sorted(self.refused)}, now {self._situation.scheduler.now_us} us"
        )

    def _suffices(self, found: Range) -> bool:
        settings = settings_of(self._situation.htp)
        polls = settings.rpc_polling_time_us >= found.least_polling_us or POLLING in self.refused
        any_latency = not found.most_latency_us or LATENCY in self.refused
        return polls and (any_latency or 0 < settings.rpc_control_latency_us <= found.most_latency_us)

    def _range(self) -> Range:
        situation, troubles = self._situation, self._troubles
        least_polling = most_polling = most_latency = 0
        least_latency = 1 << 31
        for client in situation.clients:
            if client.closed:
                continue
            possible = client.possible(situation.caps)
            if situation.must_be_up(client) and client not in troubles:
                least_polling = max(least_polling, min(each.polling_us for each in possible))
                wish_us = max(each.latency_us for each in possible)
                most_latency = min(most_latency or wish_us, wish_us)
            ahead = client.up_us is not None or any(each.raise_ahead_us for each in possible)
            if client.closing or situation.may_be_up(client) or client in troubles or ahead:
                most_polling = max(most_polling, *(each.polling_us for each in possible))
                least_latency = min([each.latency_us for each in possible if each.latency_us] + [least_latency])
        return Range(least_polling, most_polling, least_latency, most_latency)
