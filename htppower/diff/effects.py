"""The effect of a changed field: on power, on latency, on timing, or on nothing but wording.

Sources: HAP_power for what clocks, power modes and sleep do; the vendor's page for RPC polling.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from htppower.corners import EXPANDED_OF_CORE, ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes import HMX_DEFAULT, HmxV2

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.cases import Path
    from htppower.votes import DcvsV3, VoteSet


class Effect(str, enum.Enum):
    """What a change does, the weightiest first."""

    RAISES_POWER = "raises power"
    LOWERS_POWER = "lowers power"
    CHANGES_LATENCY = "changes latency"
    CHANGES_TIMING = "changes timing"
    WORDING = "wording only"

    __str__ = str.__str__


# The vendor's tools keep the HMX on for this long where nobody votes (backend extensions, hmx_timeout_us).
_DEFAULT_HMX_TIMEOUT_US = 300_000
_MODES = {
    # The two ADJUST modes act alike for votes by corner.
    PowerMode.POWER_SAVER_AGGRESSIVE: 0,
    PowerMode.POWER_SAVER: 1,
    PowerMode.ADJUST_UP_DOWN: 2,
    PowerMode.ADJUST_ONLY_UP: 2,
    PowerMode.PERFORMANCE: 3,
}
_NO_LIMIT = 1 << 17


def effect_of(at: Path, old: Any, new: Any, before: VoteSet, after: VoteSet) -> Effect:
    """Return the effect of a change of one vote field.

    Args:
        at: the keys that lead to the field, a corner of a range by itself (``core``, ``min``) included.
        old: its value before; None where it was unset.
        new: its value after.
        before: the vote set that it was part of.
        after: the vote set that it is part of.
    """
    option, *rest = at[1:]
    if option == "dcvs_v3" and rest:
        return _of_dcvs(rest, old, new, before.dcvs_v3, after.dcvs_v3)
    if option == "hmx_v2":
        return _of_hmx(rest, old, new, before, after)
    costs = _COSTS.get(option)
    if costs is None:
        return Effect.CHANGES_LATENCY
    return _compared(costs(old), costs(new))


def _of_dcvs(rest: list[str], old: Any, new: Any, before: DcvsV3 | None, after: DcvsV3 | None) -> Effect:
    field = rest[0]
    if field in {"bus", "core"}:
        return _of_corners(rest[1:], old, new)
    if field == "sleep_latency_us":
        return Effect.CHANGES_LATENCY
    if field == "sleep_disable":
        # False clears what an earlier vote has set; unset leaves it.
        rank = {False: 0, None: 1, True: 2}
        return _compared(rank[old], rank[new])
    if field == "dcvs_enable":
        return _compared(_holds_clocks(old, before), _holds_clocks(new, after))
    return _of_power_mode(old, new, before, after)


def _of_corners(rest: list[str], old: Any, new: Any) -> Effect:
    if rest:
        return _compared(_height(rest[0], old), _height(rest[0], new))
    heights = [
        (_height(limit, getattr(old, limit, None)), _height(limit, getattr(new, limit, None)))
        for limit in ("target", "max", "min")
    ]
    return next((_compared(low, high) for low, high in heights if low != high), Effect.WORDING)


def _height(limit: str, corner: int | None) -> int:
    """Return how high a limit lets the clock be; DISABLE and unset are no limit, so as a max they are the highest."""
    no_vote = corner is None or corner in (VoltageCorner.DISABLE, ExpandedCorner.DISABLE)
    if not no_vote:
        return int(corner or 0)
    # Of two that limit nothing, the one that is unset leaves more in force than DISABLE does.
    return (_NO_LIMIT if limit == "max" else 0) + int(corner is None)


def _holds_clocks(enable: bool | None, vote: DcvsV3 | None) -> tuple[int, int, int]:
    """Return the highest and the lowest clock that an HVX vote allows; holding it costs more than letting DCVS move."""
    moves = {True: 0, None: 1, False: 2}[enable]
    core = None if vote is None else vote.core
    if core is None:
        return 0, 0, moves
    highest, lowest = (core.max, core.min) if enable else (core.target, core.target)
    return _height("max", highest), _height("min", lowest), moves


def _of_power_mode(old: PowerMode, new: PowerMode, before: DcvsV3 | None, after: DcvsV3 | None) -> Effect:
    """Return the effect of another power mode, which does nothing unless DCVS is on (rule DCVS-3)."""
    if not any(vote is not None and vote.dcvs_enable for vote in (before, after)):
        return Effect.WORDING
    if old not in _MODES or new not in _MODES:
        return Effect.CHANGES_TIMING
    return _compared(_MODES[old], _MODES[new])


def _of_hmx(rest: list[str], old: Any, new: Any, before: VoteSet, after: VoteSet) -> Effect:
    if rest == ["perf_mode"]:
        return _compared(_frequency(old), _frequency(new))
    if rest:
        return _compared(_height(rest[0], old), _height(rest[0], new))
    return _compared(_hmx_height(old, before), _hmx_height(new, after))


def _hmx_height(vote: HmxV2 | None, votes: VoteSet) -> int:
    """Return the HMX target; where none is voted, and with the default, it follows the core's (rule HMX-4)."""
    if vote is not None and vote != HMX_DEFAULT:
        return _height("target", vote.target)
    core = None if votes.dcvs_v3 is None else votes.dcvs_v3.core
    return 0 if core is None else _height("target", EXPANDED_OF_CORE[core.target])


def _frequency(mode: ClkPerfMode) -> int:
    """Return the place of a perf mode among the frequencies of a corner."""
    if mode is ClkPerfMode.MAX:
        return 1
    if mode is ClkPerfMode.LOW:
        return -int(ClkPerfMode.MAX)
    return -int(mode)


def _compared(old: Any, new: Any) -> Effect:
    if old == new:
        return Effect.WORDING
    return Effect.RAISES_POWER if new > old else Effect.LOWERS_POWER


def _polling(value: int | None) -> int:
    return value or 0


def _adaptive(value: int | None) -> int:
    """Return a cost: polling that never turns adaptive costs most, and a higher threshold leaves out more models."""
    return value or _NO_LIMIT**2


def _hmx_timeout(value: int | None) -> int:
    return _DEFAULT_HMX_TIMEOUT_US if value is None else value


# Votes of one number that cost power, each with what rises with the cost; the control latency changes latency alone.
_COSTS: dict[str, Callable[[Any], int]] = {
    "rpc_polling_time_us": _polling,
    "adaptive_polling_time_us": _adaptive,
    "hmx_timeout_us": _hmx_timeout,
    "ddr_perf_mode": bool,
}
