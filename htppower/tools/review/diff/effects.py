"""The effect of a changed field: on power, latency, timing, or only wording."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import attrs

from htppower.rules import power_order
from htppower.votes.clock_votes import DcvsV3
from htppower.votes.corners import ClkPerfMode, PowerMode
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.errors import KeyPath
    from htppower.votes.clock_votes import DcvsV3Exp
    from htppower.votes.vote_set import VoteSet

    Hvx = DcvsV3 | DcvsV3Exp


class Effect(str, enum.Enum):
    """The effect of a change, the largest first.

    ``NO_VOTE`` is the effect of a setting of an extension file that sends no vote. It has another effect, or none.
    """

    RAISES_POWER = "raises power"
    LOWERS_POWER = "lowers power"
    CHANGES_LATENCY = "changes latency"
    CHANGES_TIMING = "changes timing"
    NO_VOTE = "no vote"
    WORDING = "wording only"

    __str__ = str.__str__


_MODES = {
    # For votes by corner the two ADJUST modes act in the same way (HAP_power).
    PowerMode.POWER_SAVER_AGGRESSIVE: 0,
    PowerMode.POWER_SAVER: 1,
    PowerMode.ADJUST_UP_DOWN: 2,
    PowerMode.ADJUST_ONLY_UP: 2,
    PowerMode.PERFORMANCE: 3,
}


def effect_of(at: KeyPath, old: Any, new: Any, before: VoteSet, after: VoteSet) -> Effect:
    """Return the effect of a change of one vote field, or of one corner of it, between two vote sets."""
    field, *rest = at[1:]
    about = BY_FIELD[field]
    if about.partial and rest:
        return _hvx_effect(rest, old, new, before, after)
    if rest == ["perf_mode"]:
        return _power_effect(power_order.frequency(old), power_order.frequency(new))
    if rest:
        return _power_effect(power_order.height(rest[0], old), power_order.height(rest[0], new))
    costs = [dict(power_order.costs(votes)) for votes in (before, after)]
    # The costs have both forms of a vote under the field of one of them.
    forms = (field, *(each.field for each in VOTE_OPTIONS.values() if each.other_form is about.option))
    key = next((("votes", name) for name in forms if ("votes", name) in costs[0]), None)
    if key is None:
        return Effect.CHANGES_LATENCY
    one, other_cost = (cost[key] for cost in costs)
    if field == "hmx_v2":
        bounds = one[:-1], other_cost[:-1]
        return _bounds_effect(*bounds) if bounds[0] != bounds[1] else _power_effect(one, other_cost)
    return _bounds_effect(one, other_cost) if isinstance(one, tuple) else _power_effect(one, other_cost)


def _hvx_effect(rest: list[str], old: Any, new: Any, before: VoteSet, after: VoteSet) -> Effect:
    """Return the effect of a change in the HVX vote. The form of the vote may change, too."""
    field = rest[0]
    votes = before.hvx, after.hvx
    if field == "sleep_latency_us":
        return Effect.WORDING if old == new else Effect.CHANGES_LATENCY
    if field == "sleep_disable":
        return _power_effect(power_order.sleep_disable_cost(old), power_order.sleep_disable_cost(new))
    if field == "dcvs_enable":
        # In the expanded form DCVS is on, so changes of its corners are compared with DCVS on.
        plain = next((vote for vote in votes if isinstance(vote, DcvsV3)), None)
        compared = votes
        if before.hvx_field != after.hvx_field and None not in votes and plain is not None:
            on = attrs.evolve(plain, dcvs_enable=True)
            compared = (plain, on) if plain is votes[0] else (on, plain)
        return _bounds_effect(
            *((*power_order.clock_cost(vote, "core"), *power_order.clock_cost(vote, "bus")) for vote in compared)
        )
    if field == "power_mode":
        return _power_mode_effect(old, new, *votes)
    if field.endswith("perf_mode"):
        return _power_effect(*(power_order.frequency(mode or ClkPerfMode.HIGH) for mode in (old, new)))
    # A limit counts even if DCVS does not move this client's clock, because another client of the core may let it. A
    # client without a core target is inactive and limits nothing.
    limit = rest[1] if rest[1:] else "target"
    heights = [
        power_order.height(limit, corners if rest[1:] else getattr(corners, "target", None))
        if vote is not None and vote.active
        else 0
        for corners, vote in ((old, votes[0]), (new, votes[1]))
    ]
    return _power_effect(*heights)


def _power_mode_effect(old: PowerMode, new: PowerMode, before: Hvx | None, after: Hvx | None) -> Effect:
    """Return the effect of another power mode. It has no effect unless DCVS is on (rule DCVS-3)."""
    if not any(vote is not None and vote.active and vote.dcvs_enable for vote in (before, after)):
        return Effect.WORDING
    if PowerMode.DUTY_CYCLE in (old, new):
        return Effect.CHANGES_TIMING
    return _power_effect(_MODES.get(old, -1), _MODES.get(new, -1))


def _bounds_effect(old: tuple[int, ...], new: tuple[int, ...]) -> Effect:
    """Return the effect of other bounds of a clock. If one of them rises, the clock may draw more."""
    if any(after > before for before, after in zip(old, new, strict=True)):
        return Effect.RAISES_POWER
    return _power_effect(old, new)


def _power_effect(old: Any, new: Any) -> Effect:
    if old == new:
        return Effect.WORDING
    return Effect.RAISES_POWER if new > old else Effect.LOWERS_POWER
