"""Profiles that learn their sustain time or relax in two steps, and the lowest possible cost of gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower import Profile, load_profile
from htppower.events import Transition, Trigger
from htppower.profiles.profile import PowerState, Then
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support.bench import Bench

    from htppower.control.status.controller_status import LearntSustain
    from htppower.profiles.sustain import Sustain
    from htppower.sustain.base import Learner
SUSTAIN_US = 100_000
AFTER_US = 2_000_000


def relaxing(name: str = "burst", **relax: Any) -> Profile:
    """Return a shipped profile with changes to ``relax``."""
    profile = load_profile(name)
    assert profile.relax is not None
    return attrs.evolve(profile, relax=attrs.evolve(profile.relax, **relax))


def learning(name: str = "burst", **adaptive: int) -> Profile:
    """Return a shipped profile with a learnt sustain time."""
    return relaxing(name, after_inference_us=Adaptive(**adaptive))


def learnt_of(bench: Bench) -> LearntSustain:
    """Return what the oldest open session has learnt."""
    learnt = bench.controller.status().sessions[0].learnt
    assert learnt is not None
    return learnt


def released() -> PowerState:
    """Return a power state below that of burst."""
    relax = load_profile("burst").relax
    assert relax is not None
    return relax.after_deinit_to


def in_two_steps(after_us: Sustain = AFTER_US, sustain: Sustain = SUSTAIN_US) -> Profile:
    """Return a profile that relaxes twice."""
    return relaxing(after_inference_us=sustain, then=Then(released(), after_us))


def triggers(bench: Bench) -> list[Trigger]:
    """Return the transitions that were made."""
    return [event.trigger for event in bench.events if isinstance(event, Transition)]


def clairvoyant_us(gaps_us: Iterable[int], worth_us: int) -> int:
    """Return the lowest possible cost if each gap is known: the votes are kept up, or lowered at once."""
    return sum(min(gap_us, worth_us) for gap_us in gaps_us)


def cost_us(gap_us: int, time_out_us: int, worth_us: int) -> int:
    """Return the cost of a gap with a time-out. If the gap ends just at the time-out, the votes are lowered first."""
    return gap_us if gap_us < time_out_us else time_out_us + worth_us


def learn_all(learner: Learner, gaps_us: Iterable[int], worth_us: int) -> int:
    """Learn from gaps, and return their cost."""
    paid_us = 0
    for gap_us in gaps_us:
        paid_us += cost_us(gap_us, learner.time_out_us, worth_us)
        learner.learn(gap_us)
    return paid_us


def best_fixed_us(gaps_us: Iterable[int], worth_us: int) -> int:
    """Return the cost of the best fixed time-out, in hindsight."""
    rising = sorted(gaps_us)
    best_us, shorter_us = len(rising) * worth_us, 0
    for place, gap_us in enumerate(rising, 1):
        shorter_us += gap_us
        best_us = min(best_us, shorter_us + (len(rising) - place) * (gap_us + 1 + worth_us))
    return best_us
