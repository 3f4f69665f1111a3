"""Hints of when inferences begin: their effect on the votes in the next gap, and on nothing else."""

from __future__ import annotations

import random

import attrs
import pytest
from support.bench import Bench
from support.inside import gate_of, phases_of
from support.learning import learning, learnt_of, relaxing

from htppower.control.gate.sustain_timer import NO_DEADLINE
from htppower.events import Event, State, SustainLearned, Transition
from htppower.profiles.sustain import Adaptive

PERIOD_US = 33_333
LEAD_US = 5_000


def test_a_hint_that_nothing_follows_from_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fixed sustain time and no raise ahead, a hint chooses no time-out, and the alarm is left alone."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    session.expect(every_us=PERIOD_US)
    bench.infer(session)
    gate = gate_of(session)
    assert gate.sustain.covered
    monkeypatch.setattr(type(gate.learning), "begin_gap", lambda *_: pytest.fail("a gap was looked at"))
    for _ in range(5):
        bench.time.advance_us(1_000)
        bench.infer(session)


def test_the_time_that_a_hint_has_chosen_ends_with_its_gap() -> None:
    """An inference that waits and never begins does not bring back the hint's timeout: the learnt one counts."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=Adaptive(break_even_us=20_000, most_us=20_000)))
    bench.infer_often(session, 30, 15_000)
    session.expect(in_us=500_000)
    bench.time.advance_us(500_000)
    with session.inference():
        waiting = gate_of(session).token()
    phases_of(session).soon(phases_of(session).not_begun, waiting)
    learnt = learnt_of(bench)
    learnt_us = learnt.time_out_us
    assert learnt_us > 15_000
    bench.time.advance_us(learnt_us - 1)
    assert session.state == "RAISED"
    bench.time.advance_us(1)
    assert session.state == "LOWERED"


@pytest.mark.parametrize("sustain", [0, Adaptive(break_even_us=20_000, most_us=20_000)])
def test_a_hint_within_an_inference_whose_begin_was_not_timed_counts(sustain: int | Adaptive) -> None:
    """The hint raises ahead, although the running inference began under a profile without predictions."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    with session.inference():
        session.use(relaxing(after_inference_us=sustain, raise_ahead_us=LEAD_US))
        session.expect(in_us=500_000)
    bench.time.advance_us(500_000 - LEAD_US - 1)
    assert session.state == "LOWERED"
    bench.time.advance_us(1)
    assert session.state == "RAISED"


def test_a_hint_lowers_before_a_long_gap_and_stays_through_a_short_one() -> None:
    """If the sustain time is learnt, a hint decides about the next gap, as far as the bank permits."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=100_000))
    bench.infer_often(session, 3, 60_000)
    bench.infer(session)
    session.expect(in_us=5_000_000)
    bench.time.advance_us(1)
    assert session.state == "LOWERED"
    bench.time.advance_us(4_999_999)
    bench.infer(session)
    session.expect(in_us=90_000)
    bench.time.advance_us(109_999)
    assert session.state == "RAISED"


@pytest.mark.parametrize("cold", [True, False])
def test_a_hint_that_is_given_while_an_inference_runs(cold: bool) -> None:
    """The hint predicts the next begin, whether or not the running inference waited for its votes."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=20_000, raise_ahead_us=LEAD_US))
    bench.infer(session)
    bench.time.advance_us(1_000_000 if cold else 10_000)
    with session.inference():
        bench.time.advance_us(5_000)
        session.expect(in_us=50_000)
        bench.time.advance_us(5_000)
    bench.time.advance_us(45_000 - LEAD_US - 1)
    assert session.state == "LOWERED"
    bench.time.advance_us(1)
    assert session.state == "RAISED"


@pytest.mark.parametrize("seed", range(3))
def test_hints_in_the_middle_of_a_gap_cost_what_they_cost(seed: int) -> None:
    """A hint never raises lowered votes; the time and the cold starts that it causes count as costs."""
    rng, bench, worth_us = random.Random(seed), Bench.make(), 100_000
    session = bench.controller.session(learning(break_even_us=worth_us))
    cold = raised_us = best_us = 0
    for _ in range(300):
        bench.events.clear()
        bench.infer(session)
        idle_us = bench.time.now_us
        for _ in range(rng.randrange(4)):
            session.expect(in_us=rng.choice((1_000, 50_000, 10_000_000)))
            bench.time.advance_us(rng.choice((0, 10, 30_000, 99_000)))
        gap_us = bench.time.now_us - idle_us
        lowered = [event for event in bench.events if isinstance(event, Transition) and event.trigger == "lower"]
        cold += len(lowered)
        raised_us += lowered[0].time_us - idle_us if lowered else gap_us
        best_us += min(gap_us, worth_us)
        assert raised_us + cold * worth_us <= 2 * best_us + 2 * worth_us
    bench.infer(session)
    learnt = learnt_of(bench)
    assert (learnt.cold_starts, learnt.raised_us) == (cold, raised_us)


