"""A learnt sustain time: the controller follows the policy in every gap."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from support.bench import Bench
from support.inside import gate_of
from support.learning import learning, learnt_of, relaxing

from htppower.control.time.locks import is_held
from htppower.events import Cause, Event, State, SustainLearned, Transition
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from htppower.sustain.base import Learner, Savings

WORTH_US = 100_000


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("adaptive", [{"break_even_us": WORTH_US}, {"cold_starts_ppm": 50_000}])
def test_votes_come_down_by_the_policy(seed: int, adaptive: dict[str, int]) -> None:
    """An inference after a gap shorter than the timeout finds the votes up; after a longer gap they are down."""
    rng, bench = random.Random(seed), Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=Adaptive(**adaptive)))
    learner = make_learner(Adaptive(**adaptive))
    bench.infer(session)
    for _ in range(400):
        gap_us = int(rng.expovariate(1 / rng.choice((5_000, 60_000, 500_000))))
        bench.time.advance_us(gap_us)
        assert (session.state is State.RAISED) == (gap_us < learner.time_out_us)
        learner.learn(gap_us)
        bench.infer(session)
    learnt = learnt_of(bench)
    assert (learnt.time_out_us, learnt.gaps) == (learner.time_out_us, 400)
    assert (learnt.raised_us, learnt.cold_starts) == learner.savings()[1:3]
    assert (learnt.fixed_raised_us, learnt.fixed_cold_starts) == learner.savings()[3:]


def test_a_gap_is_from_the_last_end_to_the_first_begin() -> None:
    """Overlapping inferences count as one busy time, whichever of them ends first."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=WORTH_US))
    bench.infer(session)
    bench.time.advance_us(30_000)
    first, second = session.inference(), session.inference()
    first.__enter__()
    bench.time.advance_us(10_000)
    second.__enter__()
    first.__exit__(None, None, None)
    bench.time.advance_us(200_000)
    second.__exit__(None, None, None)
    bench.time.advance_us(40_000)
    bench.infer(session)
    learnt = learnt_of(bench)
    assert (learnt.gaps, learnt.raised_us) == (2, 70_000)


def test_what_is_no_gap() -> None:
    """A session does not learn from a gap with INIT, DE-INIT or another profile in it."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=WORTH_US))
    bench.infer(session)
    for prepare in (session.init, session.deinit):
        bench.time.advance_us(1_000_000)
        with prepare():
            bench.time.advance_us(10)
        bench.infer(session)
    with session.hold("balanced", reason="a call"):
        bench.time.advance_us(1_000_000)
    bench.infer(session)
    learnt = learnt_of(bench)
    assert (learnt.gaps, learnt.time_out_us) == (0, WORTH_US)


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("within", ["init", "deinit", "use"])
def test_what_comes_within_an_inference_leaves_the_gap_before_it(within: str, beside: bool) -> None:
    """The gap before an inference ends at its begin, even if INIT, DE-INIT or ``use`` comes during the inference."""
    bench, profile = Bench.make(), learning(break_even_us=100_000)
    session = bench.controller.session(profile)
    for gap_us in (1_000, 1_000_000):
        bench.infer(session)
        bench.time.advance_us(gap_us)
        first, second = session.inference(), session.inference()
        first.__enter__()
        if beside:
            bench.time.advance_us(1)
            second.__enter__()
            first.__exit__(None, None, None)
        if within == "use":
            session.use("balanced")
        else:
            with getattr(session, within)():
                pass
        (second if beside else first).__exit__(None, None, None)
        session.use("burst")
        session.use(profile)
    learnt = learnt_of(bench)
    assert (learnt.gaps, learnt.cold_starts) == (2, 1)


@pytest.mark.parametrize("phase", ["init", "deinit"])
def test_inferences_within_a_phase_teach_nothing(phase: str) -> None:
    """Sessions do not learn from gaps within INIT or DE-INIT, and predict nothing from begins within them."""
    bench = Bench.make()
    session = bench.controller.session(
        relaxing(after_inference_us=Adaptive(break_even_us=20_000), raise_ahead_us=5_000)
    )
    with getattr(session, phase)():
        for _ in range(10):
            bench.infer(session, 1_000)
            bench.time.advance_us(499_000)
    told = learnt_of(bench)
    assert told.gaps == 0
    bench.infer(session, 1_000)
    bench.time.advance_us(10_000_000)
    causes = [event.cause for event in bench.events if isinstance(event, Transition)]
    assert Cause.INFERENCE_EXPECTED not in causes


@pytest.mark.parametrize("ahead_us", [0, 5_000])
def test_between_inferences_within_init_or_deinit_there_is_no_gap(ahead_us: int) -> None:
    """Votes stay up for INIT or DE-INIT anyway, so the time between inferences within it costs nothing."""
    bench = Bench.make()
    adaptive = Adaptive(break_even_us=WORTH_US)
    session = bench.controller.session(relaxing(after_inference_us=adaptive, raise_ahead_us=ahead_us))
    bench.infer(session)
    for prepare in (session.init, session.deinit):
        with prepare():
            for gap_us in (1_000, 1_000_000):
                bench.infer(session)
                bench.time.advance_us(gap_us)
            bench.infer(session)
    learnt = learnt_of(bench)
    assert (learnt.gaps, learnt.raised_us) == (0, 0)


def test_what_was_learnt_outlives_a_hold() -> None:
    """After a hold of a profile with a fixed time, the session continues with its learnt time."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=WORTH_US))
    bench.infer_often(session, 5, 2_000_000)
    bench.infer(session)
    with session.hold("burst", reason="a photo"):
        assert bench.controller.status().sessions[0].learnt is None
        bench.infer(session)
        bench.time.advance_us(299_999)
        assert session.state is State.RAISED
    bench.infer(session)
    learnt = learnt_of(bench)
    assert (learnt.gaps, learnt.time_out_us, session.state) == (5, 0, State.LOWERED)


