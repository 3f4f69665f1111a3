"""A share of cold starts: the shortest time-out that keeps to it."""

from __future__ import annotations

import random

import pytest

from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner


@pytest.mark.parametrize("cold_starts_ppm", [10_000, 50_000, 200_000])
@pytest.mark.parametrize("mean_us", [40_000, 300_000])
def test_the_share_is_kept(cold_starts_ppm: int, mean_us: int) -> None:
    """For exponential gaps, at most the share is cold, and the time is not much longer than needed."""
    rng, cold = random.Random(7), 0
    learner = make_learner(Adaptive(cold_starts_ppm=cold_starts_ppm))
    gaps_us = [int(rng.expovariate(1 / mean_us)) for _ in range(20_000)]
    for gap_us in gaps_us:
        cold += gap_us >= learner.time_out_us
        learner.learn(gap_us)
    assert cold <= 1.15 * cold_starts_ppm * len(gaps_us) / 1_000_000
    needed_us = sorted(gaps_us)[-int(len(gaps_us) * cold_starts_ppm / 1_000_000)]
    assert learner.time_out_us <= 1.6 * needed_us


def test_it_begins_with_the_vendors_time() -> None:
    """Until there was a longer gap, the time is 300 ms, or the nearest that the limits allow."""
    assert make_learner(Adaptive(cold_starts_ppm=50_000)).time_out_us == 300_000
    assert make_learner(Adaptive(cold_starts_ppm=50_000, most_us=200_000)).time_out_us == 200_000


def test_gaps_that_no_limit_covers() -> None:
    """If nearly all gaps exceed the longest time, the longest time is kept, and the share is exceeded."""
    learner = make_learner(Adaptive(cold_starts_ppm=50_000, most_us=1_000_000))
    for _ in range(50):
        learner.learn(60_000_000)
    assert learner.time_out_us == 1_000_000


def test_what_was_learnt_goes_on_from_a_state() -> None:
    """A restored learner has the same time."""
    rng, sustain = random.Random(8), Adaptive(cold_starts_ppm=100_000)
    first = make_learner(sustain)
    for _ in range(300):
        first.learn(int(rng.expovariate(1 / 200_000)))
    second = make_learner(sustain, first.state())
    assert (second.time_out_us, second.gaps, second.state()) == (first.time_out_us, 300, first.state())


def test_a_hint_changes_nothing() -> None:
    """The gaps alone decide the time."""
    learner = make_learner(Adaptive(cold_starts_ppm=100_000))
    learner.hint(5_000_000)
    assert learner.time_out_us == 300_000
