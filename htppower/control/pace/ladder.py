"""The ladder of a pace: the profiles that it chooses among, from the lowest to the highest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.pace.chooser import Rung
from htppower.control.plans.precedence import rank
from htppower.profiles.names import LLM_DECODE_PROFILES, SHIPPED_PROFILES
from htppower.profiles.speeds import speed_of
from htppower.profiles.sustain import first_us

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from htppower.profiles.profile import Profile

_DECODE = frozenset(LLM_DECODE_PROFILES)


def ladder_below(top: Profile, load: Callable[[str], Profile]) -> tuple[Profile, ...]:
    """Return the shipped profiles that vote for clocks and are lower than a profile, from the lowest, and itself.

    A profile for decode has the profiles for decode below it. The profile itself stands in place of the shipped profile
    that it extends.
    """
    names = LLM_DECODE_PROFILES if _DECODE & set(top.lineage) else SHIPPED_PROFILES
    shipped = [load(name) for name in names if name not in top.lineage]
    return sorted_profiles((*(each for each in shipped if _votes_a_clock(each) and rank(each) < rank(top)), top))


def sorted_profiles(profiles: Iterable[Profile]) -> tuple[Profile, ...]:
    """Return profiles in the vendor's order, from the lowest, each once.

    Raises:
        ValueError: there is none, or one of them sends no votes.
    """
    found = tuple(sorted(dict.fromkeys(profiles), key=rank))
    if not found:
        raise ValueError("profiles is empty: name the profiles that the pace chooses among")
    for profile in found:
        if not profile.votes:
            raise ValueError(f"{profile.name} sends no votes, so a pace can't choose it: name profiles that vote")
    return found


def rungs_of(profiles: Iterable[Profile], speeds: Mapping[str, float], period_us: float) -> tuple[Rung, ...]:
    """Return the rungs of a ladder; ``speeds``: those that a device model states, by profile."""
    return tuple(Rung(each, speed_of(each, speeds), stays_up=_stays_up(each, period_us)) for each in profiles)


def _stays_up(profile: Profile, period_us: float) -> bool:
    """Return whether the votes of a profile stay up for a period, or are raised before an inference."""
    relax = profile.relax
    return relax is not None and (first_us(relax.after_inference_us) >= period_us or relax.raise_ahead_us > 0)


def _votes_a_clock(profile: Profile) -> bool:
    return profile.votes.hvx is not None and profile.votes.hvx.active
