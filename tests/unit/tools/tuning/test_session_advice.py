"""The advice for one session, compared with a trial of every choice."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.advising import advised, aim_of, everything, periodic
from support.inside import patch_private
from support.workloads import any_session

from htppower.tools.tuning import choices, session_advice
from htppower.tools.tuning.limits import parse_limit
from htppower.tools.tuning.traces.trace import SessionTrace
from htppower.tools.tuning.trial import Trial

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.cost.outcome import Outcomes

LIMITS: tuple[tuple[str, ...], ...] = (
    (),
    ("p99 <= 9 ms",),
    ("p50 <= 5 ms", "cold <= 40 %"),
    ("mean <= 6 ms",),
    ("max <= 11 ms", "p90 <= 8 ms"),
)


@functools.cache
def session_and_choices(seed: int) -> tuple[SessionTrace, list[Choice]]:
    """Return a session and every choice for it: limits change the advice, and not the choices."""
    session = any_session(np.random.default_rng(seed), most=60)
    return session, everything(advised(session, aim_of(())))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("texts", LIMITS, ids=" and ".join)
def test_nothing_that_keeps_to_the_limits_costs_less(seed: int, texts: tuple[str, ...]) -> None:
    """The advice is the cheapest of all profiles, time-outs and learnt times that keep to the limits."""
    session, every = session_and_choices(seed)
    aim = aim_of(texts)
    advice = advised(session, aim)
    inferences = session.begins_us.size
    costs = [each.cost_j(aim.price_in_cost_w, inferences) for each in every if each.keeps_to(aim.limits)]
    if advice.best is None:
        assert not costs
    else:
        assert advice.best.keeps_to(aim.limits)
        assert advice.best.cost_j(aim.price_in_cost_w, inferences) == pytest.approx(min(costs))


@functools.cache
def around_a_time_out() -> tuple[SessionTrace, list[Choice]]:
    """Return a session and all its choices; a late raise shortens many of its gaps of 100 ms below a time-out."""
    draw = np.random.default_rng(4)
    gaps = np.where(draw.random(80) < 0.2, 350_000, draw.integers(99_000, 101_500, 80))
    ends = np.cumsum(gaps + draw.integers(3_000, 7_000, 80)).astype(np.int64)
    session = SessionTrace("camera", "burst", ends - draw.integers(3_000, 7_000, 80), ends)
    return session, everything(advised(session, aim_of(())))


@pytest.mark.parametrize("measure", ["p50", "p90", "p95", "p99", "p99.9", "max", "mean", "cold"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_limit_that_some_choices_keep_to_is_used_to_its_end(
    measure: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With choices on both sides of a limit, the cheapest within it is found, even with small batches."""
    session, known = around_a_time_out()
    patch_private(monkeypatch, choices, FIRST=2)
    patch_private(monkeypatch, choices, TOGETHER=3)
    value = sorted(each.latency.of(measure) for each in known)[int(share * len(known))]
    unit = f"{100 * value:.4f} %" if measure == "cold" else f"{value:.3f} us"
    aim = aim_of((f"{measure} <= {unit}",))
    advice = advised(session, aim)
    keeping = [each.energy_j for each in known if each.keeps_to(aim.limits)]
    assert 0 < len(keeping) < len(known)
    assert advice.best is not None
    assert advice.best.energy_j == pytest.approx(min(keeping))


@pytest.mark.parametrize("seed", range(6))
def test_nothing_that_was_tried_is_better_than_the_front(seed: int) -> None:
    """For every choice, a choice on the front is at least as good in energy, p50, p99 and cold starts."""
    session = any_session(np.random.default_rng(seed), most=40)
    advice = advised(session, aim_of(()))

    def row(choice: Choice) -> tuple[float, ...]:
        return choice.energy_j, choice.latency.p50, choice.latency.p99, choice.cold

    front = np.array([row(each) for each in advice.front])
    for each in everything(advice):
        assert (front <= np.array(row(each)) * (1 + 1e-12)).all(axis=1).any(), str(each)
    for one, other in itertools.permutations(map(row, advice.front), 2):
        assert any(mine < others for mine, others in zip(one, other, strict=True))


