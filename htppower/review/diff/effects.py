"""The effect of a changed field: on power, latency, timing, or only wording."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from htppower.rules import power_order
from htppower.votes.corners import ClkPerfMode, PowerMode
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.rules.case import Path
    from htppower.votes.clock_votes import DcvsV3, DcvsV3Exp
    from htppower.votes.vote_set import VoteSet

    Hvx = DcvsV3 | DcvsV3Exp


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
        at: the keys of the field, down to one corner of a range (``core``, ``min``).
        old: its value before; None where it was unset.
        new: its value after.
        before: the vote set with the old value.
        after: the vote set with the new value.
    """
    field, *rest = at[1:]
    about = BY_FIELD[field]
    if about.partial and rest:
        return _of_hvx(rest, old, new, before, after)
    if rest:
        return _of_one_clock(rest[0], old, new)
    costs = [dict(power_order.costs(votes)) for votes in (before, after)]
    # Both forms of a vote are told under the field of one of them.
    forms = (field, *(each.field for each in VOTE_OPTIONS.values() if each.other_form is about.option))
    key = next((("votes", name) for name in forms if ("votes", name) in costs[0]), None)
    if key is None:
        return Effect.CHANGES_LATENCY
    one, other_cost = (cost[key] for cost in costs)
    if field == "hmx_v2":
        bounds = one[:-1], other_cost[:-1]
        return _of_bounds(*bounds) if bounds[0] != bounds[1] else _compared(one, other_cost)
    return _of_bounds(one, other_cost) if isinstance(one, tuple) else _compared(one, other_cost)


def _of_hvx(rest: list[str], old: Any, new: Any, before: VoteSet, after: VoteSet) -> Effect:
    """Return the effect of a change in the HVX vote; where its form changes, it is that of the same field there."""
    field = rest[0]
    votes = before.hvx, after.hvx
    if before.hvx_field != after.hvx_field:
        old, new = (None if vote is None else getattr(vote, field, None) for vote in votes)
    if field == "sleep_latency_us":
        return Effect.WORDING if old == new else Effect.CHANGES_LATENCY
    if field == "sleep_disable":
        return _compared(power_order.sleep_disable_cost(old), power_order.sleep_disable_cost(new))
    if field == "dcvs_enable":
        return _of_bounds(
            *((*power_order.clock_cost(vote, "core"), *power_order.clock_cost(vote, "bus")) for vote in votes)
        )
    if field == "power_mode":
        return _of_power_mode(old, new, *votes)
    if field.endswith("perf_mode"):
        return _compared(*(power_order.frequency(mode or ClkPerfMode.HIGH) for mode in (old, new)))
    # A limit counts even where DCVS does not move this client's clock: another client of the core may let it. A client
    # without a core target is inactive and limits nothing.
    limit = rest[1] if rest[1:] else "target"
    heights = [
        power_order.height(limit, corners if rest[1:] else getattr(corners, "target", None))
        if vote is not None and vote.active
        else 0
        for corners, vote in ((old, votes[0]), (new, votes[1]))
    ]
    return _compared(*heights)


def _of_power_mode(old: PowerMode, new: PowerMode, before: Hvx | None, after: Hvx | None) -> Effect:
    """Return the effect of another power mode, which is none unless DCVS is on (rule DCVS-3)."""
    if not any(vote is not None and vote.active and vote.dcvs_enable for vote in (before, after)):
        return Effect.WORDING
    if PowerMode.DUTY_CYCLE in (old, new):
        return Effect.CHANGES_TIMING
    return _compared(_MODES.get(old, -1), _MODES.get(new, -1))


def _of_bounds(old: tuple[int, ...], new: tuple[int, ...]) -> Effect:
    """Return the effect of other bounds of a clock. Where any rises, the clock may draw more."""
    if any(after > before for before, after in zip(old, new, strict=True)):
        return Effect.RAISES_POWER
    return _compared(old, new)


def _of_one_clock(part: str, old: Any, new: Any) -> Effect:
    if part == "perf_mode":
        return _compared(power_order.frequency(old), power_order.frequency(new))
    return _compared(power_order.height(part, old), power_order.height(part, new))


def _compared(old: Any, new: Any) -> Effect:
    if old == new:
        return Effect.WORDING
    return Effect.RAISES_POWER if new > old else Effect.LOWERS_POWER
