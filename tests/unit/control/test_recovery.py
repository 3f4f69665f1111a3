"""Failing calls: what is sent again, when, and what an inference pays for it."""

from __future__ import annotations

import gc
import itertools
import weakref

import pytest
from bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, core_target, options

from htppower import State, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.events import Cause, Transition
from htppower.votes.native_codes import (
    FAILED,
    INVALID_INPUT,
    SYSTEM_COMMUNICATION,
    SYSTEM_COMMUNICATION_FATAL,
    TRANSPORT,
)

SECOND_US = 1_000_000


def _losses(bench: Bench) -> list[int]:
    return [event.session for event in bench.events if isinstance(event, Transition) and event.dest is State.UNKNOWN]


def test_a_failed_raise_never_fails_the_inference(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """By default the inference runs without its votes; an event, a log record and the status say so."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(TRANSPORT)
    bench.infer(session)
    assert _losses(bench) == [1]
    assert "13003" in caplog.text
    error = bench.controller.status().sessions[0].error
    assert error is not None
    assert (error.code, error.name) == (TRANSPORT, "QNN_HTP_PERF_INFRASTRUCTURE_ERROR_TRANSPORT")


def test_a_failed_lowering_is_retried_without_an_inference(bench: Bench) -> None:
    """A lowering that fails may have left votes up: it is tried again after 1 s, 2 s, ... until it succeeds."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(FAILED, times=3)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.UNKNOWN
    bench.time.advance_us(SECOND_US + 2 * SECOND_US + 4 * SECOND_US)
    assert session.state is State.LOWERED
    assert bench.effective().core_target == SVS
    first = bench.sets[1].time_us
    assert [call.time_us - first for call in bench.sets[1:]] == [0, SECOND_US, 3 * SECOND_US, 7 * SECOND_US]


def test_part_of_a_failed_list_may_be_in_force_and_all_of_it_is_sent_again(bench: Bench) -> None:
    """The library is not atomic: after [good, bad] every option of the failed call is sent again."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, applied=2)
    with session.inference():
        assert bench.effective().core_target == MAX_CORNER
        assert session.state is State.UNKNOWN
        with session.inference():
            assert options(bench.sets[-1]) == options(bench.sets[0])


def test_an_idle_session_that_could_not_raise_is_lowered(bench: Bench) -> None:
    """A raise that failed half way, without a later inference, is lowered when its window is over."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, applied=1)
    bench.infer(session)
    assert bench.effective().core_target == MAX_CORNER
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED
    assert bench.effective().core_target == SVS


def test_a_restart_is_voted_again_for_every_session_at_once(bench: Bench) -> None:
    """1007 on one session's call: raised sessions are raised again and lowered ones lowered, at the same time."""
    raised = bench.controller.session("burst")
    lowered = bench.controller.session("balanced")
    unvoted = bench.controller.session("balanced")
    bench.infer(lowered)
    with raised.inference():
        bench.simulated.restart_subsystem()
        bench.recorder.clear()
        with lowered.inference():
            now_us = bench.time.now_us
            assert {call.time_us for call in bench.sets} == {now_us}
            assert sorted(str(call.power_config_id) for call in bench.sets) == ["1", "2", "2"]
            assert (raised.state, lowered.state, unvoted.state) == (State.RAISED, State.RAISED, State.UNVOTED)
    causes = {event.cause for event in bench.events if isinstance(event, Transition) and event.session == 1}
    assert Cause.LINK_LOST in causes


def test_an_id_that_the_library_no_longer_knows_is_created_anew(bench: Bench) -> None:
    """After a restart that forgets the ids, sessions get new ones and their votes; nothing is set on the old."""
    a = bench.controller.session("burst")
    b = bench.controller.session("burst")
    with a.inference():
        bench.simulated.restart_subsystem(forget_ids=True)
        with b.inference():
            assert (a.state, b.state) == (State.RAISED, State.RAISED)
            assert bench.simulated.power_config_ids == (3, 4)
            assert {each for status in bench.controller.status().sessions for each in status.power_config_ids} == {3, 4}


def test_a_session_opened_before_the_restart_and_raised_after_gets_a_new_id(bench: Bench) -> None:
    """An id that was never voted on is replaced, too, when the library no longer knows it."""
    early = bench.controller.session("burst")
    other = bench.controller.session("burst")
    bench.simulated.restart_subsystem(forget_ids=True)
    bench.infer(other)
    with early.inference():
        assert early.state is State.RAISED


def test_invalid_input_without_a_restart_is_a_failure(bench: Bench) -> None:
    """13001 out of the blue does not replace the id; the session is UNKNOWN, and recovers at the next raise."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(INVALID_INPUT)
    bench.infer(session)
    assert session.state is State.UNKNOWN
    bench.infer(session)
    assert session.state is State.RAISED
    assert bench.simulated.power_config_ids == (1,)


def test_a_restart_during_the_recovery_is_recovered_from(bench: Bench) -> None:
    """A second 1007 while sessions are being voted again starts over, and all of them end up right."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    phases = [session.inference() for session in sessions]
    for phase in phases:
        phase.__enter__()
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, nth=1)
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, nth=3)
    sessions[0].use("balanced")
    assert {session.state for session in sessions} == {State.RAISED}
    assert bench.effective().core_target == MAX_CORNER


