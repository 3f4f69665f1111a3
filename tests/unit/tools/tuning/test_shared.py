"""The advice for sessions that share a core depends on the core's power."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.advising import MODEL, advised, aim_of, recording
from support.inside import kept_choices
from support.workloads import any_session

from htppower.tools.tuning.shared import settle_together
from htppower.tools.tuning.traces.trace import SessionTrace
from htppower.tools.tuning.tune import Question, tune

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.session_advice import Aim, SessionAdvice


def drawn_j(advices: Sequence[SessionAdvice], choices: Sequence[Choice]) -> float:
    """Return the energy of all sessions together, us by us."""
    begin = min(int(each.session.begins_us[0]) for each in advices)
    end = max(int(each.session.ends_us.max()) for each in advices)
    runs = [each.offer(choice).trial.run(choice.sustain) for each, choice in zip(advices, choices, strict=True)]
    offers = [each.offer(choice) for each, choice in zip(advices, choices, strict=True)]
    length = max(int(run.lowered_us[-1]) for run in runs) - begin
    up = np.zeros((len(runs), max(length, end - begin)), np.bool_)
    busy = np.zeros(up.shape[1], np.bool_)
    polled_us = 0
    for place, run in enumerate(runs):
        for raised, lowered in zip(run.raised_us, run.lowered_us, strict=True):
            up[place, raised - begin : lowered - begin] = True
        for begun, ended in zip(run.begins_us, run.ends_us, strict=True):
            busy[begun - begin : ended - begin] = True
    for offer, run in zip(offers, runs, strict=True):
        takes = offer.trial.workload.takes_us.tolist()
        for at, lasts in zip((run.begins_us - begin).tolist(), takes, strict=True):
            asked = [other.variant.profile.votes.rpc_polling_time_us or 0 for other in offers]
            polled_us += min(lasts, max((us for us, is_up in zip(asked, up[:, at], strict=True) if is_up), default=0))
    lowered_w = max(each.power.lowered_idle_w for each in offers)
    active = np.max([np.where(row, each.power.active_w, 0) for row, each in zip(up, offers, strict=True)], axis=0)
    idle = np.max([np.where(row, each.power.raised_idle_w, lowered_w) for row, each in zip(up, offers, strict=True)], 0)
    drawn = np.where(busy, active, idle)
    drawn[max(int(run.ends_us.max()) for run in runs) - begin :] = lowered_w
    drawn[end - begin :] -= lowered_w
    calls_j = sum(choice.calls for choice in choices) * MODEL.call_j.value
    return float(drawn.sum()) / 1e6 + calls_j + MODEL.polling_w.value * polled_us / 1e6


def cost_j(advices: Sequence[SessionAdvice], choices: Sequence[Choice], aim: Aim) -> float:
    """Return the energy of all sessions together, and the price of their latency."""
    late_us = sum(
        each.session.begins_us.size * choice.latency.mean for each, choice in zip(advices, choices, strict=True)
    )
    return drawn_j(advices, choices) + aim.price_in_cost_w * late_us / 1e6


@pytest.mark.parametrize("seed", range(4))
def test_sessions_that_share_a_core_are_settled_by_what_it_draws(seed: int) -> None:
    """The energy is the core's, us by us, and no combination of the kept choices costs less."""
    draw = np.random.default_rng(seed)
    aim = aim_of((), settings=50)
    advices = [advised(any_session(draw, most=12, name=name), aim) for name in ("camera", "voice")]
    found = settle_together(advices, aim)
    assert found.choices is not None
    assert found.all_tried
    assert found.tried >= found.kept[0] * found.kept[1]
    assert found.energy_j == pytest.approx(drawn_j(advices, found.choices))
    assert found.present_j == pytest.approx(drawn_j(advices, [each.present for each in advices]))
    best = [each.best for each in advices]
    assert found.alone_j == pytest.approx(drawn_j(advices, [each for each in best if each is not None]))
    least_j = cost_j(advices, found.choices, aim) * (1 - 1e-9)
    kept = [kept_choices(each, aim, count) for each, count in zip(advices, found.kept, strict=True)]
    for _ in range(5):
        assert least_j <= cost_j(advices, [each[draw.integers(len(each))] for each in kept], aim)


def test_one_session_together_draws_what_it_draws_alone() -> None:
    """A core with one session has the energy of that session."""
    aim = aim_of((), settings=50)
    advice = advised(any_session(np.random.default_rng(3)), aim)
    found = settle_together([advice], aim)
    assert found.present_j == pytest.approx(advice.present.energy_j)
    assert advice.best is not None
    assert found.energy_j == pytest.approx(advice.best.energy_j)


def test_many_sessions_are_settled_in_turns() -> None:
    """If there are too many combinations, no change of a single session improves the result."""
    draw = np.random.default_rng(8)
    aim = aim_of((), settings=20)
    advices = [advised(any_session(draw, most=8, name=str(each)), aim) for each in range(6)]
    found = settle_together(advices, aim)
    assert found.choices is not None
    assert not found.all_tried
    assert found.energy_j == pytest.approx(drawn_j(advices, found.choices))
    least_j = cost_j(advices, found.choices, aim) * (1 - 1e-9)
    for place, advice in enumerate(advices):
        for other in kept_choices(advice, aim, found.kept[place]):
            choices = (*found.choices[:place], other, *found.choices[place + 1 :])
            assert least_j <= cost_j(advices, choices, aim)


def test_no_range_is_told_of_what_is_best_only_together() -> None:
    """A choice that is not the best for its session alone has no range, and a note says why."""
    begins = np.arange(1, 6) * 121_000
    ends = begins + 1_000
    sessions = (SessionTrace("a", None, begins, ends), SessionTrace("b", None, begins, ends))
    tuned = tune(recording(*sessions), MODEL, Question(profiles=("burst",))).sessions
    others = [each for each in tuned if each.best != each.advice.best]
    assert others
    for each in others:
        assert not each.assumptions
        assert "not for this session alone" in each.advice.notes[-1]