def test_a_hint_after_init_leaves_its_window() -> None:
    """The time since INIT is not a gap, so a hint does not shorten the window after INIT."""
    bench = Bench.make()
    profile = learning(break_even_us=100_000)
    assert profile.relax is not None
    profile = attrs.evolve(profile, relax=attrs.evolve(profile.relax, after_init_us=300_000))
    session = bench.controller.session(profile)
    with session.init():
        bench.time.advance_us(1)
    session.expect(in_us=5_000_000)
    bench.time.advance_us(299_999)
    assert session.state == "RAISED"
    bench.time.advance_us(1)
    assert session.state == "LOWERED"


def test_a_hint_of_a_time_that_is_no_gap_is_none_of_the_next_gap() -> None:
    """A hint given before an INIT is over after it: in the next gap the votes stay up for the learnt timeout."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=100_000))
    bench.infer(session)
    session.expect(in_us=5_000_000)
    with session.init():
        bench.time.advance_us(1)
    bench.infer(session)
    bench.time.advance_us(99_999)
    assert session.state is State.RAISED


def test_a_hint_of_the_time_before_init_is_none_of_an_inference_within() -> None:
    """After an inference within INIT the votes stay up for the learnt time-out, from the end of that inference."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=100_000))
    bench.infer(session)
    session.expect(in_us=5_000_000)
    with session.init():
        bench.infer(session)
    bench.time.advance_us(99_999)
    assert session.state == "RAISED"
    bench.time.advance_us(1)
    assert session.state == "LOWERED"


def test_hints_are_not_told_as_learnt() -> None:
    """The timeout that a hint has chosen is neither in an event nor in the status; both show the learnt one."""
    bench, told = Bench.make(), list[Event]()
    bench.controller.subscribe(told.append, kinds=[SustainLearned])
    session = bench.controller.session(learning(break_even_us=100_000))
    bench.infer_often(session, 5, 60_000)
    for _ in range(3):
        bench.infer(session)
        session.expect(in_us=70_000)
        bench.time.advance_us(70_000)
        learnt = learnt_of(bench)
        assert learnt.time_out_us == 100_000
    with session.hold("balanced", reason="a call"):
        pass
    bench.infer(session)
    bench.controller.flush_events()
    assert not told


def test_a_hint_that_is_none() -> None:
    """Two hints at once, a fraction, or a time below 1 us are refused; ``expect()`` removes the hint."""
    session = Bench.make().controller.session("burst")
    with pytest.raises(TypeError, match="state one of them"):
        session.expect(in_us=5, every_us=5)
    with pytest.raises(TypeError, match="in_us"):
        session.expect(in_us=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="every_us is 0: 1 or more, or None for no hint"):
        session.expect(every_us=0)
    session.expect(every_us=10_000)
    session.expect()
    parts = gate_of(session).learning
    assert parts is not None
    assert not parts.ahead.prediction.hinted


def test_another_profile_ends_a_sustain_that_a_hint_had_chosen(bench: Bench) -> None:
    """Another profile lowers the votes at once, even right after time 0; the learnt timeout has no effect on that."""
    session = bench.controller.session(learning(break_even_us=100_000))
    bench.infer(session)
    session.expect(in_us=10_000)
    session.use("balanced")
    assert session.state is State.LOWERED


@pytest.mark.parametrize("in_us", [10_000, 90_000])
def test_no_lowering_is_late_for_a_sustain_that_was_ended(bench: Bench, in_us: int) -> None:
    """Another profile ends the sustain and its deadline, so no lowering is reported as late."""
    session = bench.controller.session(learning(break_even_us=100_000))
    bench.infer(session)
    session.expect(in_us=in_us)
    gate = gate_of(session)
    gate.use_plan(gate.plan, ends_sustain=True)
    assert gate.sustain.deadline_us == NO_DEADLINE
