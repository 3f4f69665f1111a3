"""Paces on a calculated device: the rate and the misses that they keep, and their energy."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from support.paced import NAMES, kept, least_that_keeps

if TYPE_CHECKING:
    from support.paced import Load

# How long an inference takes at burst, in ms.
LOADS: dict[str, Load] = {
    "light": lambda _number, _chance: 10.0,
    "heavy": lambda _number, _chance: 20.0,
    "noisy": lambda _number, chance: 12 * chance.lognormvariate(0, 0.2),
    "rarely long": lambda _number, chance: 25.0 if chance.random() < 0.02 else 13.0,
    "in steps": lambda number, chance: (8 if number // 1500 % 2 == 0 else 21) * chance.lognormvariate(0, 0.05),
    "in quick steps": lambda number, chance: (8 if number // 300 % 2 == 0 else 21) * chance.lognormvariate(0, 0.05),
    "rising": lambda number, chance: (5 + 20 * (number % 4000) / 4000) * chance.lognormvariate(0, 0.05),
}
COUNT = 4000
# Long enough for the time of the first measurement to matter little.
LONG = 6000
SECOND_NS = 1_000_000_000


@pytest.mark.parametrize("camera", [False, True])
@pytest.mark.parametrize("miss_rate", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("load", LOADS)
def test_a_pace_keeps_its_rate_and_its_misses(load: str, miss_rate: float, camera: bool) -> None:
    """No more deadlines are missed than allowed, the rate is kept, and so is the time between two changes.

    With a camera, the host's own time between two inferences is not counted, and the rate is not the pace's.
    """
    for seed in range(2):
        found = kept(LOADS[load], COUNT, miss_rate=miss_rate, seed=seed, camera=camera)
        assert found.miss_rate <= miss_rate
        assert camera or found.per_s == pytest.approx(30, rel=0.01)
        ups = [(NAMES.index(name), when_ns) for when_ns, name in ((0, "burst"), *found.changes)]
        for (_, first_ns), (place, then_ns), (later, later_ns) in zip(ups, ups[1:], ups[2:], strict=False):
            # Only a trial of a lower profile that fails may end at once.
            assert later_ns - first_ns >= SECOND_NS
            assert later > place or later_ns - then_ns >= SECOND_NS


@pytest.mark.parametrize(
    ("load", "more"), [("light", 0.11), ("heavy", 0.04), ("noisy", 0.05), ("rarely long", 0.05), ("in steps", 0.0)]
)
def test_a_pace_takes_hardly_more_energy_than_the_best_fixed_profile(load: str, more: float) -> None:
    """The pace has to measure under burst first, for 12 of 200 s. A load that changes costs less than when fixed."""
    for seed in range(2):
        best = least_that_keeps(LOADS[load], LONG, seed=seed)
        assert best is not None
        assert kept(LOADS[load], LONG, seed=seed).cost <= best.cost * (1 + more)


@pytest.mark.parametrize("load", ["light", "heavy"])
def test_an_even_load_needs_one_change(load: str) -> None:
    """The lowest profile that is enough is chosen after 370 inferences, and kept."""
    found, best = kept(LOADS[load], COUNT), least_that_keeps(LOADS[load], COUNT)
    assert best is not None
    assert [name for _, name in found.changes] == list(best.under)
    assert found.under[next(iter(best.under))] >= COUNT - 370


def test_a_heavier_load_raises_the_profile_after_four_misses() -> None:
    """The first inferences of the heavier load miss their deadlines; all later ones meet them."""
    found = kept(lambda number, _: 8.0 if number < 1000 else 21.0, 2000)
    assert found.miss_rate * 2000 == 4


def test_if_no_profile_keeps_the_rate_the_highest_is_used() -> None:
    """The pace stays with the highest profile, and says that the rate is not kept."""
    found = kept(lambda _number, _chance: 45.0, 600)
    assert (found.keeps, found.changes, found.miss_rate) == (False, (), 1)


def test_after_an_overload_a_pace_comes_down_again() -> None:
    """After an overload of 20 s the rate is kept again, and the lowest profile is chosen."""
    found = kept(lambda number, _: 45.0 if number < 600 else 9.0, 3000)
    assert found.keeps
    assert found.changes[-1][1] == "low_power_saver"


@pytest.mark.parametrize("miss_rate", [0.01, 0.05])
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize(
    "slower", [(1.5, 1.4, 1.4, 1.3, 1.2, 1.05, 1.03, 1), (0.6, 0.8, 0.85, 0.9, 0.95, 1, 1, 1)], ids=["slower", "faster"]
)
def test_a_pace_learns_how_fast_a_device_is(load: str, slower: tuple[float, ...], miss_rate: float) -> None:
    """If the model is wrong, some trials fail; the misses are kept all the same, and the trials become rare."""
    found = kept(LOADS[load], LONG, slower=slower, raise_ms=4, miss_rate=miss_rate)
    best = least_that_keeps(LOADS[load], LONG, slower=slower, raise_ms=4, miss_rate=miss_rate)
    assert best is not None
    assert found.miss_rate <= miss_rate
    assert len(found.changes) <= 50
    assert found.cost <= best.cost * 1.25


def test_work_of_the_host_counts() -> None:
    """The work of the host between two inferences and the inference must fit into a period together."""
    alone, busy = kept(LOADS["light"], 3000), kept(LOADS["light"], 3000, host_ms=18)
    assert NAMES.index(busy.changes[-1][1]) > NAMES.index(alone.changes[-1][1])
    assert busy.miss_rate <= 0.01
    assert busy.per_s == pytest.approx(30, rel=0.01)


def test_a_fast_rate_uses_only_profiles_whose_votes_stay_up() -> None:
    """At 250 a second a raise before each inference takes too long."""
    found = kept(lambda _number, _chance: 2.5, 4000, fps=250, host_ms=0.1)
    assert [name for _, name in found.changes] == ["sustained_high_performance"]
    assert found.miss_rate == 0


def test_misses_that_the_pace_could_not_prevent_do_not_bar_lower_profiles() -> None:
    """Under the highest profile, misses use up no credit: the pace comes down as soon as the load is light."""
    found = kept(lambda number, _: 45.0 if number < 3000 else 9.0, 4000)
    when_ns = next(when for when, name in found.changes if name == "low_power_saver")
    assert when_ns < (3000 * 47 / 1000 + 60) * SECOND_NS
    assert all(later - earlier >= SECOND_NS for (earlier, _), (later, _) in itertools.pairwise(found.changes))