def test_an_impossible_limit_is_named_with_what_comes_nearest() -> None:
    """Only the impossible one of two limits is named, with the choice that has the lowest value."""
    advice = advised(any_session(np.random.default_rng(2)), aim_of(("p99 <= 1 us", "cold <= 100 %")))
    assert advice.best is None
    ((limit, nearest),) = advice.nearest
    assert str(limit) == "p99 <= 1 us"
    assert nearest.latency.p99 == min(each.latency.p99 for each in everything(advice))


def test_limits_that_are_possible_only_alone_are_all_named() -> None:
    """If no choice keeps to all limits together, all are named, with the choice that exceeds least.

    Gaps under slower profiles are within the longest time-out, and gaps under burst are not.
    """
    begins = np.arange(1, 41) * 405_000
    limits = ("p50 <= 5 ms", "cold <= 5 %")
    advice = advised(SessionTrace("camera", "burst", begins, begins + 5_000), aim_of(limits))
    every = everything(advice)
    for text in limits:
        assert any(each.keeps_to((parse_limit(text),)) for each in every)
    assert advice.best is None
    assert [str(limit) for limit, _ in advice.nearest] == list(limits)

    def excess(choice: Choice) -> float:
        return max(choice.latency.p50 / 5_000, choice.latency.of("cold") / 0.05)

    assert [excess(nearest) for _, nearest in advice.nearest] == [min(map(excess, every))] * 2


def test_of_a_long_recording_what_is_learnt_is_tried_under_the_best_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note names these profiles, and the advice keeps to the limit."""
    patch_private(monkeypatch, session_advice, MOST_LEARNT=1_000)
    aim = aim_of(("p99 <= 9 ms",))
    advice = advised(periodic(), aim)
    assert advice.best is not None
    assert advice.best.keeps_to(aim.limits)
    learnt = [offer.variant for offer in advice.offers if offer.learnt]
    assert 0 < len(learnt) < len(advice.offers)
    assert advice.best.variant in learnt
    (note,) = advice.notes
    assert all(str(each) in note for each in learnt)


def test_what_is_large_of_a_trial_is_let_go_and_comes_back_the_same() -> None:
    """After a session is settled, no trial holds arrays of all inferences; a later request computes them again."""
    draw = np.random.default_rng(3)
    begins = np.cumsum(draw.integers(20_000, 300_000, 200))
    advice = advised(SessionTrace("camera", "burst", begins, begins + 2_000), aim_of(()))
    assert advice.best is not None
    trials = [offer.trial for offer in advice.offers]
    assert not any({"exact", "workload"} & set(vars(trial)) for trial in trials)
    offer = advice.offer(advice.best)
    assert offer.trial.run(advice.best.sustain).cold.size == advice.best.cold


def test_energy_is_worked_out_only_of_time_outs_that_keep_to_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search counts late inferences first: energy takes longer, and there may be many gaps."""
    session = around_a_time_out()[0]
    limits = aim_of(("cold <= 40 %",)).limits
    offer = advised(session, aim_of(())).offers[0]
    asked: list[int] = []

    def outcomes(trial: Trial, time_outs_us: NDArray[np.int64]) -> Outcomes:
        asked.extend(time_outs_us.tolist())
        return found(trial, time_outs_us)

    found = Trial.outcomes
    monkeypatch.setattr(Trial, "outcomes", outcomes)
    assert offer.best(0.0, limits) is not None
    assert asked
    assert offer.trial.within(np.array(asked), limits).all()


@pytest.mark.parametrize(("sustain", "said"), [(0, "0"), (40_030, "40.03 ms"), (2_240_001, "2.240001 s")])
def test_a_choice_names_its_time_as_a_sustain_time(sustain: int, said: str) -> None:
    """Notes name choices, and the number next to the profile has its meaning."""
    choice = advised(periodic(), aim_of(())).offers[0].choice(sustain)
    assert str(choice) == f"{choice.variant}, sustain {said}"
