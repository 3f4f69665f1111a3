"""What is in force on each core, over the votes of all sessions, and whose votes decide it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs

from htppower.backends.simulated.clocks import Client, Effective, ProcessSettings, effective_clocks
from htppower.events import State
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from htppower.control.core.ledger import InForce
    from htppower.control.core.session_record import SessionRecord
    from htppower.votes.vote_set import VoteSet

# Read off the class it takes longer.
_UNKNOWN = State.UNKNOWN
CLOCKS = ("core", "bus", "hmx")


@attrs.frozen
class CoreStatus:
    """One core, as far as this controller's own votes go: other processes vote on it, too.

    Attributes:
        device_id, core_id: which core.
        effective: what the votes of all sessions add up to, as the DSP aggregates them, in native numbers.
        decided_by: for each clock, ``core``, ``bus`` and ``hmx``, the numbers of the sessions whose target is the one
            in force; empty where none is voted. And for ``sleep_latency_us`` those with the smallest wish.
        unknown: the numbers of the sessions whose votes on the core are not known: a call failed, the DSP restarted, or
            a graph was initialised since they were cast. They are not in what is above.
    """

    device_id: int
    core_id: int
    effective: Effective
    decided_by: Mapping[str, tuple[int, ...]]
    unknown: tuple[int, ...]

    __repr__ = field_repr


class _Voters:
    """The sessions that have a power config id on one core.

    Attributes:
        alike: what is known of their votes, with the numbers of those of which it is: mostly many have the same object,
            which is found sooner than an equal one. It is kept as long as its id stands for it.
        unknown: the numbers of those of which nothing is.
    """

    __slots__ = ("alike", "unknown")

    def __init__(self) -> None:
        self.alike: dict[int, tuple[InForce, list[int]]] = {}
        self.unknown: list[int] = []


def core_statuses(sessions: Iterable[SessionRecord], process: VoteSet) -> tuple[CoreStatus, ...]:
    """Return every core on which a session has a power config id, in order."""
    cores: dict[tuple[int, int], _Voters] = {}
    for session in sessions:
        for core_id, ledger in session.ledgers.items():
            core = session.device_id, core_id
            voters = cores.get(core)
            if voters is None:
                voters = cores[core] = _Voters()
            if session.state is _UNKNOWN:
                voters.unknown.append(session.number)
                continue
            now = ledger.now
            alike = voters.alike.get(id(now))
            if alike is None:
                alike = voters.alike[id(now)] = (now, [])
            alike[1].append(session.number)
    return tuple(_core_status(*core, cores[core], process) for core in sorted(cores))


def _core_status(device_id: int, core_id: int, voters: _Voters, settings: VoteSet) -> CoreStatus:
    # Sessions whose votes are equal are one client to the DSP's sums: there may be thousands, and few profiles.
    known: dict[VoteSet, list[int]] = {}
    unknown = voters.unknown
    process = ProcessSettings()
    for config in settings.native(0):
        process = process.after(config)
    for now, numbers in voters.alike.values():
        if now.doubtful:
            unknown += numbers
        else:
            known.setdefault(now.known, []).extend(numbers)
    clients = [(numbers, _client(device_id, core_id, votes)) for votes, numbers in known.items()]
    # Whether a client is alone matters, but not how many others there are.
    effective = effective_clocks([client for numbers, client in clients for _ in numbers[:2]], process)
    return CoreStatus(device_id, core_id, effective, _deciding(clients, effective), tuple(sorted(unknown)))


def _client(device_id: int, core_id: int, votes: VoteSet) -> Client:
    client = Client(device_id, core_id)
    for config in votes.native(0):
        client.apply(config)
    return client


def _deciding(known: Sequence[tuple[Sequence[int], Client]], effective: Effective) -> dict[str, tuple[int, ...]]:
    """Return whose votes are the ones in force, by what they decide."""
    active = [(numbers, client) for numbers, client in known if client.active]
    targets = {"core": effective.core_target, "bus": effective.bus_target, "hmx": effective.hmx_target}
    asleep = Client(0, 0)
    in_expanded = any(client.expanded for _, client in active)
    none = {clock: asleep.corners(clock, in_expanded=in_expanded)[1] for clock in CLOCKS}
    decided = {
        clock: _in_order(
            numbers
            for numbers, client in active
            if targets[clock] != none[clock]
            and client.corners(clock, in_expanded=in_expanded)[1] == targets[clock]
            # The DSP takes no HMX vote of a client without a core vote.
            and (clock != "hmx" or client.corners("core", in_expanded=in_expanded)[1] != none["core"])
        )
        for clock in CLOCKS
    }
    latency_us = effective.sleep_latency_us
    decided["sleep_latency_us"] = _in_order(
        numbers
        for numbers, client in known
        if latency_us != asleep.sleep_latency_us and client.sleep_latency_us == latency_us
    )
    return decided


def _in_order(found: Iterable[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted(itertools.chain.from_iterable(found)))
