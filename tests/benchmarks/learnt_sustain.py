"""The learnt sustain time against the clairvoyant, the best fixed timer and an adversary, and what learning costs."""

from __future__ import annotations

import math
import random
import statistics
from typing import TYPE_CHECKING

from figures import Figure
from hot_path import Host, time_inferences
from support.inside import gate_of
from support.learning import best_fixed_us, clairvoyant_us, cost_us, learn_all, learning, relaxing

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORTHS_US = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_PREFIXES = (8, 16, 32, 64, 128)
_CALL_US = 2_000
_PERIOD_US = 33_333


def _regimes(rng: random.Random, gaps: int) -> list[int]:
    found: list[int] = []
    while len(found) < gaps:
        mean_us = 10 ** rng.uniform(3.5, 6.5)
        found += [int(rng.expovariate(1 / mean_us)) for _ in range(rng.randint(50, 600))]
    return found[:gaps]


def _day_and_night(rng: random.Random, gaps: int) -> list[int]:
    found, now_s = [], 0.0
    for _ in range(gaps):
        mean_s = 0.05 * math.exp(2.5 * (1 + math.sin(now_s / 600)))
        gap_s = rng.expovariate(1 / mean_s)
        now_s += gap_s
        found.append(int(gap_s * 1e6))
    return found


# Arrivals of several kinds, each with the function that draws a gap.
_DRAWS: dict[str, Callable[[random.Random], float]] = {
    "exponential, 50 ms": lambda rng: rng.expovariate(1 / 50e3),
    "exponential, 300 ms": lambda rng: rng.expovariate(1 / 300e3),
    "30 Hz with jitter": lambda rng: max(0.0, rng.gauss(25e3, 3e3)),
    "4 Hz with jitter": lambda rng: max(0.0, rng.gauss(240e3, 30e3)),
    "Pareto 0.8 from 5 ms": lambda rng: 5e3 * rng.paretovariate(0.8),
    "Pareto 1.2 from 50 ms": lambda rng: 50e3 * rng.paretovariate(1.2),
    "on and off": lambda rng: rng.expovariate(1 / 20e3) if rng.random() < 0.95 else rng.expovariate(1 / 3e6),
    "log-normal, 180 ms": lambda rng: rng.lognormvariate(math.log(180e3), 0.6),
    "log-normal, 400 ms": lambda rng: rng.lognormvariate(math.log(400e3), 1.3),
}


def gap_sets(gaps: int, seed: int = 1) -> dict[str, list[int]]:
    """Return gaps of several kinds, in us."""
    rng = random.Random(seed)
    sets = {name: [int(draw(rng)) for _ in range(gaps)] for name, draw in _DRAWS.items()}
    return {**sets, "changes of regime": _regimes(rng, gaps), "day and night": _day_and_night(rng, gaps)}


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the figures of the learnt sustain time."""
    yield from _against_timers(gap_sets(3000 if smoke else 6000))
    yield _soon(range(1, 12))
    yield _against_an_adversary(20_000 if smoke else 1_000_000)
    yield _in_a_window(500, 300 if smoke else 1000)
    yield _raised_ahead(300 if smoke else 3000)


def _against_timers(sets: dict[str, list[int]]) -> Iterator[Figure]:
    over_best, over_fixed = [], []
    for gaps_us in sets.values():
        for worth_us in WORTHS_US:
            paid_us = learn_all(make_learner(Adaptive(break_even_us=worth_us)), gaps_us, worth_us)
            over_best.append(paid_us / clairvoyant_us(gaps_us, worth_us))
            over_fixed.append(paid_us / best_fixed_us(gaps_us, worth_us))
    detail = f"{len(sets)} synthetic sets at {len(WORTHS_US)} break-even times; worst {max(over_best):.2f}"
    yield Figure("learnt sustain time / clairvoyant, mean", statistics.mean(over_best), None, "x", detail)
    detail = "nobody gets below 1.58 where gaps are exponential with the break-even time"
    yield Figure("learnt sustain time / best fixed timer, mean", statistics.mean(over_fixed), 1.01, "x", detail)
    yield Figure("learnt sustain time / best fixed timer, worst set", max(over_fixed), 1.06, "x")


def _soon(seeds: range) -> Figure:
    """Return how many gaps it takes until the mean cost is within 5 % of the best timer for these gaps."""
    sets = [gaps_us for seed in seeds for gaps_us in gap_sets(max(_PREFIXES), seed).values()]
    means = {gaps: statistics.mean(_over_best(sets, gaps)) for gaps in _PREFIXES}
    needed = next((gaps for gaps, mean in means.items() if mean <= 1.05), math.inf)
    detail = ", ".join(f"{mean:.3f} after {gaps}" for gaps, mean in means.items())
    return Figure("gaps until within 5 % of the best fixed timer, mean", needed, 32, "gaps", detail)


def _over_best(sets: list[list[int]], gaps: int) -> Iterator[float]:
    for gaps_us in sets:
        for worth_us in WORTHS_US:
            paid_us = learn_all(make_learner(Adaptive(break_even_us=worth_us)), gaps_us[:gaps], worth_us)
            yield paid_us / best_fixed_us(gaps_us[:gaps], worth_us)


def _against_an_adversary(gaps: int) -> Figure:
    worst = -math.inf
    for worth_us in (20_000, 100_000, 1_000_000):
        rng = random.Random(worth_us)
        learner, beyond_us = make_learner(Adaptive(break_even_us=worth_us)), 0
        for _ in range(gaps // 3):
            time_out_us = learner.time_out_us
            gap_us = rng.choice((time_out_us, max(0, time_out_us - 1), time_out_us + 1, worth_us, 50 * worth_us, 0))
            beyond_us += cost_us(gap_us, time_out_us, worth_us) - 2 * min(gap_us, worth_us)
            learner.learn(gap_us)
            worst = max(worst, beyond_us / worth_us)
    return Figure("cost beyond 2 x clairvoyant, in break-even times", worst, 2, "B", f"{gaps} adversarial gaps")


def _in_a_window(rounds: int, turns: int) -> Figure:
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as controller:
        learnt, fixed = controller.session(learning(break_even_us=300_000)), controller.session("burst")
        for session in (learnt, fixed):
            time_inferences(session, 1000)
        subjects = (learnt, fixed, Host())
        times = [[time_inferences(subject, rounds) for subject in subjects] for _ in range(turns)]
    # The least of each, since on a shared machine other processes only add time.
    on_us, off_us, empty_us = (1e6 * min(column) for column in zip(*times, strict=True))
    detail = f"{on_us:.2f} us against {off_us:.2f} us, where an empty context manager takes {empty_us:.2f} us"
    return Figure("inference inside a learnt window, over a fixed one", on_us - off_us, 0.4, "us", detail)


def _raised_ahead(inferences: int) -> Figure:
    time = VirtualTime()
    backend = SimulatedHtp(arch=75, sleep=lambda seconds: time.advance_us(round(seconds * 1e6)))
    backend.delay_calls(_CALL_US, "setPowerConfig")
    profile = relaxing(after_inference_us=0, raise_ahead_us=5_000)
    with VoteController(backend, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
        session, waited = controller.session(profile), 0
        session.expect(every_us=_PERIOD_US)
        for place in range(inferences):
            time.advance_us(max(0, place * _PERIOD_US - time.now_us))
            waited += not gate_of(session).open
            with session.inference():
                time.advance_us(8_000)
    share = 100 * waited / inferences
    return Figure(
        "inferences at 30 Hz that wait, hinted, sustain 0",
        share,
        1,
        "%",
        f"{waited} of {inferences}, calls of {_CALL_US // 1000} ms",
    )
