"""What must hold of the settings of the whole process: of several wishes the largest polling, the smallest latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from simulation.situation import HEARTBEAT_US

if TYPE_CHECKING:
    from simulation.demand import Client
    from simulation.expectations import Expected
    from simulation.situation import Situation
    from simulation.troubles import Troubles

SUFFICES = "settings of the process suffice"
GIVEN_BACK = "settings of the process are given back"


@attrs.frozen
class Range:
    """What may be in force.

    Attributes:
        least_polling_us, most_polling_us: RPC polling.
        least_latency_us, most_latency_us: the control latency; a most of 0 is any, since it can't be taken back.
    """

    least_polling_us: int
    most_polling_us: int
    least_latency_us: int
    most_latency_us: int


class ProcessRules:
    """What must hold of the process, and of the controller as a whole."""

    def __init__(self, situation: Situation, troubles: Troubles) -> None:
        self._situation = situation
        self._troubles = troubles
        self._restarted_us = 0
        self._in_trouble = False
        self._up_since_restart: list[Client] = []

    def check(self) -> None:
        """Fail where the settings do not suffice for those that are surely in use, and nothing explains that."""
        if None not in self._troubles and not self._suffices(self._range()):
            self._situation.fail(SUFFICES, self.tell())

    def look(self) -> None:
        """Look at the settings when nobody can go on; fail where they are wrong."""
        found, settings = self._range(), self._situation.htp._process
        excess = settings.rpc_polling_time_us > found.most_polling_us or (
            found.most_latency_us > 0 and settings.rpc_control_latency_us < found.least_latency_us
        )
        if self._suffices(found) and not excess:
            if self._is_sure():
                self._troubles.over(None)
            return
        self._troubles.explain(None, GIVEN_BACK if excess else SUFFICES, self.tell())

    def _is_sure(self) -> bool:
        """Return whether settings that may be as they are must be so: nobody is in trouble, or may ask for less.

        A session whose call failed half-way may have to give back, or to get, a setting of the process yet.
        """
        situation = self._situation
        if situation.out_of_reach or situation.under_way or situation.operations:
            return False
        certain = all(situation.must_be_up(each) or not situation.may_be_up(each) for each in situation.clients)
        return certain and self._troubles.open == [None]

    def look_at_caps(self) -> None:
        """Fail where other caps stand than were set, when nobody can go on and nothing is under way."""
        situation = self._situation
        if situation.operations or situation.controller_closed:
            return
        situation.caps = [cap for cap in situation.caps if cap.certain]
        found = sorted(cap.profile.name for cap in situation.controller.caps)
        wanted = sorted(cap.name for cap in situation.caps)
        if found != wanted:
            situation.fail("caps stand as they were set", f"{found}, not {wanted}")

    def restarted(self) -> None:
        """Take in that the subsystem was restarted."""
        self._restarted_us = self._situation.scheduler.clock.idle_us
        self._in_trouble = bool(self._troubles.open)
        self._up_since_restart = [client for client in self._situation.clients if client.busy]

    def look_at_heartbeat(self) -> None:
        """Fail where a restart has stayed unnoticed for too long while a session was up, where that is promised."""
        situation = self._situation
        longest_us = situation.promises.heartbeat_us
        self._up_since_restart = [client for client in self._up_since_restart if situation.must_be_up(client)]
        if longest_us is None or not situation.htp._unnoticed or not self._up_since_restart:
            return
        unnoticed_us = situation.scheduler.clock.idle_us - self._restarted_us
        # A session that was UNKNOWN is voted when its back-off is over; one that is RAISED is looked at with each beat.
        if unnoticed_us > (longest_us if self._in_trouble else 2 * HEARTBEAT_US):
            details = f"not for {unnoticed_us} us; {situation.tell(self._up_since_restart[0])}"
            situation.fail("a restart is noticed by the heartbeat", details)

    def tell(self) -> str:
        """Return how the settings are, in a line."""
        settings = self._situation.htp._process
        return (
            f"polling {settings.rpc_polling_time_us} us, latency {settings.rpc_control_latency_us} us, "
            f"of {self._range()}, now {self._situation.scheduler.now_us} us"
        )

    def _suffices(self, found: Range) -> bool:
        settings = self._situation.htp._process
        if settings.rpc_polling_time_us < found.least_polling_us:
            return False
        return not found.most_latency_us or 0 < settings.rpc_control_latency_us <= found.most_latency_us

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
            own_call = any(situation.waits_for(call, client) for call in situation.under_way)
            if (
                client.closing
                or own_call
                or situation.may_be_up(client)
                or client in troubles
                or _is_vague(client, possible)
            ):
                most_polling = max(most_polling, *(each.polling_us for each in possible))
                least_latency = min([each.latency_us for each in possible if each.latency_us] + [least_latency])
        return Range(least_polling, most_polling, least_latency, most_latency)


def _is_vague(client: Client, possible: list[Expected]) -> bool:
    """Return whether a session's votes may be up for an inference of which nobody knows when it is predicted."""
    return client.foresight.vague and any(each.raise_ahead_us for each in possible)
