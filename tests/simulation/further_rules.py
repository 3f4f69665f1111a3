"""Rules for the second power state: the votes relax to it at their time, and never before.

Written from ``docs/profiles.md``, "then": the time counts from the moment when the votes were relaxed. An inference
raises from either state, and DE-INIT does not end in the second state. "Votes that another profile has relaxed stay as
they are until that one is used again": then they relax to the second state, even if another profile was used meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from simulation.expectations import expected, in_force
from support.inside import clients_of

if TYPE_CHECKING:
    from simulation.demand import Client
    from simulation.expectations import InForce
    from simulation.situation import Situation, Troubles


@attrs.define
class Relaxed:
    """A session whose votes are relaxed to a first power state.

    Attributes:
        by: the names of the profiles that may have relaxed them.
        troubles: how often the session was in trouble: after a loss the votes are relaxed again.
        since_us: the time when no task could run for the first time; None before that.
    """

    by: frozenset[str]
    troubles: int = 0
    since_us: int | None = None


class FurtherRules:
    """Judges the second power states of sessions."""

    def __init__(self, situation: Situation, troubles: Troubles) -> None:
        self._situation = situation
        self._troubles = troubles
        # The last votes on an id, and their time.
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
        # The first power states of the profiles that have a second one.
        self._first = frozenset(
            each.lowered for each in expected().values() if each.further is not None and each.lowered is not None
        )
        self._before = {
            votes: frozenset(each.lowered for each in expected().values() if each.further == votes)
            for votes in self._least_us
        }

    def applied(self, client: Client, power_config_id: int) -> None:
        """Judge votes that have taken effect on an id."""
        situation, now_us = self._situation, self._situation.scheduler.now_us
        found = clients_of(situation.htp).get(power_config_id)
        if found is None:
            self._in_force.pop(power_config_id, None)
            self._relaxed.pop(client, None)
            return
        votes, before = in_force(found), self._in_force.get(power_config_id)
        possible = frozenset(each.profile.name for each in client.possible(situation.caps))
        relaxed = self._relaxed.get(client)
        if relaxed is not None:
            # If the same votes are sent again, or on another core, either profile may have relaxed them.
            relaxed.by |= possible
        if before is not None and before[0] == votes:
            return
        self._in_force[power_config_id] = votes, now_us
        if votes not in self._first:
            self._relaxed.pop(client, None)
        elif relaxed is None:
            self._relaxed[client] = Relaxed(possible)
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
        """Fail if the votes of an idle session should have relaxed to the second state, since no task can run."""
        situation, relaxed = self._situation, self._relaxed.get(client)
        if relaxed is None or client.busy or client.unsettled or client.closing:
            return
        now_us = situation.scheduler.now_us
        lost = client in self._troubles or situation.out_of_reach or str(client.session.state) != "LOWERED"
        if lost or not situation.has(client, self._first):
            relaxed.since_us = None
            return
        if relaxed.since_us is None or relaxed.troubles != client.troubles:
            relaxed.since_us, relaxed.troubles = now_us, client.troubles
            for each in map(expected().get, relaxed.by):
                if each is not None and each.further is not None:
                    situation.scheduler.call_at(now_us + each.further_most_us, lambda: None)
        possible = client.possible(situation.caps)
        if (
            situation.is_asked(client)
            or possible[0].further is None
            or len(relaxed.by) > 1
            or relaxed.by != {each.profile.name for each in possible}
        ):
            return
        if now_us >= relaxed.since_us + possible[0].further_most_us:
            situation.fail("relaxed votes relax further in time", situation.tell(client))
