"""Tuning a long recording: choices are compared on stretches of it, and computed on all of it."""

from __future__ import annotations

import numpy as np
import pytest
from support.inside import patch_private

from htppower.profiles.speeds import DEFAULT_DEVICE
from htppower.tools.tuning.limits import parse_limit
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.traces import stretches
from htppower.tools.tuning.traces.trace import SessionTrace, Trace
from htppower.tools.tuning.tune import Question, Tuned, tune

MODEL = load_device_model(DEFAULT_DEVICE)
COUNT = 8_000
PROFILES = ("burst",)


def drawn(seed: int, mean_us: int = 60_000) -> SessionTrace:
    """Return inferences of 2 to 5 ms after gaps that are exponential."""
    draw = np.random.default_rng(seed)
    takes = draw.integers(2_000, 5_000, COUNT)
    ends = np.cumsum(draw.exponential(mean_us, COUNT).astype(np.int64) + takes)
    return SessionTrace(f"session{seed}", "burst", ends - takes, ends, np.zeros(COUNT, np.bool_))


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let sessions of more than 5,000 inferences be long, with stretches of 100 inferences."""
    patch_private(monkeypatch, stretches, MOST_INFERENCES=5_000, OF_EACH=100)
    return monkeypatch


def tuned(*sessions: SessionTrace, **asked: object) -> tuple[Tuned, ...]:
    """Return the result for each session."""
    trace = Trace("recording.json", "htppower", sessions)
    return tune(trace, MODEL, Question(profiles=PROFILES, **asked)).sessions  # type: ignore[arg-type]


def test_the_results_are_of_the_whole_recording(long: pytest.MonkeyPatch) -> None:
    """Each choice has the result that it has without stretches; the advice costs little more than the least."""
    (found,) = tuned(drawn(1))
    long.undo()
    (exact,) = tuned(drawn(1))
    assert found.advice.session.begins_us.size == COUNT
    assert found.advice.present == exact.advice.present
    assert any(f"1,600 inferences in {stretches.STRETCHES} stretches" in note for note in found.advice.notes)
    assert found.best is not None
    assert exact.advice.cheapest is not None
    for each in (found.best, *found.advice.front):
        there = exact.advice.offer(each).choice(each.sustain)
        assert there.energy_j == pytest.approx(each.energy_j, rel=1e-9)
        assert there.latency.p99 == each.latency.p99
    price_w = found.aim.price_in_cost_w
    assert found.best.cost_j(price_w, COUNT) <= 1.02 * exact.advice.cheapest.cost_j(price_w, COUNT)


@pytest.mark.usefixtures("long")
def test_a_limit_is_kept_on_the_whole_recording() -> None:
    """The advice keeps to a limit on all inferences, even if it breaks only outside the stretches."""
    limit = parse_limit("p99 <= 5.2 ms")
    session = drawn(2)
    # Between the first two stretches, gaps are longer than any sustain time.
    later = 20_000_000 * np.clip(np.arange(COUNT) - 150, 0, 200)
    changed = SessionTrace("camera", "burst", session.begins_us + later, session.ends_us + later, session.cold)
    (found,) = tuned(session, limits=(limit,))
    assert found.best is not None
    assert found.best.keeps_to((limit,))
    (found,) = tuned(changed, limits=(limit,))
    assert found.best is None
    assert [each for each, _ in found.advice.nearest] == [limit]


@pytest.mark.usefixtures("long")
def test_a_longer_time_is_advised_if_the_best_breaks_a_limit_on_the_whole() -> None:
    """Without a reserve the best time of the stretches barely keeps a limit; the advice keeps it on the whole."""
    for seed in (6, 7):
        limit = parse_limit("cold <= 5 %")
        (found,) = tuned(drawn(seed), limits=(limit,), within=0.0)
        assert found.best is not None
        assert 0.035 <= found.best.latency.cold <= 0.05


@pytest.mark.usefixtures("long")
def test_a_replay_compares_the_stretches() -> None:
    """The controller does on the stretches what is computed for them."""
    trace = Trace("recording.json", "htppower", (drawn(3), drawn(4, 200_000)))
    tuning = tune(trace, MODEL, Question(profiles=("burst",), verify=2))
    assert tuning.equal
    assert tuning.verified
    assert any("settled together on 16 stretches" in note for note in tuning.trace.notes)


@pytest.mark.usefixtures("long")
def test_a_short_session_beside_a_long_one_keeps_all_its_inferences() -> None:
    """A session that has no inference in the shared stretches gets its own best choice."""
    beside = drawn(5)
    # Between the first and the second stretch.
    short = SessionTrace("voice", "burst", beside.begins_us[120:350], beside.ends_us[120:350])
    assert not stretches.joined(short, stretches.shared_stretches_of((beside, short))).begins_us.size
    first, second = tuned(drawn(5), short)
    assert first.advice.session.begins_us.size == COUNT
    assert second.advice.session is short
    assert second.best is not None
    assert second.best == second.advice.best
