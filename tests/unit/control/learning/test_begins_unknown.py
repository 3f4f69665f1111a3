"""Hints during inferences whose begin does not count: it was not timed, or the inference was collected or failed."""

from __future__ import annotations

import gc

import pytest
from support.bench import Bench
from support.learning import relaxing

from htppower import VoteRejected
from htppower.events import Cause, Transition
from htppower.votes.native_codes import FAILED

LEAD_US = 5_000
IN_US = 500_000
AHEAD = relaxing(after_inference_us=0, raise_ahead_us=LEAD_US)


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
