"""What a vote costs, as numbers that rise with the power it may draw; no numbers of watts exist.

Sources: HAP_power for what clocks, DCVS and sleep do; the vendor's page for RPC polling, and for the HMX timeout that
applies where nobody votes. A latency that is tolerated is no cost here: it is told apart from power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.votes.corners import EXPANDED_OF_CORE, ClkPerfMode
from htppower.votes.vote_set import DEFAULT_HMX_TIMEOUT_US, HMX_DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Path
    from htppower.votes.vote_set import DcvsV3, VoteSet

_NO_LIMIT = 1 << 17
_NO_TIME_US = 1 << 33
# False clears what an earlier vote has set; unset leaves it.
_SLEEP_DISABLE = {False: 0, None: 1, True: 2}


def costs(votes: VoteSet) -> Iterator[tuple[Path, Any]]:
    """Yield the fields of a vote set that cost power, each with its cost; costs of one field compare."""
    dcvs = votes.dcvs_v3
    for clock in ("bus", "core"):
        yield ("votes", "dcvs_v3", clock), clock_cost(dcvs, clock)
    yield ("votes", "dcvs_v3", "sleep_disable"), sleep_disable_cost(None if dcvs is None else dcvs.sleep_disable)
    yield ("votes", "hmx_v2"), hmx_cost(votes)
    yield ("votes", "rpc_polling_time_us"), votes.rpc_polling_time_us or 0
    yield ("votes", "adaptive_polling_time_us"), adaptive_cost(votes)
    yield ("votes", "hmx_timeout_us"), hmx_timeout_cost(votes.hmx_timeout_us)
    yield ("votes", "ddr_perf_mode"), bool(votes.ddr_perf_mode)


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
