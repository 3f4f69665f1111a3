"""The costs of a profile by a device model: speed, powers, break-even time, lateness, polling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import pytest

from htppower.profiles.loading import load_profile
from htppower.profiles.names import LISTED_FIRST, SHIPPED_PROFILES, SYSTEM_SETTINGS
from htppower.tools.tuning.models import costs
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.models.model import DeviceModel, ProfileSpeed, Quantity

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.profiles.profile import Profile

MODEL = load_device_model("snapdragon_x_elite")
STATED = {each.profile: each.speed.value for each in MODEL.speeds}


def own_profile(folder: Path, base: str, votes: str) -> Profile:
    """Return a user's profile that extends a shipped profile and has these votes."""
    file = folder / "mine.yaml"
    file.write_text(f"profile: mine\nextends: {base}\nvotes: {{{votes}}}\n", encoding="utf-8")
    return load_profile(file)


@pytest.mark.parametrize("name", STATED)
def test_a_shipped_profile_has_the_speed_that_the_model_states(name: str) -> None:
    """A shipped profile is found by its own name."""
    assert costs.speed(MODEL, load_profile(name)) == STATED[name]


def test_a_profile_of_ones_own_keeps_the_speed_of_what_it_extends_while_its_clocks_are_the_same(tmp_path: Path) -> None:
    """Polling and sleep latency do not change the clock; with another corner, the base's speed does not apply."""
    polls = own_profile(tmp_path, "sustained_high_performance", "rpc_polling_time_us: 0")
    assert costs.speed(MODEL, polls) == STATED["sustained_high_performance"]
    slower = own_profile(tmp_path, "burst", "dcvs_v3: {core: NOM, bus: NOM}")
    assert costs.speed(MODEL, slower) == STATED["low_balanced"]


def test_other_corners_lie_on_the_line_between_the_shipped_profiles(tmp_path: Path) -> None:
    """With one clock at NOM and one at NOM_PLUS, the speed is half way; above the highest, it is the highest."""
    between = own_profile(tmp_path, "burst", "dcvs_v3: {core: NOM, bus: NOM_PLUS}")
    assert costs.speed(MODEL, between) == pytest.approx((STATED["low_balanced"] + STATED["balanced"]) / 2)
    turbo = own_profile(tmp_path, "burst", "dcvs_v3: {core: TURBO, bus: TURBO}")
    both = STATED["high_performance"] + STATED["sustained_high_performance"]
    assert costs.speed(MODEL, turbo) == pytest.approx(both / 2)
    at_the_top = own_profile(
        tmp_path, "low_power_saver", "dcvs_v3: {core: MAX_VOLTAGE_CORNER, bus: MAX_VOLTAGE_CORNER}"
    )
    assert costs.speed(MODEL, at_the_top) == 1


def test_a_speed_that_the_model_states_for_ones_own_profile_wins(tmp_path: Path) -> None:
    """A measured speed wins over the place in the order of clocks."""
    mine = ProfileSpeed("mine", Quantity(0.77, "measured", "mine", count=5))
    model = attrs.evolve(MODEL, speeds=(*MODEL.speeds, mine))
    assert costs.speed(model, own_profile(tmp_path, "burst", "dcvs_v3: {core: NOM, bus: NOM}")) == 0.77


def test_every_shipped_profile_with_votes_has_costs_that_fall_with_its_speed() -> None:
    """A slower profile draws no more, working or idle; raised and idle, it draws more than lowered."""
    found = [load_profile(name) for name in LISTED_FIRST if name != SYSTEM_SETTINGS]
    for one in found:
        for other in found:
            if costs.speed(MODEL, one) < costs.speed(MODEL, other):
                assert costs.active_w(MODEL, one) <= costs.active_w(MODEL, other)
                assert costs.raised_idle_w(MODEL, one) <= costs.raised_idle_w(MODEL, other)
        assert one.relax is not None
        lowered_w = costs.lowered_idle_w(MODEL, one.relax.to)
        assert lowered_w < costs.raised_idle_w(MODEL, one) <= costs.active_w(MODEL, one)


def test_the_powers_follow_from_the_values_by_the_stated_laws() -> None:
    """Working power is a power of the speed; idle power, a power of the part above the lowered power."""
    balanced = load_profile("balanced")
    assert costs.active_w(MODEL, balanced) == pytest.approx(2.0 * 0.955**2.2)
    assert costs.raised_idle_w(MODEL, balanced) == pytest.approx(0.02 + 0.28 * 0.955**2.2)
    flat = MODEL.with_value("raised_idle_exponent", 0)
    assert costs.raised_idle_w(flat, load_profile("power_saver")) == pytest.approx(0.30)
    assert costs.active_w(MODEL.with_value("active_w", 0.1), balanced) == costs.raised_idle_w(MODEL, balanced)


