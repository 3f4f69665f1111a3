"""Which begins a prediction counts from, and which begins use up a hint: only timed begins of an idle session."""

from __future__ import annotations

import gc
from typing import Any

import attrs
import pytest
from support.bench import Bench
from support.learning import learning, relaxing

from htppower import PhaseMisuse, VoteRejected
from htppower.events import Cause, Transition
from htppower.votes.native_codes import FAILED

PERIOD_US = 33_333
LEAD_US = 5_000
IN_US = 500_000
AHEAD = relaxing(after_inference_us=0, raise_ahead_us=LEAD_US)


@pytest.mark.parametrize("within", ["INIT", "another profile"])
@pytest.mark.parametrize("hint", [{"every_us": PERIOD_US}, {"in_us": PERIOD_US}])
def test_an_inference_that_waits_beside_another_is_no_begin(hint: dict[str, int], within: str) -> None:
    """The prediction counts from the begin of the first inference; the second uses up no hint."""
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
    assert session.state == "LOWERED"
    bench.time.advance_us(1)
    assert session.state == "RAISED"


def test_an_inference_that_ends_within_init_and_beside_an_earlier_one_is_no_begin() -> None:
    """The prediction counts from the begin of the earlier inference, which still runs when INIT ends."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=LEAD_US))
    session.expect(every_us=PERIOD_US)
    init, inference = session.init(), session.inference()
    with session.inference():
        bench.time.advance_us(8_000)
        with inference:
            init.__enter__()
        init.__exit__(None, None, None)
    bench.time.advance_us(PERIOD_US - LEAD_US - 8_000)
    assert session.state == "RAISED"


def test_an_inference_within_init_is_no_begin_when_init_ends() -> None:
    """The prediction counts from the last begin before INIT."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=LEAD_US))
    bench.infer(session, 8_000)
    with session.init():
        bench.infer(session, 5_000)
    session.expect(every_us=PERIOD_US)
    bench.time.advance_us(PERIOD_US - LEAD_US - 13_000)
    assert session.state == "RAISED"


def test_one_that_does_not_begin_leaves_those_beside_it_no_begin() -> None:
    """After a refused begin and an inference that overlaps it, the hint still counts from the first begin."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=10_000, raise_ahead_us=LEAD_US))
    bench.infer(session, 1_000)
    inference = session.inference()
    with inference:
        session.expect(in_us=500_000)
        bench.time.advance_us(1_000)
        bench.infer(session, 1_000)
        with pytest.raises(PhaseMisuse):
            inference.__enter__()
    bench.time.advance_us(500_000 - 2_000 - LEAD_US)
    assert session.state == "RAISED"


@pytest.mark.parametrize("order", ["AIai", "AIBaib", "ABIabi", "AIia"])
def test_a_begin_before_init_uses_a_hint_up(order: str) -> None:
    """Inference A begins on an idle session and uses the hint up, whenever INIT and the others end."""
    bench = Bench.make()
    profile = relaxing(after_init_us=0, after_inference_us=20_000, raise_ahead_us=LEAD_US)
    session = bench.controller.session(profile)
    bench.infer(session)
    session.expect(in_us=1_000_000)
    phases: dict[str, Any] = {"a": session.inference(), "b": session.inference(), "i": session.init()}
    for each in order:
        bench.time.advance_us(10)
        if each.isupper():
            phases[each.lower()].__enter__()
        else:
            phases[each].__exit__(None, None, None)
    bench.time.advance_us(900_000)
    assert session.state == "LOWERED"
    calls = len(bench.sets)
    bench.time.advance_us(1_000_000)
    assert (session.state, len(bench.sets)) == ("LOWERED", calls)


def test_a_rate_that_is_told_within_an_inference_that_waited_counts_from_its_begin() -> None:
    """The host gives its rate within an inference that waited; the votes stay up until the second inference."""
    bench = Bench.make()
    session = bench.controller.session(learning(break_even_us=100_000))
    for _ in range(4):
        bench.infer(session, 8_000)
        bench.time.advance_us(3_000_000)
    with session.inference():
        session.expect(every_us=PERIOD_US)
        bench.time.advance_us(8_000)
    bench.time.advance_us(PERIOD_US - 8_000 - 1)
    assert session.state == "RAISED"


@pytest.mark.parametrize("outlives", [True, False])
def test_what_begins_beside_one_that_was_not_timed_uses_no_hint_up(outlives: bool) -> None:
    """The first begin was not timed, so a later begin that overlaps it leaves the hint as it is."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    first, beside = session.inference(), session.inference()
    with first:
        session.use(AHEAD)
        session.expect(in_us=IN_US)
        bench.time.advance_us(1_000)
        beside.__enter__()
        if not outlives:
            beside.__exit__(None, None, None)
    if outlives:
        beside.__exit__(None, None, None)
    bench.time.advance_us(IN_US - 1_000 - LEAD_US)
    assert session.state == "RAISED"


def test_nothing_is_predicted_from_what_begins_beside_one_that_was_not_timed() -> None:
    """A hint of a period counts from the next begin that is timed."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    with session.inference():
        session.use(AHEAD)
        bench.time.advance_us(1_000)
        bench.infer(session, 1_000)
    session.expect(every_us=IN_US)
    bench.time.advance_us(10 * IN_US)
    causes = [event.cause for event in bench.events if isinstance(event, Transition)]
    assert Cause.INFERENCE_EXPECTED not in causes


@pytest.mark.parametrize("order", ["profile", "INIT", "profile, running", "twice"])
def test_what_begins_beside_one_that_was_not_timed_is_no_begin_when_the_gap_is_broken(order: str) -> None:
    """After a change of profile or INIT during an inference, its begin and overlapping begins still predict nothing."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    first, beside = session.inference(), session.inference()
    with first:
        session.expect(every_us=IN_US)
        bench.time.advance_us(1_000)
        with beside:
            if order == "profile, running":
                session.use(AHEAD)
        if order == "twice":
            session.use("balanced")
            with beside:
                pass
        if order == "INIT":
            with session.init():
                pass
        session.use(AHEAD)
    bench.time.advance_us(10 * IN_US)
    causes = [event.cause for event in bench.events if isinstance(event, Transition)]
    assert Cause.INFERENCE_EXPECTED not in causes
    bench.infer(session)
    bench.time.advance_us(IN_US - LEAD_US)
    assert session.state == "RAISED"


@pytest.mark.parametrize("beside", [True, False])
def test_a_hint_outlives_an_inference_that_is_collected(beside: bool) -> None:
    """A hint still counts after an inference was garbage collected, even if another began and ended during it."""
    bench = Bench.make()
    session = bench.controller.session(AHEAD)
    lost = session.inference()
    lost.__enter__()
    session.expect(in_us=IN_US)
    bench.time.advance_us(1_000)
    if beside:
        bench.infer(session)
    del lost
    gc.collect()
    bench.time.advance_us(IN_US - 1_000 - LEAD_US)
    assert session.state == "RAISED"


def test_a_period_counts_on_from_a_begin_that_failed() -> None:
    """The begin after a failed begin is predicted from the failed one, although that inference never ran."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session(AHEAD)
    session.expect(every_us=IN_US)
    bench.infer(session)
    bench.time.advance_us(1_000)
    bench.simulated.fail_next(FAILED)
    with pytest.raises(VoteRejected), session.inference():
        raise AssertionError
    bench.time.advance_us(IN_US - LEAD_US - 1)
    before = session.state
    bench.time.advance_us(1)
    assert (before, session.state) == ("LOWERED", "RAISED")
