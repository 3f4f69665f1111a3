"""The cost of votes as numbers that rise with the possible power draw, and the order of vote sets. No watts are known.

Sources: HAP_power for the effect of clocks, DCVS and sleep; the vendor's page for RPC polling, and for the HMX timeout
that applies without a vote. A tolerated latency has no cost here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.votes.clock_votes import CENG_DEFAULT, HMX_DEFAULT
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, as_expanded
from htppower.votes.options import DEFAULT_HMX_TIMEOUT_US, VOTE_OPTIONS, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.votes.clock_votes import DcvsV3, DcvsV3Exp
    from htppower.votes.vote_set import VoteSet

# A corner as an expanded number, and the place of its frequency at that corner. A greater pair is a faster clock.
_AtCorner = tuple[int, int]
_NOT_ASKED: _AtCorner = (0, 0)
CLOCKS = ("bus", "core")
_NO_SLEEP_WISH_US = 65535
_NO_LIMIT = 1 << 17
_NO_TIME_US = 1 << 33
# Spelt out: the interpreter's cache of attribute names keeps each text that is built at run time.
_PERF_MODES = {"core": "core_perf_mode", "bus": "bus_perf_mode"}


def costs(votes: VoteSet) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the fields of a vote set that cost power, each with its cost. Costs of the same field can be compared.

    Both forms of a vote use the fields of the plain form.
    """
    for option, of_option in _COSTS.items():
        for field, cost in of_option(votes):
            yield ("votes", VOTE_OPTIONS[option].field, *field), cost


def height(limit: str, corner: int | None) -> int:
    """Return how high a limit (``min``, ``target`` or ``max``) allows or forces a clock to be.

    DISABLE and unset are not limits: as min or target they rank below every corner, as max above every corner. An unset
    limit leaves an earlier vote of the id in force.
    """
    if corner is not None and getattr(corner, "name", "") != "DISABLE":
        return int(as_expanded(corner))
    return (_NO_LIMIT if limit == "max" else 0) + int(corner is None)


def clock_cost(hvx: DcvsV3 | DcvsV3Exp | None, clock: str) -> tuple[int, int, int]:
    """Return the highest and the lowest corner that a clock may have, and its frequency there.

    All are 0 for a client that is not active.
    """
    corners = None if hvx is None else getattr(hvx, clock)
    if hvx is None or corners is None or not hvx.active:
        return 0, 0, 0
    at_corner = frequency(_of_clock(hvx, clock)[1])
    if hvx.dcvs_enable:
        return height("max", corners.max), height("min", corners.min), at_corner
    return height("target", corners.target), height("target", corners.target), at_corner


def _of_clock(hvx: DcvsV3 | DcvsV3Exp | None, clock: str) -> tuple[Any, ClkPerfMode]:
    """Return the corners of a clock and the frequency at its corner, which is HIGH in the plain form."""
    return getattr(hvx, clock, None), getattr(hvx, _PERF_MODES[clock], ClkPerfMode.HIGH)


def sleep_disable_cost(sleep_disable: bool | None) -> int:
    """Return the cost of keeping the DSP awake; False clears an earlier vote, unset leaves it in force."""
    return {False: 0, None: 1, True: 2}[sleep_disable]


def hmx_cost(votes: VoteSet) -> tuple[int, int, int, int, int]:
    """Return the corners and the frequency of the HMX clock, and whether they are voted separately from the core.

    Without a vote, and with the default vote, the HMX follows the core's clock (rule HMX-4).
    """
    hmx, hvx = votes.hmx_v2, votes.hvx
    if hmx is not None and hmx != HMX_DEFAULT:
        return (*_one_clock(hmx), frequency(hmx.perf_mode), 1)
    core = None if hvx is None or not hvx.active else hvx.core
    return (0, 0, 0, 0, 0) if core is None else (*_one_clock(core), frequency(ClkPerfMode.HIGH), 0)


def ceng_cost(votes: VoteSet) -> tuple[int, int, int, int]:
    """Return the corners and the frequency of the compression engine's clock."""
    vote = votes.ceng or votes.ceng_exp or CENG_DEFAULT
    return (*_one_clock(vote), frequency(vote.perf_mode))


def _one_clock(corners: Any) -> tuple[int, int, int]:
    return height("target", corners.target), height("max", corners.max), height("min", corners.min)


def frequency(mode: ClkPerfMode) -> int:
    """Return the place of a perf mode among the frequencies of a corner."""
    if mode is ClkPerfMode.MAX:
        return 1
    return -int(ClkPerfMode.MAX) if mode is ClkPerfMode.LOW else -int(mode)