def test_lowered_to_a_state_without_clocks_is_released() -> None:
    """Relaxed asks for SVS; released and extreme_released ask for no more than the lowest corner."""
    model = MODEL.with_value("released_idle_w", 0.004)
    powers = {}
    for name in ("burst", "power_saver", "extreme_power_saver"):
        relax = load_profile(name).relax
        assert relax is not None
        powers[relax.to.name] = costs.lowered_idle_w(model, relax.to)
    assert powers == {"relaxed_up_down": 0.02, "released": 0.004, "extreme_released": 0.004}


def test_the_break_even_time_is_what_lowering_costs_over_what_it_saves() -> None:
    """Two calls of 0.2 mJ over 0.28 W; a price of 1 W adds 1.7 mJ for 1.7 ms of lateness."""
    burst = load_profile("burst")
    assert costs.break_even_us(MODEL, burst) == pytest.approx(400e-6 / 0.28 * 1e6)
    assert costs.break_even_us(MODEL, burst, 1) == pytest.approx((400e-6 + 1700e-6) / 0.28 * 1e6)
    assert costs.break_even_us(MODEL.with_value("raised_idle_w", 0.02), burst) == math.inf
    assert costs.break_even_us(
        MODEL.with_value("released_idle_w", 0), load_profile("power_saver")
    ) < costs.break_even_us(MODEL, load_profile("power_saver"))


@pytest.mark.parametrize("price_w", [-1, math.nan])
def test_a_price_that_can_not_be_meant_is_refused(price_w: float) -> None:
    """The price of latency can't be negative."""
    with pytest.raises(ValueError, match="price of latency"):
        costs.break_even_us(MODEL, load_profile("burst"), price_w)


def test_a_profile_without_votes_has_no_costs() -> None:
    """Without votes, the clocks are unknown."""
    none = load_profile(SYSTEM_SETTINGS)
    for asked in (costs.speed, costs.active_w, costs.raised_idle_w, costs.break_even_us):
        with pytest.raises(ValueError, match="system_settings sends no votes"):
            asked(MODEL, none)


def test_a_slower_profile_stretches_an_inference_and_a_faster_one_shortens_it() -> None:
    """The duration scales with the ratio of the speeds, in both directions."""
    burst, saver = load_profile("burst"), load_profile("power_saver")
    assert costs.stretch(MODEL, saver, burst) == pytest.approx(1 / 0.702)
    assert costs.stretch(MODEL, burst, saver) == pytest.approx(0.702)
    assert costs.stretch(MODEL, saver, saver) == 1


def test_a_wake_up_is_as_late_as_the_model_says_of_the_sleep_latency() -> None:
    """The lateness is interpolated between two latencies, and constant outside; without a vote the longest counts."""
    model = MODEL.with_value("wakes.100", 30).with_value("wakes.1000", 390)
    expected = {"burst": 0, "high_performance": 30, "balanced": 390}
    for name, late_us in expected.items():
        assert costs.wake_late_us(model, load_profile(name).votes) == late_us
    balanced = load_profile("balanced").votes
    assert balanced.dcvs_v3 is not None
    voted = {
        latency_us: attrs.evolve(balanced.dcvs_v3, sleep_latency_us=latency_us) for latency_us in (10, 70, 400, 60_000)
    }
    found = {at: costs.wake_late_us(model, attrs.evolve(balanced, dcvs_v3=vote)) for at, vote in voted.items()}
    assert found == {10: 0, 70: pytest.approx(15), 400: pytest.approx(150), 60_000: 390}
    assert costs.wake_late_us(model, load_profile(SYSTEM_SETTINGS).votes) == 390


def test_a_model_of_ones_own_profiles_alone_places_any_other_at_burst(tmp_path: Path) -> None:
    """Burst is then the only known unit of speed."""
    alone: DeviceModel = attrs.evolve(MODEL, speeds=(ProfileSpeed("mine", Quantity(0.5, "measured", "mine")),))
    assert {costs.speed(alone, load_profile(name)) for name in SHIPPED_PROFILES if name != SYSTEM_SETTINGS} == {1.0}
    assert costs.speed(alone, own_profile(tmp_path, "burst", "rpc_polling_time_us: 0")) == 0.5
