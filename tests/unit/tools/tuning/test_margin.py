"""Advice with a margin: limits hold in the other half of a recording, and the cost is near the lowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.advising import MODEL, recording
from support.half_recordings import KINDS, halves, with_jitter
from support.inside import patch_private

from htppower.tools.tuning import margin as margin_module
from htppower.tools.tuning.limits import parse_limit
from htppower.tools.tuning.replay import replay
from htppower.tools.tuning.reserve import Strictness
from htppower.tools.tuning.traces.trace import SessionTrace, tuned_and_rest, with_longer_gaps
from htppower.tools.tuning.tune import Question, Tuned, tune

if TYPE_CHECKING:
    from htppower.tools.tuning.trial import Trial

PROFILES = ("burst", "balanced", "high_power_saver")


def tuned(session: SessionTrace, limits: tuple[str, ...] = (), within: float = 0.01) -> Tuned:
    """Return the result for a session over some profiles."""
    question = Question(tuple(map(parse_limit, limits)), profiles=PROFILES, settings=10, within=within)
    (found,) = tune(recording(session), MODEL, question).sessions
    return found


def keeps(found: Tuned, trial: Trial) -> bool:
    """Return whether the advice keeps to the limits in a trial."""
    assert found.best is not None
    latency = trial.latency(found.best.sustain)
    return all(limit.holds(latency.of(limit.measure)) for limit in found.aim.limits)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_limits_hold_in_the_half_that_was_not_tuned_on(kind: str, seed: int) -> None:
    """Limits hold there unchanged, 3 % faster and slower, with 2 ms more jitter, and with gaps 5 % longer."""
    first, second = halves(kind, seed, 500)
    found = tuned(first, KINDS[kind][1])
    assert found.best is not None
    there = found.advice.offer(found.best).trial.of(second)
    assert keeps(found, there)
    assert keeps(found, there.slower(0.97))
    assert keeps(found, there.slower(1.03))
    assert keeps(found, there.of(with_jitter(second, 2_000, seed)))
    assert keeps(found, there.of(with_longer_gaps(second, 1.05)))


def test_the_controller_keeps_to_the_limits_in_the_other_half() -> None:
    """On the other half, the controller does as calculated: few inferences wait for a raise."""
    first, second = halves("camera", 3, 300)
    found = tuned(first, ("cold <= 5 %",))
    assert found.best is not None
    trial = found.advice.offer(found.best).trial.of(second).slower(0.98)
    (replayed,) = replay([(found.best.variant.under(found.best.sustain), trial.workload)])
    assert len(replayed.cold) <= 0.05 * second.begins_us.size


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_limit_the_cost_is_near_the_least_and_the_margin_large(kind: str) -> None:
    """The choice costs at most 1 % more than the cheapest, and a tenth of a per cent more for rounding."""
    session, _ = halves(kind, 4, 400)
    found = tuned(session)
    cheapest = found.advice.cheapest
    assert found.best is not None
    assert cheapest is not None
    price_w, count = found.aim.price_in_cost_w, session.begins_us.size
    assert found.best.cost_j(price_w, count) <= 1.011 * cheapest.cost_j(price_w, count)
    assert found.holds is not None
    assert (found.holds.longer_gaps or 4) > 1.05


def test_of_times_that_cost_the_same_the_one_furthest_from_a_cliff_is_advised() -> None:
    """With gaps of 30 ms, all longer times cost the same, and twice that is far enough."""
    begins = np.arange(400) * 38_000
    session = SessionTrace("camera", "burst", begins, begins + 8_000)
    found = tuned(session, ("cold <= 5 %",))
    assert found.best is not None
    assert isinstance(found.best.sustain, int)
    gap_us = 38_000 - found.advice.offer(found.best).trial.workload.takes_us.max()
    assert 1.7 * gap_us <= found.best.sustain <= 2.4 * gap_us
    without = tuned(session, ("cold <= 5 %",), within=0)
    assert without.best is not None
    assert without.best.sustain == gap_us + 1
    assert without.checked is None


def test_it_is_said_up_to_which_gaps_and_speeds_advice_holds() -> None:
    """The limits hold up to the given gaps and speeds, and break beyond one of the ends."""
    session, _ = halves("camera", 5, 400)
    found = tuned(session, ("p99 <= 14 ms", "cold <= 5 %"))
    assert found.best is not None
    assert found.holds is not None
    trial = found.advice.offer(found.best).trial
    gaps, longer = found.holds.longer_gaps, found.holds.longer
    assert gaps is not None
    assert longer is not None
    assert found.holds.gap_us == pytest.approx(found.best.sustain / gaps, abs=1)  # type: ignore[operator]
    assert keeps(found, trial.of(with_longer_gaps(session, gaps * 0.999)))
    assert not keeps(found, trial.of(with_longer_gaps(session, gaps * 1.1)))
    assert keeps(found, trial.slower(longer * 0.999))
    assert not keeps(found, trial.slower(longer * 1.05))


def test_the_last_third_says_what_the_advice_comes_to() -> None:
    """The values equal a trial of the last third alone, which was not used to tune."""
    session, _ = halves("requests", 6, 600)
    found = tuned(session, ("cold <= 10 %",))
    assert found.best is not None
    assert found.checked is not None
    first, rest = tuned_and_rest(session)
    assert rest is not None
    assert (first.begins_us.size, rest.begins_us.size) == (400, 200)
    there = found.advice.offer(found.best).trial.of(rest).latency(found.best.sustain)
    assert found.checked.choice.latency == there
    assert not found.checked.broken
    assert not found.rest_used


def test_a_limit_that_breaks_on_the_last_third_has_another_time_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    """If gaps grow at the end, the first two thirds are not enough; the advised time holds on all."""
    patch_private(monkeypatch, margin_module, MOST_LEARNT=0)
    draw = np.random.default_rng(1)
    gaps = np.concatenate((draw.integers(24_000, 26_000, 400), draw.integers(90_000, 95_000, 200)))
    pauses = np.where(np.arange(600) % 30 == 7, 4_000_000, gaps)
    ends = np.cumsum(pauses + 8_000)
    found = tuned(SessionTrace("camera", "burst", ends - 8_000, ends), ("cold <= 6 %",))
    assert found.best is not None
    assert isinstance(found.best.sustain, int)
    assert found.best.sustain > 90_000
    assert found.rest_used
    assert found.checked is not None
    assert not found.checked.broken


def test_nothing_is_advised_that_breaks_a_limit_on_a_part() -> None:
    """If every choice breaks a limit on the last third, the result reports that, with the cheapest choice there."""
    gaps = np.concatenate((np.full(500, 25_000), np.full(100, 20_000_000), np.full(150, 25_000)))
    ends = np.cumsum(gaps + 8_000)
    found = tuned(SessionTrace("camera", "burst", ends - 8_000, ends), ("cold <= 20 %",))
    assert found.best is None
    assert found.advice.cheapest is not None
    assert found.checked is not None
    assert [str(each) for each in found.checked.broken] == ["cold <= 20 %"]
    assert any("none on both parts" in note for note in found.advice.notes)


def test_a_limit_that_leaves_no_room_is_kept_without_a_reserve_and_that_is_said() -> None:
    """If nothing is 3 % within the limit, the advice keeps to it as recorded, and a note warns that it may break."""
    begins = np.arange(300) * 38_000
    found = tuned(SessionTrace("camera", "burst", begins, begins + 8_000), ("p50 <= 8.1 ms",))
    assert found.best is not None
    assert found.best.latency.p50 <= 8_100
    assert found.advice.margin is not None
    assert found.advice.margin.strictness < Strictness.CHANGED
    assert any("3 % faster or slower" in note for note in found.advice.notes)


def test_a_learnt_time_is_advised_only_if_it_costs_clearly_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it costs less by more than the tolerance, it wins over every fixed time with the same reserve."""
    draw = np.random.default_rng(2)
    # Periods of short gaps and of long gaps, so no fixed time suits both.
    gaps = np.concatenate([draw.integers(*ends, 100) for ends in ((30_000, 40_000), (120_000, 900_000)) * 4])
    ends = np.cumsum(gaps + 2_000)
    session = SessionTrace("camera", "burst", ends - 2_000, ends)
    found = tuned(session)
    assert found.best is not None
    learnt = not isinstance(found.best.sustain, int)
    patch_private(monkeypatch, margin_module, MOST_LEARNT=0)
    fixed = tuned(session)
    assert fixed.best is not None
    price_w, count = found.aim.price_in_cost_w, session.begins_us.size
    ratio = found.best.cost_j(price_w, count) / fixed.best.cost_j(price_w, count)
    assert (ratio <= 1 / 1.01) if learnt else (found.best == fixed.best)


def test_gaps_are_made_longer_and_nothing_else() -> None:
    """The inferences between two gaps stay as they are, overlapping or not."""
    begins = np.array([0, 3, 50, 60, 200])
    ends = np.array([10, 5, 60, 70, 210])
    changed = with_longer_gaps(SessionTrace("camera", None, begins, ends), 1.5)
    assert changed.gaps_us().tolist() == [60, 0, 195]
    assert (changed.ends_us - changed.begins_us).tolist() == [10, 2, 10, 10, 10]
    assert changed.begins_us.tolist() == [0, 3, 70, 80, 285]
