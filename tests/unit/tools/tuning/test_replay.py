"""The model equals the real controller in virtual time, to the microsecond and the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
import pytest
from support.workloads import any_session, any_timing

from htppower.profiles.names import SHIPPED_PROFILES
from htppower.profiles.profile import Lowering, Profile
from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.replay import Replayed, replay
from htppower.tools.tuning.trial import Trial
from htppower.tools.tuning.variants import variants

if TYPE_CHECKING:
    from htppower.profiles.sustain import Sustain

LEARNT = (
    Adaptive(break_even_us=5_000),
    Adaptive(break_even_us=30_000),
    Adaptive(break_even_us=100_000, least_us=20_000, most_us=150_000),
    Adaptive(cold_starts_ppm=50_000),
)
VARIANTS, _ = variants(SHIPPED_PROFILES)


def any_sustain(trial: Trial, draw: np.random.Generator) -> Sustain:
    """Return a sustain time: 0, just above a gap, any other, or learnt."""
    edges = trial.time_outs_us.tolist()
    edge = int(edges[int(draw.integers(len(edges)))])
    sustains: list[Sustain] = [0, edge, edge + 1, max(edge - 1, 20_000), 300_000, *LEARNT]
    return sustains[int(draw.integers(len(sustains)))]


def any_profile(sustain: Sustain, draw: np.random.Generator) -> Profile:
    """Return a profile with a sustain time that lowers in the foreground or the background."""
    profile = VARIANTS[int(draw.integers(len(VARIANTS)))].under(sustain)
    lowering = Lowering.BACKGROUND if draw.integers(2) else Lowering.FOREGROUND
    assert profile.relax is not None
    return attrs.evolve(profile, relax=attrs.evolve(profile.relax, lowering=lowering))


@pytest.mark.parametrize("seed", range(150))
def test_the_controller_does_what_is_worked_out(seed: int) -> None:
    """Calls, time raised, waits and ends of inferences are equal, also for sessions that run together.

    The recordings overlap or not, have gaps of 0 and gaps equal to the time-out, and run under profiles that stretch
    them; the sustain time is 0, fixed, or learnt.
    """
    draw = np.random.default_rng(seed)
    together = []
    for _ in range(int(draw.integers(1, 4))):
        trial = Trial(any_session(draw), any_timing(draw), 10_000_000)
        sustain = any_sustain(trial, draw)
        together.append((any_profile(sustain, draw), trial, sustain))
    replayed = replay([(profile, trial.workload) for profile, trial, _ in together])
    for (_, trial, sustain), found in zip(together, replayed, strict=True):
        worked_out = Replayed.worked_out(trial.run(sustain), int(trial.outcome(sustain).calls[0]))
        assert found.differences(worked_out) == []
        assert found == worked_out


def test_a_difference_is_told() -> None:
    """Each compared value that differs is reported with both numbers."""
    one = Replayed(calls=4, raised_us=50, cold=(0, 2), ends_us=(10, 20, 30))
    other = Replayed(calls=2, raised_us=49, cold=(0,), ends_us=(10, 21, 30))
    assert one.differences(one) == []
    assert one.differences(other) == [
        "4 calls by the controller, 2 calculated",
        "50 us raised by the controller, 49 calculated",
        "2 cold starts by the controller, 1 calculated; inference 2 waits only by the controller",
        "inference 1 ends at 20 us by the controller, calculated: 21 us",
    ]
