"""Hints of when inferences begin, and votes that are raised ahead of a predicted one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import attrs
import pytest
from bench import Bench
from learning import learning, relaxing

from htppower.events import Cause, Event, State, SustainLearned, Transition
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from htppower.control.session import Session

PERIOD_US = 33_333
LEAD_US = 5_000


def transitions(bench: Bench) -> list[tuple[str, str]]:
    """Return the transitions that were made, with their causes."""
    return [(str(event.trigger), str(event.cause)) for event in bench.events if isinstance(event, Transition)]


def waits(bench: Bench, session: Session, times: int, miss: int = 0) -> int:
    """Run inferences at an even rate, leaving out each so-many-th; return how many began without their votes."""
    waited, begin_us = 0, bench.time.now_us
    for place in range(times):
        begin_us += PERIOD_US * (2 if miss and place % miss == 0 else 1)
        bench.time.advance_us(begin_us - bench.time.now_us)
        waited += session.state is not State.RAISED
        bench.infer(session, 8_000)
    return waited


def test_what_a_raise_ahead_saves() -> None:
    """The inference has not waited, but its votes went up and down for it: no call is saved, and no cold start made."""
    bench = Bench.make()
    sustain = Adaptive(break_even_us=20_000, most_us=20_000)
    session = bench.controller.session(relaxing(after_inference_us=sustain, raise_ahead_us=LEAD_US))
    for _ in range(10):
        bench.infer(session, 8_000)
        session.expect(in_us=50_000)
        bench.time.advance_us(50_000)
        with session.inference():
            assert bench.controller.status().sessions[0].calls_saved == 0
        bench.time.advance_us(1_000_000)
    told = bench.controller.status().sessions[0]
    assert (told.calls_saved, len(bench.sets)) == (0, 40)
    assert told.learnt is not None
    assert (told.learnt.gaps, told.learnt.cold_starts) == (19, 9)


def test_an_inference_that_waits_for_the_raise_ahead_of_it() -> None:
    """As where that failed: it has saved no call, and no other one's."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    for _ in range(3):
        bench.infer(session)
        session.expect(in_us=50_000)
        bench.simulated.fail_next(1011)
        bench.time.advance_us(50_000)
        with session.inference():
            assert bench.controller.status().sessions[0].calls_saved == 0
        assert bench.controller.status().sessions[0].calls_saved == 0
        bench.time.advance_us(5_000_000)
    assert session.state is State.LOWERED


@pytest.mark.parametrize("hint", [True, False])
def test_even_inferences_find_their_votes_up(hint: bool) -> None:
    """At 30 Hz with a sustain time of 0 the first waits; without a hint, those that the period is seen in."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    if hint:
        session.expect(every_us=PERIOD_US)
    assert waits(bench, session, 300) == (1 if hint else 9)
    bench.time.advance_us(1_000_000)
    assert session.state is State.LOWERED


def test_nothing_is_raised_ahead_where_the_profile_does_not_say_so() -> None:
    """As in the shipped profiles."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0))
    session.expect(every_us=PERIOD_US)
    assert waits(bench, session, 50) == 50


def test_a_hint_that_nothing_follows_from_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fixed sustain time and no raise ahead nothing is chosen, and no alarm is looked at."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    session.expect(every_us=PERIOD_US)
    bench.infer(session)
    sustain = session._record.gate.sustain
    assert sustain.covered
    monkeypatch.setattr(type(sustain), "begin_gap", lambda *_: pytest.fail("a gap was looked at"))
    for _ in range(5):
        bench.time.advance_us(1_000)
        bench.infer(session)


@pytest.mark.parametrize("within", ["INIT", "another profile"])
@pytest.mark.parametrize("hint", [{"every_us": PERIOD_US}, {"in_us": PERIOD_US}])
def test_an_inference_that_waits_beside_another_is_no_begin(hint: dict[str, int], within: str) -> None:
    """What is predicted is counted from the begin of the first, and the other uses no hint up."""
    bench = Bench.make()
    profile = relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=LEAD_US)
    session = bench.controller.session(profile)
    with session.inference():
        session.expect(**hint)
        bench.time.advance_us(500)
        if within == "INIT":
            with session.init():
                pass
        else:
            session.use(attrs.evolve(profile, name="another"))
        bench.infer(session)
    bench.time.advance_us(PERIOD_US - LEAD_US - 1 - bench.time.now_us)
    assert session.state is State.LOWERED
    bench.time.advance_us(1)
    assert session.state is State.RAISED


def test_votes_are_up_around_the_predicted_begin_only() -> None:
    """They are raised the lead before it and, where nothing comes, lowered the lead after it; the causes say why."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    bench.infer(session)
    bench.events.clear()
    session.expect(in_us=50_000)
    for passes_us, state in ((44_999, State.LOWERED), (1, State.RAISED), (9_999, State.RAISED), (1, State.LOWERED)):
        bench.time.advance_us(passes_us)
        assert session.state is state
    assert transitions(bench) == [
        ("raise", str(Cause.INFERENCE_EXPECTED)),
        ("lower", str(Cause.EXPECTED_IN_VAIN)),
    ]
    lowered = bench.events[-1]
    assert isinstance(lowered, Transition)
    assert lowered.late_us == 0


def test_wrong_hints_end_the_raises() -> None:
    """Two wrong raises are made, and no more, until predictions were right again."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    bench.infer(session)
    for _ in range(20):
        session.expect(in_us=50_000)
        bench.time.advance_us(1_000_000)
    assert transitions(bench).count(("raise", str(Cause.INFERENCE_EXPECTED))) == 2
    for _ in range(4):
        session.expect(in_us=50_000)
        bench.time.advance_us(50_000)
        bench.infer(session)
    session.expect(in_us=50_000)
    bench.time.advance_us(50_000)
    assert session.state is State.RAISED


