"""The votes in force on each core, summed over all sessions, and the sessions that decide them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs

from htppower.backends.simulated.clocks import Client, Effective, ProcessSettings, effective_clocks
from htppower.events import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from htppower.control.core.session_record import SessionRecord
    from htppower.votes.vote_set import VoteSet

# Reading the value from the class each time would take longer.
_UNKNOWN = State.UNKNOWN


@attrs.frozen
class CoreStatus:
    """One core, according to the votes of this controller. Other processes vote on the core, too.

    Attributes:
        device_id: the device of the core.
        core_id: the core.
        effective: the votes of all sessions, combined as the DSP combines them, in native numbers.
        decided_by: for each clock, ``core``, ``bus`` and ``hmx``, the numbers of the sessions whose target is in force;
            empty if no session votes on it. For ``sleep_latency_us``, the sessions with the smallest value.
        unknown: the numbers of the sessions whose votes on the core are not known: a call failed, the DSP restarted, or
            a graph was initialised after they were sent. The other fields leave these votes out.
    """

    device_id: int
    core_id: int
    effective: Effective
    decided_by: Mapping[str, tuple[int, ...]]
    unknown: tuple[int, ...]


def core_statuses(sessions: Iterable[SessionRecord], process: VoteSet) -> tuple[CoreStatus, ...]:
    """Return every core that a session has a power config id on, in order; ``process``: the process-wide settings."""
    settings = ProcessSettings()
    for config in process.native(0):
        settings = settings.after(config)
    # Thousands of sessions may have the same few votes, so equal votes are aggregated once. A key consists of the known
    # and the doubtful votes; it is None for a session that is UNKNOWN.
    cores: dict[tuple[int, int], dict[tuple[VoteSet, VoteSet] | None, list[int]]] = {}
    for session in sessions:
        for core_id, ledger in session.ledgers.items():
            now = ledger.now
            votes = None if session.state is _UNKNOWN else (now.known, now.doubtful)
            cores.setdefault((session.device_id, core_id), {}).setdefault(votes, []).append(session.number)
    return tuple(_core_status(*core, cores[core], settings) for core in sorted(cores))


def _core_status(
    device_id: int,
    core_id: int,
    voters: Mapping[tuple[VoteSet, VoteSet] | None, list[int]],
    settings: ProcessSettings,
) -> CoreStatus:
    clients, unknown = [], []
    for votes, numbers in voters.items():
        if votes is None or votes[1]:
            unknown += numbers
        else:
            client = Client(device_id, core_id)
            for config in votes[0].native(0):
                client.apply(config)
            clients.append((numbers, client))
    # The result depends on whether a client is alone, but not on how many equal clients there are, so two stand for
    # all.
    effective = effective_clocks([client for numbers, client in clients for _ in numbers[:2]], settings)
    return CoreStatus(device_id, core_id, effective, _deciding(clients, effective), tuple(sorted(unknown)))


def _deciding(clients: list[tuple[list[int], Client]], effective: Effective) -> dict[str, tuple[int, ...]]:
    """Return the sessions whose votes are in force, for each clock and for the sleep latency."""
    in_expanded = any(client.active and client.expanded for _, client in clients)
    in_force = {"core": effective.core_target, "bus": effective.bus_target, "hmx": effective.hmx_target}
    asleep = Client(0, 0)

    def target(client: Client, clock: str) -> int:
        return client.corners(clock, in_expanded=in_expanded)[1]

    def decides(client: Client, clock: str) -> bool:
        # The DSP ignores the HMX vote of a client without a core vote.
        counts = client.active and (clock != "hmx" or target(client, "core") != target(asleep, "core"))
        return counts and target(client, clock) == in_force[clock] != target(asleep, clock)

    decided = {clock: _sessions(numbers for numbers, each in clients if decides(each, clock)) for clock in in_force}
    latency_us = effective.sleep_latency_us
    wishes = (numbers for numbers, each in clients if each.sleep_latency_us == latency_us != asleep.sleep_latency_us)
    return {**decided, "sleep_latency_us": _sessions(wishes)}


def _sessions(groups: Iterable[list[int]]) -> tuple[int, ...]:
    return tuple(sorted(itertools.chain.from_iterable(groups)))
