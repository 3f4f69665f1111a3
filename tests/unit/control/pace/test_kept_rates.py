"""Paces on a simulated device: the rate and the misses that they keep, and the energy next to the best fixed profile."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from support.paced import LADDER, MODEL, least_that_keeps, paced

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

# How long an inference takes at burst, in ms.
LOADS: dict[str, Callable[[int, random.Random], float]] = {
    "light": lambda _number, _chance: 10.0,
    "heavy": lambda _number, _chance: 20.0,
    "noisy": lambda _number, chance: 12 * chance.lognormvariate(0, 0.2),
    "rarely long": lambda _number, chance: 25.0 if chance.random() < 0.02 else 13.0,
    "in steps": lambda number, chance: (8 if number // 1500 % 2 == 0 else 21) * chance.lognormvariate(0, 0.05),
}
COUNT = 6000
SECOND_US = 1_000_000


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("miss_rate", [0.01, 0.05])
@pytest.mark.parametrize("load", LOADS)
def test_a_pace_keeps_its_rate_and_its_misses(load: str, miss_rate: float, seed: int) -> None:
    """No more deadlines are missed than allowed, the rate is kept, and a profile changes at most once a second."""
    kept = paced(LOADS[load], COUNT, miss_rate=miss_rate, seed=seed)
    assert kept.miss_rate <= miss_rate
    assert kept.status.keeps
    assert COUNT / kept.lasted_us * SECOND_US == pytest.approx(30, rel=0.01)
    ups = [event.time_us for event in kept.changes[:-1] if LADDER.index(event.profile) > LADDER.index(event.before)]
    assert all(later - earlier >= SECOND_US for earlier, later in itertools.pairwise(ups))


@pytest.mark.parametrize(("load", "more"), [("light", 0.14), ("heavy", 0.04), ("noisy", 0.1), ("rarely long", 0.1)])
def test_a_pace_takes_little_more_energy_than_the_best_fixed_profile(load: str, more: float) -> None:
    """The pace has to measure first under burst, for 13 of 200 s, and its test needs a margin."""
    kept = paced(LOADS[load], COUNT)
    best = least_that_keeps(LOADS[load], COUNT, miss_rate=0.01)
    assert best is not None
    assert kept.energy_mj <= best[1] * (1 + more)


def test_a_changing_load_takes_less_energy_than_the_best_fixed_profile() -> None:
    """A fixed profile must be fast enough for the heaviest load; a pace follows the load."""
    kept = paced(LOADS["in steps"], 12_000, miss_rate=0.05)
    best = least_that_keeps(LOADS["in steps"], 12_000, miss_rate=0.05)
    assert best is not None
    assert kept.energy_mj <= best[1] * 0.95


@pytest.mark.parametrize("load", ["light", "heavy"])
def test_an_even_load_needs_one_change(load: str) -> None:
    """The lowest profile that is enough is chosen at once, and kept."""
    kept = paced(LOADS[load], COUNT)
    best = least_that_keeps(LOADS[load], COUNT, miss_rate=0.01)
    assert best is not None
    assert [event.profile for event in kept.changes] == [best[0], "burst"]
    assert kept.under[best[0]] > 0.9 * COUNT


def test_a_heavier_load_raises_the_profile_after_four_misses() -> None:
    """The first four inferences of the heavier load miss their deadlines; all later ones meet them."""
    kept = paced(lambda number, _: 8.0 if number < 1000 else 21.0, 2000)
    assert kept.status.misses == 4
    assert kept.changes[-2].time_us - kept.ends_us[1000] < 200_000


def test_if_no_profile_keeps_the_rate_the_highest_is_used() -> None:
    """The pace stays with the highest profile, and says that the rate is not kept."""
    kept = paced(lambda _number, _chance: 45.0, 600)
    assert (kept.status.keeps, kept.status.profile, kept.status.changes) == (False, "burst", 0)
    assert kept.miss_rate == 1


def test_a_pace_follows_when_a_load_becomes_light_enough_again() -> None:
    """After an overload of 20 s the rate is kept again, and a low profile is chosen."""
    kept = paced(lambda number, _: 45.0 if number < 600 else 9.0, 3000)
    assert (kept.status.keeps, kept.status.profile) == (True, "low_power_saver")


@pytest.mark.parametrize("seed", [1, 2])
def test_a_pace_learns_a_device_that_is_slower_than_its_model(seed: int) -> None:
    """Lower profiles are much slower than the model says: a few trials fail, and the misses are kept all the same."""
    slower = {"low_power_saver": 0.3, "power_saver": 0.5, "high_power_saver": 0.6, "low_balanced": 0.7}
    device = MODEL
    for name, speed in slower.items():
        device = device.with_value(f"speeds.{name}", speed)
    device = device.with_value("raise_call_us", 4000.0)
    kept = paced(LOADS["noisy"], COUNT, seed=seed, device=device)
    best = least_that_keeps(LOADS["noisy"], COUNT, miss_rate=0.01, seed=seed, device=device)
    assert best is not None
    assert kept.miss_rate <= 0.01
    assert len(kept.changes) <= 20
    assert kept.energy_mj <= best[1] * 1.25


@pytest.mark.parametrize("load", ["light", "noisy", "in steps"])
def test_a_camera_states_when_inferences_begin(load: str) -> None:
    """Without waiting, each inference has a period from the time at which the host asks for it."""
    kept = paced(LOADS[load], COUNT, camera=True)
    assert kept.miss_rate <= 0.01
    assert kept.under["burst"] < COUNT / 4
    assert COUNT / kept.lasted_us * SECOND_US == pytest.approx(30, rel=0.01)


def test_a_host_that_is_itself_slow_gets_a_faster_profile() -> None:
    """Work of the host between inferences counts: both together must fit into a period."""
    alone = paced(LOADS["light"], 2000)
    with_work = paced(LOADS["light"], 2000, host_us=18_000)
    assert LADDER.index(with_work.status.profile) > LADDER.index(alone.status.profile)
    assert with_work.miss_rate <= 0.01
    assert 2000 / with_work.lasted_us * SECOND_US == pytest.approx(30, rel=0.01)