def test_a_subsystem_that_keeps_restarting_is_left_to_the_back_off(bench: Bench) -> None:
    """1007 without end does not loop: a bounded number of calls, then the back-off."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, times=100)
    bench.infer(session)
    assert len(bench.sets) < 10
    assert session.state is State.UNKNOWN


def test_a_dead_dsp_costs_at_most_one_failed_call_a_second() -> None:
    """1011: inferences go on without votes, and no two failed calls are less than a second apart."""
    bench = Bench.make()
    sessions = [bench.controller.session(name) for name in ("burst", "balanced", "power_saver")]
    bench.simulated.restart_subsystem(fatal=True)
    for _ in range(1000):
        for session in sessions:
            bench.infer(session, 10_000)
    times = [call.time_us for call in bench.recorder.calls if call.code == SYSTEM_COMMUNICATION_FATAL]
    assert len(times) >= 5
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= SECOND_US
    bench.simulated.restart_subsystem(fatal=False)
    bench.time.advance_us(20 * SECOND_US)
    assert {session.state for session in sessions} <= {State.LOWERED, State.UNVOTED}
    bench.controller.close()


def test_an_inference_that_began_on_a_dead_dsp_is_raised_when_it_is_back(bench: Bench) -> None:
    """A session that never voted before, and began while the DSP was left alone, is raised by the retry."""
    first = bench.controller.session("balanced")
    second = bench.controller.session("burst")
    bench.simulated.restart_subsystem(fatal=True)
    bench.infer(first)
    with second.inference():
        assert second.state is State.UNVOTED
        bench.simulated.restart_subsystem(fatal=False)
        bench.time.advance_us(2 * SECOND_US)
        assert second.state is State.RAISED
        assert bench.effective().core_target == MAX_CORNER


def test_a_dsp_that_comes_back_is_voted_for_again_within_the_back_off(bench: Bench) -> None:
    """After 1011 a running inference gets its votes back by the retry, without waiting for the next one."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.restart_subsystem(fatal=True)
        session.use("sustained_high_performance")
        assert session.state is State.UNKNOWN
        bench.simulated.restart_subsystem(fatal=False)
        bench.time.advance_us(2 * SECOND_US)
        assert session.state is State.RAISED
        assert bench.effective().core_target == 128


def test_a_session_opens_while_the_dsp_is_dead() -> None:
    """Opening a session does not fail on a dead DSP; its id is created when the DSP is back."""
    bench = Bench.make()
    bench.simulated.restart_subsystem(fatal=True)
    session = bench.controller.session("burst")
    assert session.state is State.UNKNOWN
    bench.infer(session)
    bench.simulated.restart_subsystem(fatal=False)
    bench.time.advance_us(10 * SECOND_US)
    with session.inference():
        assert bench.effective().core_target == MAX_CORNER
    bench.controller.close()
    bench.recorder.assert_nothing_left()


def test_an_id_that_can_not_be_destroyed_is_tried_again_whoever_has_given_it_up() -> None:
    """Also one that was replaced long after the restart, when every vote was in force again."""
    bench = Bench.make()
    first, later = bench.controller.session("burst"), bench.controller.session("balanced")
    bench.simulated.restart_subsystem(forget_ids=True)
    bench.infer(first)
    bench.time.advance_us(10 * SECOND_US)
    bench.simulated.fail_next(FAILED, function="destroyPowerConfigId")
    bench.infer(later)
    assert bench.controller.status().orphans
    bench.time.advance_us(SECOND_US)
    assert bench.controller.status().orphans == ()
    bench.controller.close()


def test_closing_on_a_dead_dsp_tries_every_step() -> None:
    """Closing a raised session on a dead DSP tries to lower and to destroy, raises nothing, and is done."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.restart_subsystem(fatal=True)
    bench.recorder.clear()
    session.close()
    assert [call.function for call in bench.recorder.calls][-1] == "destroyPowerConfigId"
    assert "setPowerConfig" in [call.function for call in bench.recorder.calls]
    assert session.state is State.DESTROYED
    bench.controller.close()


def test_with_on_error_raise_the_inference_does_not_begin() -> None:
    """on_error="raise": the error is raised where the inference would begin, and nothing is left in flight or up."""
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
    """on_error="raise": a lowering that fails raises on leaving; the inference's own exception comes first."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("high_performance")
    bench.simulated.fail_next(FAILED, nth=2)
    with pytest.raises(VoteRejected):
        bench.infer(session)
    bench.simulated.fail_next(FAILED, nth=2)
    with pytest.raises(ZeroDivisionError), session.inference():
        _ = 1 // 0
    bench.controller.close()


def test_with_on_error_raise_closing_tries_every_step_and_raises_the_first() -> None:
    """on_error="raise": close() raises what failed first, after every step of every session was tried."""
    bench = Bench.make(on_error="raise")
    sessions = [bench.controller.session("burst") for _ in range(2)]
    for session in sessions:
        bench.infer(session)
    bench.simulated.fail_next(FAILED)
    with pytest.raises(VoteRejected, match="13006"):
        bench.controller.close()
    assert bench.simulated.power_config_ids == ()


def test_with_on_error_raise_a_dead_dsp_raises_without_a_call() -> None:
    """on_error="raise": inside the back-off a beginning inference raises the known error and makes no call."""
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
    """on_error="raise": a first inference that begins while the DSP is left alone does not begin without votes."""
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
    """on_error="raise": a 1007 after which the votes are in force again is no error of the inference."""
    bench = Bench.make(SimulatedHtp(arch=75), on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem()
    with session.inference():
        assert session.state is State.RAISED
    bench.controller.close()


def test_an_error_that_is_kept_keeps_nothing_of_the_inference_that_met_it(bench: Bench) -> None:
    """A vote fails in an inference; status shows the error, and the caller's input is freed nevertheless."""

    class Input:
        """What a model is given."""

    def infer() -> weakref.ref[Input]:
        given = Input()
        with session.inference():
            return weakref.ref(given)

    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    given = infer()
    gc.collect()
    assert bench.controller.status().sessions[0].last_error is not None
    assert given() is None