def test_a_new_time_is_told() -> None:
    """SustainLearned is sent once for each change, with the costs so far, and not without a change."""
    bench, told = Bench.make(), list[Event]()
    bench.controller.subscribe(told.append, kinds=[SustainLearned])
    session = bench.controller.session(learning(break_even_us=WORTH_US))
    for gap_us in (10_000, 2_000_000, 2_000_000, 2_000_000):
        bench.infer(session)
        bench.time.advance_us(gap_us)
    bench.infer(session)
    bench.controller.flush_events()
    changes = [(event.before_us, event.after_us) for event in told if isinstance(event, SustainLearned)]
    assert changes[0][0] == WORTH_US
    assert changes[-1][1] < WORTH_US
    assert [after for _, after in changes[:-1]] == [before for before, _ in changes[1:]]
    assert isinstance(told[-1], SustainLearned)
    assert told[-1].cold_starts <= told[-1].gaps <= 4


def test_what_is_told_of_a_time_that_was_learnt_is_of_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of the event are read under the lock of the gate, so they belong together."""
    bench, held = Bench.make(), list[bool]()
    session = bench.controller.session(learning(break_even_us=WORTH_US))
    parts = gate_of(session).learning
    assert parts is not None
    learner = parts.gaps.learners.current
    assert learner is not None
    kind: type[Learner] = type(learner)
    savings = kind.savings

    def noted(learner: Learner) -> Savings:
        held.append(is_held(gate_of(session).lock))
        return savings(learner)

    monkeypatch.setattr(kind, "savings", noted)
    bench.infer_often(session, 4, 2_000_000)
    assert held
    assert all(held)


def test_a_time_that_becomes_shorter_rings_in_time() -> None:
    """If the learnt time becomes shorter, votes are lowered by it, not by the alarm of the longer time."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=WORTH_US, least_us=20_000))
    bench.infer_often(session, 20, 2_000_000)
    bench.infer(session)
    learnt = learnt_of(bench)
    assert learnt.time_out_us == 20_000
    bench.time.advance_us(19_999)
    assert session.state == "RAISED"
    bench.time.advance_us(1)
    assert session.state == "LOWERED"


def test_a_session_with_a_fixed_time_reads_no_clock_more() -> None:
    """Begins are timed only for a learnt time or a raise ahead."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=300_000))
    bench.infer(session)
    assert gate_of(session).learning is None
    assert bench.controller.status().sessions[0].learnt is None