def test_a_hint_lowers_before_a_long_gap_and_stays_through_a_short_one() -> None:
    """With a time that is learnt the hint decides for the next gap, once the bank bears it."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=100_000))
    for _ in range(3):
        bench.infer(session)
        bench.time.advance_us(60_000)
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
    """It is of the next begin, and not of the one before, whether that had waited for its votes or not."""
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
    """Votes that are down stay down, whatever a hint says, and those that were up were up: the bank knows."""
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
    learnt = bench.controller.status().sessions[0].learnt
    assert learnt is not None
    assert (learnt.cold_starts, learnt.raised_us) == (cold, raised_us)


def test_a_hint_after_init_leaves_its_window() -> None:
    """The time since INIT is no gap, of which a time-out could be chosen."""
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
    """INIT begins before the predicted inference: the gap after that has the time-out that was learnt."""
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
    """After INIT the votes stay up for the time that was learnt, from the end of the inference within."""
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
    """Neither an event nor the status shows the time-out of a hint; both show what the gaps have taught."""
    bench, told = Bench.make(), list[Event]()
    bench.controller.subscribe(told.append, kinds=[SustainLearned])
    session = bench.controller.session(learning(break_even_us=100_000))
    for _ in range(5):
        bench.infer(session)
        bench.time.advance_us(60_000)
    for _ in range(3):
        bench.infer(session)
        session.expect(in_us=70_000)
        bench.time.advance_us(70_000)
        learnt = bench.controller.status().sessions[0].learnt
        assert learnt is not None
        assert learnt.time_out_us == 100_000
    with session.hold("balanced", reason="a call"):
        pass
    bench.infer(session)
    bench.controller.flush_events()
    assert not told


def test_votes_that_a_hint_keeps_up_outlast_a_raise_ahead() -> None:
    """Where nothing comes at the predicted begin, but the time-out is not over, they stay up."""
    bench = Bench.make()
    sustain = Adaptive(break_even_us=400_000, least_us=400_000)
    session = bench.controller.session(relaxing(after_inference_us=sustain, raise_ahead_us=50_000))
    for _ in range(9):
        bench.infer(session)
        bench.time.advance_us(410_000)
    bench.infer(session)
    bench.time.advance_us(370_000)
    # Raised ahead of an even rate, to stay up until 460 ms; then the host says better.
    session.expect(in_us=29_000)
    bench.time.advance_us(100_000)
    assert session.state == "RAISED"
    bench.time.advance_us(100_000)
    assert session.state == "LOWERED"
    assert transitions(bench)[-1] == ("lower", str(Cause.SUSTAIN_EXPIRED))


def test_an_inference_ends_where_no_timer_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the very end of a process, where no thread can be started: nothing is raised ahead."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    session.expect(every_us=PERIOD_US)

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(bench.time, "call_at", refuse)
        bench.infer(session)
        bench.infer(session)
    assert (session.state, session.in_flight) == (State.LOWERED, 0)


def test_nothing_is_predicted_of_a_session_that_is_being_closed() -> None:
    """An inference that ends after the close leaves no alarm behind."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    session.expect(every_us=PERIOD_US)
    with session.inference():
        bench.time.advance_us(1_000)
        session.close()
        session.expect(every_us=PERIOD_US)
    assert bench.time.alarms == 0


@pytest.mark.parametrize("end", ["close", "init", "hold"])
def test_what_was_predicted_ends_with_what_it_was_predicted_for(end: str) -> None:
    """After INIT, another profile or the end of the session nothing is raised for it."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    bench.infer(session)
    session.expect(in_us=50_000)
    hold = session.hold("balanced", reason="a call") if end == "hold" else None
    if end == "close":
        session.close()
    elif end == "init":
        with session.init():
            bench.time.advance_us(1)
    bench.time.advance_us(10_000_000)
    assert not any(cause == str(Cause.INFERENCE_EXPECTED) for _, cause in transitions(bench))
    assert bench.time.alarms == 0
    if hold is not None:
        hold.release()


def test_a_hint_that_is_none() -> None:
    """Both at once, no whole number or a time below 1 us is refused; with neither the hint is taken back."""
    session = Bench.make().controller.session("burst")
    with pytest.raises(TypeError, match="state one of them"):
        session.expect(in_us=5, every_us=5)
    with pytest.raises(TypeError, match="in_us"):
        session.expect(in_us=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="every_us is 0: 1 or more, or None for no hint"):
        session.expect(every_us=0)
    session.expect(every_us=10_000)
    session.expect()
    watch = session._record.gate.sustain.watch
    assert watch is not None
    assert watch.ahead is not None
    assert not watch.ahead.prediction.hinted


def test_the_events_of_a_raise_ahead() -> None:
    """Who listens sees why votes went up without an inference."""
    bench, told = Bench.make(), list[Event]()
    bench.controller.subscribe(told.append, kinds=[Transition])
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    session.expect(every_us=PERIOD_US)
    waits(bench, session, 5)
    bench.controller.flush_events()
    causes = [event.cause for event in told if isinstance(event, Transition) and event.trigger == "raise"]
    assert causes == [Cause.INFERENCE_BEGAN] + [Cause.INFERENCE_EXPECTED] * 4
