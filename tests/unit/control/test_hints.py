"""Hints of when inferences begin, and votes that are raised ahead of a predicted one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench import Bench
from learning import learning, relaxing

from htppower.events import Cause, Event, State, Transition

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
    with pytest.raises(ValueError, match="every_us"):
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
