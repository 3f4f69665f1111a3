"""What must hold of the second power state: in force at the latest after its time, and never before it.

Written from ``docs/profiles.md``, "then": the time counts from when the votes were relaxed; an inference raises from
either state, and DE-INIT does not end in the second one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from simulation.expectations import expected, in_force

if TYPE_CHECKING:
    from simulation.demand import Client
    from simulation.expectations import InForce
    from simulation.situation import Situation
    from simulation.troubles import Troubles


@attrs.frozen
class Relaxed:
    """Since when the votes of a session are those of its first power state.

    Attributes:
        asked: how many calls of the public API there were that concern it.
        troubles: how often it was in trouble: votes that were lost are relaxed anew.
        since_us: when nobody could go on for the first time.
    """

    asked: int
    troubles: int
    since_us: int


class FurtherRules:
    """What must hold of second power states."""

    def __init__(self, situation: Situation, troubles: Troubles) -> None:
        self._situation = situation
        self._troubles = troubles
        # What was put in force on an id last, and when.
        self._in_force: dict[int, tuple[InForce, int]] = {}
        self._relaxed: dict[Client, Relaxed] = {}
        self._least_us = {
            each.further: min(
                (other.further_least_us, other.lowered)
                for other in expected().values()
                if other.further == each.further
            )[0]
            for each in expected().values()
            if each.further is not None
        }
        self._before = {
            votes: frozenset(each.lowered for each in expected().values() if each.further == votes)
            for votes in self._least_us
        }

    def applied(self, client: Client, power_config_id: int) -> None:
        """Take in that votes have taken effect on an id."""
        situation, now_us = self._situation, self._situation.scheduler.now_us
        found = situation.htp._clients.get(power_config_id)
        if found is None:
            self._in_force.pop(power_config_id, None)
            return
        votes, before = in_force(found), self._in_force.get(power_config_id)
        if before is not None and before[0] == votes:
            return
        self._in_force[power_config_id] = votes, now_us
        self._relaxed.pop(client, None)
        least_us = self._least_us.get(votes)
        if least_us is None or client in self._troubles:
            return
        if before is None or before[0] not in self._before[votes]:
            situation.fail("only relaxed votes relax further", situation.tell(client))
        elif now_us < before[1] + least_us:
            details = f"{now_us - before[1]} us after they were relaxed; {situation.tell(client)}"
            situation.fail("votes relax further after their time", details)
        if client.busy and not client.unsettled:
            situation.fail("only idle votes relax further", situation.tell(client))

    def look(self, client: Client) -> None:
        """Fail where the votes of an idle session should have relaxed further: nobody can go on."""
        situation, ended = self._situation, client.ended
        now_us = situation.scheduler.now_us
        steady = ended is not None and not ended.deinit and ended.asked == client.asked
        steady = steady and not client.busy and not client.unsettled and client not in self._troubles
        if not steady or ended is None or situation.out_of_reach or str(client.session.state) != "LOWERED":
            self._relaxed.pop(client, None)
            return
        profile = expected()[ended.name]
        # A hold that has run out since, of which nothing was asked, leaves it as it is.
        same = client.possible(situation.caps) == [profile]
        if not same or profile.further is None or situation.has(client, frozenset({profile.further})):
            return
        relaxed = self._relaxed.get(client)
        if relaxed is None or (relaxed.asked, relaxed.troubles) != (client.asked, client.troubles):
            self._relaxed[client] = Relaxed(client.asked, client.troubles, now_us)
            situation.scheduler.call_at(now_us + profile.further_most_us, _nothing)
        elif now_us >= relaxed.since_us + profile.further_most_us:
            situation.fail("relaxed votes relax further in time", situation.tell(client))


def _nothing() -> None:
    """Do nothing."""
