"""``on_error="raise"``: which call raises a failed vote, and that nothing is in flight or up after it."""

from __future__ import annotations

import pytest
from support.bench import MAX_CORNER, SVS, Bench, core_target

from htppower import State, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.votes.native_codes import FAILED

SECOND_US = 1_000_000


def test_with_on_error_raise_the_inference_does_not_begin() -> None:
    """With ``on_error="raise"`` a failed raise raises at the begin, and nothing is in flight or up."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, applied=1)
    with pytest.raises(VoteRejected) as caught, session.inference():
        pytest.fail("the inference began")
    assert caught.value.votes is not None
    assert core_target(bench.sets[0]) == MAX_CORNER
    assert session.in_flight == 0
    bench.time.advance_us(10 * SECOND_US)
    assert bench.effective().core_target == SVS
    bench.controller.close()


def test_with_on_error_raise_a_failed_lowering_raises_where_the_inference_ends() -> None:
    """A failed lowering raises at the end of the inference; an exception of the inference itself has priority."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("high_performance")
    bench.simulated.fail_next(FAILED, nth=3)
    with pytest.raises(VoteRejected):
        bench.infer(session)
    bench.simulated.fail_next(FAILED, nth=2)
    with pytest.raises(ZeroDivisionError), session.inference():
        _ = 1 // 0
    bench.controller.close()


def test_with_on_error_raise_closing_tries_every_step_and_raises_the_first() -> None:
    """``close`` tries every step of every session, and then raises the first failure."""
    bench = Bench.make(on_error="raise")
    sessions = [bench.controller.session("burst") for _ in range(2)]
    for session in sessions:
        bench.infer(session)
    bench.simulated.fail_next(FAILED)
    with pytest.raises(VoteRejected, match="13006"):
        bench.controller.close()
    assert bench.simulated.power_config_ids == ()


def test_with_on_error_raise_a_dead_dsp_raises_without_a_call() -> None:
    """During the back-off, a beginning inference raises the known error and makes no call."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem(fatal=True)
    with pytest.raises(VoteRejected), session.inference():
        pass
    bench.recorder.clear()
    with pytest.raises(VoteRejected, match="1011"), session.inference():
        pass
    assert bench.recorder.calls == ()
    bench.simulated.restart_subsystem(fatal=False)
    bench.controller.close()


def test_with_on_error_raise_a_session_that_never_voted_raises_on_a_dead_dsp() -> None:
    """During the back-off, the first inference of a session raises the error of the dead link and has not begun."""
    bench = Bench.make(on_error="raise")
    first, second = (bench.controller.session("burst") for _ in range(2))
    bench.simulated.restart_subsystem(fatal=True)
    for session in (first, second):
        with pytest.raises(VoteRejected, match="1011"), session.inference():
            pytest.fail("the inference began")
    assert second.in_flight == 0
    bench.simulated.restart_subsystem(fatal=False)
    bench.controller.close()


def test_a_restart_that_is_recovered_from_raises_nothing() -> None:
    """If the votes are in force again after a 1007, no error is raised."""
    bench = Bench.make(SimulatedHtp(arch=75), on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem()
    with session.inference():
        assert session.state is State.RAISED
    bench.controller.close()
