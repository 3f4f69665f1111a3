"""A raise ahead was right if an inference began in time, whatever came during that inference."""

from __future__ import annotations

import gc

import pytest
from support.bench import Bench
from support.inside import gate_of
from support.learning import relaxing

from htppower.control.gate.counts import count_begun

LEAD_US = 5_000


@pytest.mark.parametrize("within", ["init", "deinit", "use", "nothing"])
def test_an_inference_in_time_makes_a_raise_ahead_right_whatever_comes_within_it(within: str) -> None:
    """INIT, DE-INIT or another profile during the inference changes nothing: raises ahead continue and save no call."""
    bench = Bench.make()
    profile = relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=LEAD_US)
    session = bench.controller.session(profile)
    for _ in range(6):
        bench.infer(session)
        session.expect(in_us=50_000)
        bench.time.advance_us(50_000)
        assert session.state == "RAISED"
        with session.inference():
            if within in ("init", "deinit"):
                with getattr(session, within)():
                    bench.time.advance_us(100)
            elif within == "use":
                session.use("balanced")
            assert bench.controller.status().sessions[0].calls_saved == 0
        assert bench.controller.status().sessions[0].calls_saved == 0
        session.use(profile)
        bench.time.advance_us(1_000_000)


def test_an_inference_that_waits_as_init_begins_hides_no_saved_call() -> None:
    """If an inference waits while INIT begins, ``begun`` still counts the others as before."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=LEAD_US))
    gate = gate_of(session)
    assert gate.learning is not None
    bench.infer(session)
    session.expect(in_us=50_000)
    bench.time.advance_us(50_000)
    token = gate.token()
    token.begun_ns = gate.time.now_ns()
    token.waited = True
    seen = [count_begun(gate)]
    with session.init():
        gate.learning.gaps.end_gap()
        seen.append(count_begun(gate))
        bench.infer(session)
        seen.append(count_begun(gate))
        gate.end(token)
    seen.append(count_begun(gate))
    assert seen[-2:] == [1, 1]
    assert seen == sorted(seen)


def test_an_inference_in_time_that_is_dropped_makes_a_raise_ahead_right() -> None:
    """An inference whose ticket was dropped has begun in time, so later inferences find their votes up, too."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    for _ in range(4):
        bench.infer(session)
        session.expect(in_us=50_000)
        bench.time.advance_us(50_000)
        assert session.state == "RAISED"
        ticket = session.begin()
        bench.time.advance_us(10)
        del ticket
        gc.collect()
        bench.time.advance_us(1_000_000)
        assert session.state == "LOWERED"


@pytest.mark.parametrize("in_us", [19_000, 22_000])
def test_votes_that_stay_up_for_a_predicted_begin_save_calls(in_us: int) -> None:
    """If the predicted begin comes soon after the sustain time, the votes simply stay up, and no call is made."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=20_000, raise_ahead_us=LEAD_US))
    for number in range(4):
        with session.inference():
            assert bench.controller.status().sessions[0].calls_saved == 2 * number
        session.expect(in_us=in_us)
        bench.time.advance_us(in_us)
    assert (len(bench.casts), bench.controller.status().sessions[0].calls_saved) == (1, 6)


def test_votes_that_stay_up_for_a_second_prediction_were_raised_for_the_first() -> None:
    """If the host corrects its hint after the raise, the votes still needed a call, so no call counts as saved."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    bench.infer(session)
    session.expect(in_us=50_000)
    bench.time.advance_us(50_000)
    session.expect(in_us=7_000)
    bench.time.advance_us(7_000)
    bench.infer(session)
    assert (len(bench.casts), bench.controller.status().sessions[0].calls_saved) == (4, 0)


def test_a_prediction_that_is_corrected_and_right_is_paid_back_whole() -> None:
    """If the host corrects each hint after the raise and is right, votes are raised ahead of every begin."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    for _ in range(20):
        bench.infer(session)
        session.expect(in_us=50_000)
        bench.time.advance_us(50_000)
        session.expect(in_us=7_000)
        bench.time.advance_us(7_000)
        assert session.state == "RAISED"


def test_a_host_that_corrects_itself_for_ever_keeps_votes_up_for_as_long_as_the_allowance_pays() -> None:
    """Without any inference, a host that corrects its hint again and again keeps the votes up for two raises only."""
    bench = Bench.make()
    session = bench.controller.session(relaxing(after_inference_us=0, raise_ahead_us=LEAD_US))
    bench.infer(session)
    up_us = 0
    for _ in range(100):
        session.expect(in_us=7_000)
        bench.time.advance_us(7_000)
        up_us += 7_000 * (session.state == "RAISED")
    assert 0 < up_us <= 2 * 2 * LEAD_US
