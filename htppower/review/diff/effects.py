"""The effect of a changed field: on power, on latency, on timing, or on nothing but wording."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from htppower.rules import power_order
from htppower.votes.corners import PowerMode

if TYPE_CHECKING:
    from htppower.rules.case import Path
    from htppower.votes.clock_votes import DcvsV3
    from htppower.votes.vote_set import VoteSet


class Effect(str, enum.Enum):
    """What a change does, the weightiest first."""

    RAISES_POWER = "raises power"
    LOWERS_POWER = "lowers power"
    CHANGES_LATENCY = "changes latency"
    CHANGES_TIMING = "changes timing"
    WORDING = "wording only"

    __str__ = str.__str__


_MODES = {
    # The two ADJUST modes act alike for votes by corner (HAP_power).
    PowerMode.POWER_SAVER_AGGRESSIVE: 0,
    PowerMode.POWER_SAVER: 1,
    PowerMode.ADJUST_UP_DOWN: 2,
    PowerMode.ADJUST_ONLY_UP: 2,
    PowerMode.PERFORMANCE: 3,
}


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
    if option == "hmx_v2" and rest:
        return _of_hmx(rest[0], old, new)
    one, other = (dict(power_order.costs(votes)).get(("votes", option)) for votes in (before, after))
    if one is None or other is None:
        return Effect.CHANGES_LATENCY
    if option == "hmx_v2" and one[:-1] != other[:-1]:
        return _of_bounds(one[:-1], other[:-1])
    return _compared(one, other)


def _of_dcvs(rest: list[str], old: Any, new: Any, before: DcvsV3 | None, after: DcvsV3 | None) -> Effect:
    field = rest[0]
    if field == "sleep_latency_us":
        return Effect.CHANGES_LATENCY
    if field == "sleep_disable":
        return _compared(power_order.sleep_disable_cost(old), power_order.sleep_disable_cost(new))
    if field == "dcvs_enable":
        return _of_bounds(
            *((*power_order.clock_cost(vote, "core"), *power_order.clock_cost(vote, "bus")) for vote in (before, after))
        )
    if field == "power_mode":
        return _of_power_mode(old, new, before, after)
    # A limit counts whether or not DCVS moves this client's clock: another client of the core may let it. But a client
    # without a core target is not active, and limits nothing.
    limit = rest[1] if rest[1:] else "target"
    heights = [
        power_order.height(limit, corners if rest[1:] else getattr(corners, "target", None))
        if vote is not None and vote.active
        else 0
        for corners, vote in ((old, before), (new, after))
    ]
    return _compared(*heights)


def _of_power_mode(old: PowerMode, new: PowerMode, before: DcvsV3 | None, after: DcvsV3 | None) -> Effect:
    """Return the effect of another power mode, which does nothing unless DCVS is on (rule DCVS-3)."""
    if not any(vote is not None and vote.active and vote.dcvs_enable for vote in (before, after)):
        return Effect.WORDING
    if PowerMode.DUTY_CYCLE in (old, new):
        return Effect.CHANGES_TIMING
    return _compared(_MODES.get(old, -1), _MODES.get(new, -1))


def _of_bounds(old: tuple[int, ...], new: tuple[int, ...]) -> Effect:
    """Return the effect of other bounds of a clock; where one rises and another falls, it may draw more."""
    if any(after > before for before, after in zip(old, new, strict=True)):
        return Effect.RAISES_POWER
    return _compared(old, new)


def _of_hmx(part: str, old: Any, new: Any) -> Effect:
    if part == "perf_mode":
        return _compared(power_order.frequency(old), power_order.frequency(new))
    return _compared(power_order.height(part, old), power_order.height(part, new))


def _compared(old: Any, new: Any) -> Effect:
    if old == new:
        return Effect.WORDING
    return Effect.RAISES_POWER if new > old else Effect.LOWERS_POWER
