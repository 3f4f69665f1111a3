"""What votes cost, as numbers that rise with the power they may draw, and the order of vote sets; no watts are known.

Sources: HAP_power for what clocks, DCVS and sleep do; the vendor's page for RPC polling, and for the HMX timeout that
applies where nobody votes. A latency that is tolerated is no cost here: it is told apart from power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.votes.clock_votes import HMX_DEFAULT, VoltageRange
from htppower.votes.corners import EXPANDED_OF_CORE, ClkPerfMode, VoltageCorner
from htppower.votes.native import Option
from htppower.votes.options import DEFAULT_HMX_TIMEOUT_US, VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from htppower.rules.case import Path
    from htppower.votes.clock_votes import DcvsV3
    from htppower.votes.vote_set import VoteSet

CLOCKS = ("bus", "core")
_NO_SLEEP_WISH_US = 65535
_NO_LIMIT = 1 << 17
_NO_TIME_US = 1 << 33
# False clears what an earlier vote has set; unset leaves it.
_SLEEP_DISABLE = {False: 0, None: 1, True: 2}


def costs(votes: VoteSet) -> Iterator[tuple[Path, Any]]:
    """Yield the fields of a vote set that cost power, each with its cost; costs of one field compare."""
    for option, about in VOTE_OPTIONS.items():
        for field, cost in _COSTS[option](votes):
            yield ("votes", about.field, *field), cost


def height(limit: str, corner: int | None) -> int:
    """Return how high a limit (``min``, ``target`` or ``max``) lets or makes a clock be.

    DISABLE and unset are no limit: as a min or target they are below every corner, as a max above. Of the two, unset
    leaves in force what another vote of the id has set.
    """
    if corner is not None and getattr(corner, "name", "") != "DISABLE":
        return int(corner)
    return (_NO_LIMIT if limit == "max" else 0) + int(corner is None)


def clock_cost(dcvs: DcvsV3 | None, clock: str) -> tuple[int, int]:
    """Return the highest and the lowest corner at which a clock may be; nothing for a client that is not active."""
    corners = None if dcvs is None else getattr(dcvs, clock)
    if dcvs is None or corners is None or not dcvs.active:
        return 0, 0
    if dcvs.dcvs_enable:
        return height("max", corners.max), height("min", corners.min)
    return height("target", corners.target), height("target", corners.target)


def sleep_disable_cost(sleep_disable: bool | None) -> int:
    """Return the cost of keeping the DSP from sleeping."""
    return _SLEEP_DISABLE[sleep_disable]


def hmx_cost(votes: VoteSet) -> tuple[int, int, int, int, int]:
    """Return the corners and the frequency of the HMX clock, and whether they are voted apart from the core.

    Where none is voted, and with the default, it follows the core's (rule HMX-4).
    """
    hmx, dcvs = votes.hmx_v2, votes.dcvs_v3
    if hmx is not None and hmx != HMX_DEFAULT:
        corners = (height("target", hmx.target), height("max", hmx.max), height("min", hmx.min))
        return (*corners, frequency(hmx.perf_mode), 1)
    core = None if dcvs is None or not dcvs.active else dcvs.core
    if core is None:
        return 0, 0, 0, 0, 0
    target, highest, lowest = (EXPANDED_OF_CORE[corner] for corner in (core.target, core.max, core.min))
    return height("target", target), height("max", highest), height("min", lowest), frequency(ClkPerfMode.HIGH), 0


def frequency(mode: ClkPerfMode) -> int:
    """Return the place of a perf mode among the frequencies of a corner."""
    if mode is ClkPerfMode.MAX:
        return 1
    return -int(ClkPerfMode.MAX) if mode is ClkPerfMode.LOW else -int(mode)


def adaptive_cost(votes: VoteSet) -> int:
    """Return the cost of polling that adaptive polling leaves: the higher its threshold, the more; 0 without polling.

    Adaptive polling does nothing where polling is off (rule RPC-2), and saves what polling costs where it is on.
    """
    if not votes.rpc_polling_time_us:
        return 0
    return votes.adaptive_polling_time_us or _NO_TIME_US


def hmx_timeout_cost(timeout_us: int | None) -> int:
    """Return for how long the HMX stays powered when idle, in us."""
    return DEFAULT_HMX_TIMEOUT_US if timeout_us is None else timeout_us


def _dcvs_costs(votes: VoteSet) -> Iterator[tuple[tuple[str, ...], Any]]:
    dcvs = votes.dcvs_v3
    for clock in CLOCKS:
        yield (clock,), clock_cost(dcvs, clock)
    yield ("sleep_disable",), sleep_disable_cost(None if dcvs is None else dcvs.sleep_disable)


# The costs of each option, by the field of its struct; none for a latency.
_COSTS: Mapping[Option, Callable[[VoteSet], Iterable[tuple[tuple[str, ...], Any]]]] = {
    Option.DCVS_V3: _dcvs_costs,
    Option.HMX_V2: lambda votes: [((), hmx_cost(votes))],
    Option.RPC_CONTROL_LATENCY: lambda _votes: (),
    Option.RPC_POLLING_TIME: lambda votes: [((), votes.rpc_polling_time_us or 0)],
    Option.ADAPTIVE_POLLING_TIME: lambda votes: [((), adaptive_cost(votes))],
    Option.HMX_TIMEOUT_INTERVAL_US: lambda votes: [((), hmx_timeout_cost(votes.hmx_timeout_us))],
    Option.DDR_PERF_MODE: lambda votes: [((), bool(votes.ddr_perf_mode))],
}


def rank(votes: VoteSet) -> tuple[int, ...]:
    """Return where votes stand in the vendor's order of profiles, greater for higher performance.

    First their clocks: core, bus, then HMX; then how soon the DSP wakes up, and polling. No votes are below all others.
    """
    dcvs = votes.dcvs_v3
    sleep_latency_us = None if dcvs is None else dcvs.sleep_latency_us
    return (
        bool(votes),
        *_clocks(votes),
        -(_NO_SLEEP_WISH_US if sleep_latency_us is None else sleep_latency_us),
        votes.rpc_polling_time_us or 0,
    )


def exceeds(votes: VoteSet, cap: VoteSet) -> bool:
    """Return whether votes go beyond others with any clock, with polling, or by keeping DSP or DDR up."""
    return any(asked > limit for asked, limit in zip(_heat(votes), _heat(cap), strict=True))


def _heat(votes: VoteSet) -> tuple[int, ...]:
    """Return what each vote asks for that costs power by itself."""
    dcvs = votes.dcvs_v3
    awake = dcvs is not None and bool(dcvs.sleep_disable)
    return (*_clocks(votes), votes.rpc_polling_time_us or 0, awake, bool(votes.ddr_perf_mode))


def _clocks(votes: VoteSet) -> tuple[int, ...]:
    """Return what is asked of each clock, and how far up it may go: core, bus, HMX."""
    dcvs, hmx = votes.dcvs_v3, votes.hmx_v2
    core_target, core_max = _corners(None if dcvs is None else dcvs.core)
    bus_target, bus_max = _corners(None if dcvs is None else dcvs.bus)
    if hmx is None or hmx.pick_default:
        hmx_target, hmx_max = EXPANDED_OF_CORE[core_target], EXPANDED_OF_CORE[core_max]
    else:
        hmx_target, hmx_max = hmx.target, hmx.max or hmx.target
    return core_target, bus_target, core_max, bus_max, hmx_target, hmx_max


def _corners(corners: VoltageRange | None) -> tuple[VoltageCorner, VoltageCorner]:
    """Return target and max; a max of DISABLE limits nothing where a target is voted (HAP_power)."""
    if corners is None or corners.target is VoltageCorner.DISABLE:
        return VoltageCorner.DISABLE, VoltageCorner.DISABLE
    unlimited = corners.max is VoltageCorner.DISABLE
    return corners.target, VoltageCorner.MAX_VOLTAGE_CORNER if unlimited else corners.max
