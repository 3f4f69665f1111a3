"""Votes that are raised ahead of a predicted inference: when, for how long, and which calls this saves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.bench import Bench
from support.learning import relaxing

from htppower import VoteRejected
from htppower.events import Cause, Event, State, Transition
from htppower.profiles.sustain import Adaptive
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.control.session import Session

PERIOD_US = 33_333
LEAD_US = 5_000


def transitions(bench: Bench) -> list[tuple[str, str]]:
    """Return the transitions so far, with their causes."""
    return [(str(event.trigger), str(event.cause)) for event in bench.events if isinstance(event, Transition)]


def waits(bench: Bench, session: Session, times: int) -> int:
    """Run inferences at an even rate; return how many had to wait for their votes."""
    waited, begin_us = 0, bench.time.now_us
    for _ in range(times):
        begin_us += PERIOD_US
        bench.time.advance_us(begin_us - bench.time.now_us)
        waited += session.state is not State.RAISED
        bench.infer(session, 8_000)
    return waited


def test_what_a_raise_ahead_saves() -> None:
    """A raise ahead and its lowering make two calls, so no call is saved; the inference is not a cold start."""
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
    assert (told.calls_saved, len(bench.casts)) == (0, 40)
    assert told.learnt is not None
    assert (told.learnt.gaps, told.learnt.cold_starts) == (19, 9)


def test_an_inference_that_waits_for_the_raise_ahead_of_it() -> None:
    """If the raise ahead fails, the inference has saved no call."""
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
    """At 30 Hz without a sustain time, only the first inference waits; without a hint, the first nine."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    if hint:
        session.expect(every_us=PERIOD_US)
    assert waits(bench, session, 300) == (1 if hint else 9)
    bench.time.advance_us(1_000_000)
    assert session.state is State.LOWERED


def test_the_first_inference_of_a_session_finds_its_votes_up() -> None:
    """A hint before the first inference raises the votes; if the hint was wrong, they are lowered again."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    session.expect(in_us=50_000)
    bench.time.advance_us(50_000 - LEAD_US - 1)
    before = session.state
    bench.time.advance_us(1)
    assert (before, session.state) == (State.UNVOTED, State.RAISED)
    bench.time.advance_us(2 * LEAD_US)
    assert session.state is State.LOWERED


@pytest.mark.parametrize("meanwhile", [0, 1, 2])
def test_the_last_begin_is_known_whatever_profile_was_in_use(meanwhile: int) -> None:
    """Begins are timed under every profile, so a later hint counts from the last of them."""
    bench = Bench.make()
    ahead = relaxing(after_inference_us=0, raise_ahead_us=LEAD_US)
    session = bench.controller.session(ahead)
    bench.infer(session, 8_000)
    session.use("burst")
    for _ in range(meanwhile):
        bench.time.advance_us(500)
        bench.infer(session, 8_000)
    session.use(ahead)
    session.expect(every_us=PERIOD_US)
    bench.time.advance_us(PERIOD_US - 8_000 - LEAD_US - 1)
    before = session.state
    bench.time.advance_us(1)
    assert (before, session.state) == (State.LOWERED, State.RAISED)


def test_the_last_begin_of_a_recorded_session_is_known(tmp_path: Path) -> None:
    """A hint of a period counts from the first begin after the hint, not from recorded begins before it."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0))
    with bench.controller.record(tmp_path / "trace.jsonl"):
        bench.infer(session)
        session.expect(every_us=PERIOD_US)
        bench.time.advance_us(500)
        bench.infer(session, 8_000)
        session.use(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
        session.expect(every_us=PERIOD_US)
        bench.time.advance_us(PERIOD_US - 8_000 - LEAD_US - 1)
        before = session.state
        bench.time.advance_us(1)
        assert (before, session.state) == (State.LOWERED, State.RAISED)


def test_a_begin_that_failed_is_one_of_an_even_row() -> None:
    """A failed begin does not end the prediction of an even rate; the begin after it counts, too."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    waited = 0
    for number in range(20):
        bench.time.advance_us(number * PERIOD_US - bench.time.now_us)
        waited += session.state is not State.RAISED
        if number != 4:
            bench.infer(session, 8_000)
            continue
        bench.simulated.fail_next(FAILED)
        with pytest.raises(VoteRejected), session.inference():
            raise AssertionError
    assert waited == 9


def test_nothing_is_raised_ahead_where_the_profile_does_not_say_so() -> None:
    """Without ``raise_ahead_us`` each inference waits for its votes, whatever hint the host gives."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0))
    session.expect(every_us=PERIOD_US)
    assert waits(bench, session, 50) == 50


def test_an_inference_that_begins_within_init_is_no_begin_where_it_ends_later() -> None:
    """An inference that begins within INIT is not a begin for predictions, even if it ends after INIT."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=LEAD_US))
    init, inference = session.init(), session.inference()
    with init:
        bench.time.advance_us(500)
        inference.__enter__()
    session.expect(every_us=PERIOD_US)
    bench.time.advance_us(500)
    inference.__exit__(None, None, None)
    bench.events.clear()
    bench.time.advance_us(10 * PERIOD_US)
    assert transitions(bench) == []
    assert waits(bench, session, 3) == 1


def test_votes_are_up_around_the_predicted_begin_only() -> None:
    """Votes are raised ``raise_ahead_us`` before the predicted begin, and without an inference end as long after."""
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
    """After two wrong raises ahead no more are made, until enough predictions were right."""
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


def test_votes_that_a_hint_keeps_up_outlast_a_raise_ahead() -> None:
    """If no inference begins at the predicted time, the votes stay up until the timeout that the hint chose."""
    bench = Bench.make()
    sustain = Adaptive(break_even_us=400_000, least_us=400_000)
    session = bench.controller.session(relaxing(after_inference_us=sustain, raise_ahead_us=50_000))
    bench.infer_often(session, 9, 410_000)
    bench.infer(session)
    bench.time.advance_us(370_000)
    # The even rate keeps the votes up until 460 ms; then the host gives a better hint.
    session.expect(in_us=29_000)
    bench.time.advance_us(100_000)
    assert session.state == "RAISED"
    bench.time.advance_us(100_000)
    assert session.state == "LOWERED"
    assert transitions(bench)[-1] == ("lower", str(Cause.SUSTAIN_EXPIRED))


def test_an_inference_ends_where_no_timer_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no thread can be started, inferences still end, and nothing is raised ahead."""
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
    """An inference that ends after the close leaves no alarm."""
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
    """After INIT, another profile or a close, no raise is made for an old prediction."""
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


def test_the_events_of_a_raise_ahead() -> None:
    """The cause of the transition is INFERENCE_EXPECTED, so a subscriber sees why the votes went up."""
    bench, told = Bench.make(), list[Event]()
    bench.controller.subscribe(told.append, kinds=[Transition])
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    session.expect(every_us=PERIOD_US)
    waits(bench, session, 5)
    bench.controller.flush_events()
    causes = [event.cause for event in told if isinstance(event, Transition) and event.trigger == "raise"]
    assert causes == [Cause.INFERENCE_BEGAN] + [Cause.INFERENCE_EXPECTED] * 4
