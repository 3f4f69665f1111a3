"""The ladder of a pace: which profiles it chooses among."""

from __future__ import annotations

import attrs
import pytest

from htppower.control.pace.ladder import ladder_below, rungs_of, sorted_profiles
from htppower.profiles.loading import load_profile

# The names below burst, from the lowest. extreme_power_saver votes for no clock.
BELOW_BURST = [
    *("low_power_saver", "power_saver", "high_power_saver", "low_balanced", "balanced"),
    *("high_performance", "sustained_high_performance", "burst"),
]


@pytest.mark.parametrize(("top", "count"), [("burst", 8), ("balanced", 5), ("low_power_saver", 1)])
def test_the_shipped_profiles_up_to_a_profile(top: str, count: int) -> None:
    """The profile itself is the highest; profiles that vote for no clock are left out."""
    assert [each.name for each in ladder_below(load_profile(top), load_profile)] == BELOW_BURST[:count]


def test_a_profile_for_decode_has_others_for_decode_below_it() -> None:
    """Both kinds differ in their votes, so they are not mixed."""
    names = [each.name for each in ladder_below(load_profile("llm_decode_burst"), load_profile)]
    assert names[-1] == "llm_decode_burst"
    assert len(names) > 3
    assert all(name.startswith("llm_decode_") for name in names)


def test_a_profile_of_ones_own_takes_the_place_of_the_one_that_it_extends() -> None:
    """A session's own profile is the highest of its ladder."""
    balanced = load_profile("balanced")
    mine = attrs.evolve(balanced, name="mine", lineage=("mine", "balanced"))
    assert [each.name for each in ladder_below(mine, load_profile)] == [*BELOW_BURST[:4], "mine"]


def test_named_profiles_are_sorted_and_each_is_used_once() -> None:
    """Their order in the call has no meaning."""
    named = map(load_profile, ("burst", "power_saver", "balanced", "burst"))
    assert [each.name for each in sorted_profiles(named)] == ["power_saver", "balanced", "burst"]


def test_profiles_without_votes_are_refused() -> None:
    """No clock is known for them."""
    with pytest.raises(ValueError, match="system_settings sends no votes"):
        sorted_profiles([load_profile("burst"), load_profile("system_settings")])
    with pytest.raises(ValueError, match="profiles is empty"):
        sorted_profiles([])


def test_votes_stay_up_if_the_sustain_time_is_a_period_or_longer() -> None:
    """The sustain time of burst is 300 ms; balanced has none."""
    ladder = sorted_profiles(map(load_profile, ("balanced", "burst")))
    speeds = {"balanced": 0.5, "burst": 1.0}
    assert [each.stays_up for each in rungs_of(ladder, speeds, 33_333)] == [False, True]
    assert [each.stays_up for each in rungs_of(ladder, speeds, 300_001)] == [False, False]