def adaptive_cost(votes: VoteSet) -> int:
    """Return the cost of the remaining polling: it rises with the adaptive threshold, and is 0 without polling.

    Adaptive polling has no effect without polling (rule RPC-2), and reduces the cost of polling.
    """
    if not votes.rpc_polling_time_us:
        return 0
    return votes.adaptive_polling_time_us or _NO_TIME_US


def _hvx_costs(votes: VoteSet) -> Iterator[tuple[tuple[str, ...], Any]]:
    hvx = votes.hvx
    for clock in CLOCKS:
        yield (clock,), clock_cost(hvx, clock)
    yield ("sleep_disable",), sleep_disable_cost(None if hvx is None else hvx.sleep_disable)


# The cost of each option, in both of its forms, by the field of its struct; a latency has no cost.
_COSTS: Mapping[Option, Callable[[VoteSet], Iterable[tuple[tuple[str, ...], Any]]]] = {
    Option.DCVS_V3: _hvx_costs,
    Option.HMX_V2: lambda votes: [((), hmx_cost(votes))],
    Option.CENG: lambda votes: [((), ceng_cost(votes))],
    Option.RPC_CONTROL_LATENCY: lambda _votes: (),
    Option.RPC_POLLING_TIME: lambda votes: [((), votes.rpc_polling_time_us or 0)],
    Option.ADAPTIVE_POLLING_TIME: lambda votes: [((), adaptive_cost(votes))],
    Option.HMX_TIMEOUT_INTERVAL_US: lambda votes: [
        ((), DEFAULT_HMX_TIMEOUT_US if votes.hmx_timeout_us is None else votes.hmx_timeout_us)
    ],
    Option.DDR_PERF_MODE: lambda votes: [((), bool(votes.ddr_perf_mode))],
}


def rank(votes: VoteSet) -> tuple[Any, ...]:
    """Return the rank of votes in the vendor's order of profiles; a higher rank means higher performance.

    The clocks count first: core, bus, HMX, then the compression engine's; then the wake-up time of the DSP, then
    polling. A set without votes ranks below all others.
    """
    sleep_latency_us = None if votes.hvx is None else votes.hvx.sleep_latency_us
    return (
        bool(votes),
        *_clocks(votes),
        -(_NO_SLEEP_WISH_US if sleep_latency_us is None else sleep_latency_us),
        votes.rpc_polling_time_us or 0,
    )


def exceeds(votes: VoteSet, cap: VoteSet) -> bool:
    """Return whether votes ask for more than others: a higher clock, more polling, or keeping the DSP or DDR up.

    An empty vote set exceeds nothing.
    """
    return any(asked > limit for asked, limit in zip(_heat(votes), _heat(cap), strict=True))


def _heat(votes: VoteSet) -> tuple[Any, ...]:
    """Return the parts of the votes that cost power in addition to the clocks."""
    awake = votes.hvx is not None and bool(votes.hvx.sleep_disable)
    return (*_clocks(votes), votes.rpc_polling_time_us or 0, awake, bool(votes.ddr_perf_mode))


def _clocks(votes: VoteSet) -> tuple[_AtCorner, ...]:
    """Return the requested corner of each clock and its highest possible one: core, bus, HMX, compression engine."""
    hvx, hmx = votes.hvx, votes.hmx_v2
    (core_target, core_max), (bus_target, bus_max) = (_asked(*_of_clock(hvx, clock)) for clock in ("core", "bus"))
    # With the default vote the HMX follows the core, at the highest frequency of its corner.
    of_hmx = (None if hvx is None else hvx.core, ClkPerfMode.HIGH) if hmx is None or hmx.pick_default else _of_one(hmx)
    # Without a vote, the compression engine is at its lowest corner.
    ceng = (at if at[0] > ExpandedCorner.MIN else _NOT_ASKED for at in _asked(*_of_one(votes.ceng or votes.ceng_exp)))
    return core_target, bus_target, core_max, bus_max, *_asked(*of_hmx), *ceng


def _of_one(vote: Any) -> tuple[Any, ClkPerfMode]:
    return vote, ClkPerfMode.HIGH if vote is None else vote.perf_mode


def _asked(corners: Any, mode: ClkPerfMode) -> tuple[_AtCorner, _AtCorner]:
    """Return target and max, each with its frequency; without a max, the clock may reach the highest corner."""
    if corners is None or corners.target.name == "DISABLE":
        return _NOT_ASKED, _NOT_ASKED
    target, highest, _ = _one_clock(corners)
    return (target, frequency(mode)), (min(highest, ExpandedCorner.MAX), frequency(mode))
