"""Twelve sequences; each breaks at least one other host of the HTP."""

from __future__ import annotations

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, core_target, options
from support.hanging import WAIT_S, Hang, join, started

from htppower import Profile, State, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.controller import VoteController
from htppower.profiles.profile import Relax
from htppower.testing import VirtualTime
from htppower.votes.clock_votes import HmxV2
from htppower.votes.corners import ClkPerfMode, ExpandedCorner
from htppower.votes.native_codes import FAILED


def test_a_a_session_in_its_window_is_lowered_on_time_although_another_runs(bench: Bench) -> None:
    """A (burst) is idle in its sustain time while B (power_saver) runs: A is still lowered on time."""
    a = bench.controller.session("burst")
    b = bench.controller.session("power_saver")
    bench.infer(a)
    ended_us = bench.time.now_us
    for _ in range(10):
        bench.infer(b, 50_000)
    lowered = [call for call in bench.votes if call.power_config_id == 1][-1]
    assert a.state is State.LOWERED
    assert (lowered.time_us, core_target(lowered)) == (ended_us + BURST_SUSTAIN_US, SVS)


def test_b_destroying_one_session_leaves_another_raised(bench: Bench) -> None:
    """A (burst) is in its sustain time, B (burst) begins on another id, A is destroyed: B is still up."""
    a = bench.controller.session("burst")
    b = bench.controller.session("burst")
    bench.infer(a)
    with b.inference():
        a.close()
        assert b.state is State.RAISED
        assert bench.effective().core_target == MAX_CORNER
        assert bench.effective().core_min == MAX_CORNER
        assert bench.effective().rpc_polling_time_us == 9999


def test_c_a_timer_that_fires_during_another_sessions_run_lowers(bench: Bench) -> None:
    """The timer of A fires during a run on another id: A is lowered."""
    a = bench.controller.session("burst")
    b = bench.controller.session("burst")
    bench.infer(a)
    with b.inference():
        bench.time.advance_us(BURST_SUSTAIN_US)
        assert a.state is State.LOWERED
        assert core_target(bench.votes[-1]) == SVS
        assert bench.votes[-1].power_config_id == 1
        bench.infer(a)
        bench.time.advance_us(BURST_SUSTAIN_US)
        assert a.state is State.LOWERED


def test_d_a_failed_call_is_sent_again_by_the_next_transition(bench: Bench) -> None:
    """One setPowerConfig fails: the next transition sends everything again."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    bench.infer(session)
    failed = bench.votes[-1]
    assert session.state is State.UNKNOWN
    bench.infer(session)
    assert bench.votes[-1].configs == failed.configs
    assert bench.votes[-1].code == 0
    assert session.state is State.RAISED
    assert bench.effective().core_target == MAX_CORNER


def test_e_a_second_session_of_the_same_profile_votes_on_its_own_id(bench: Bench) -> None:
    """A second session with the same profile votes on its own ID."""
    a = bench.controller.session("burst")
    b = bench.controller.session("burst")
    bench.infer(a)
    bench.infer(b)
    assert [call.power_config_id for call in bench.votes] == [1, 2]
    assert [core_target(call) for call in bench.votes] == [MAX_CORNER, MAX_CORNER]


def test_f_polling_is_off_after_burst_gives_way_to_power_saver(bench: Bench) -> None:
    """Burst, then power_saver: polling becomes 0 at once, and in the next inference."""
    session = bench.controller.session("burst")
    bench.infer(session)
    assert bench.effective().rpc_polling_time_us == 9999
    session.use("power_saver")
    assert bench.effective().rpc_polling_time_us == 0
    with session.inference():
        assert bench.effective().rpc_polling_time_us == 0


def test_f_polling_stays_while_another_session_needs_it(bench: Bench) -> None:
    """Burst, then power_saver: polling stays exactly as long as another session asks for it."""
    session = bench.controller.session("burst")
    other = bench.controller.session("high_performance")
    with other.inference():
        bench.infer(session)
        session.use("power_saver")
        with session.inference():
            assert bench.effective().rpc_polling_time_us == 9999
    assert bench.effective().rpc_polling_time_us == 0


def test_g_nothing_is_called_on_a_dead_id(bench: Bench) -> None:
    """A destroy while a lowering is pending: no call is made on the dead ID."""
    session = bench.controller.session("burst")
    bench.infer(session)
    session.close()
    bench.recorder.clear()
    bench.time.advance_us(10 * BURST_SUSTAIN_US)
    assert bench.recorder.calls == ()
    assert bench.time.alarms == 0


@pytest.mark.parametrize("profile", ["burst", "high_performance"])
def test_h_an_exception_ends_the_inference_and_is_passed_on(bench: Bench, profile: str) -> None:
    """An exception in an inference: the count is correct, the votes are lowered, and the exception is passed on."""
    session = bench.controller.session(profile)
    with pytest.raises(ZeroDivisionError), session.inference():
        _ = 1 // 0
    assert session.in_flight == 0
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED


def test_i_after_a_restart_of_the_dsp_all_votes_are_sent_again() -> None:
    """A restart of the DSP during an inference: all votes, HMX too, are sent again before the next inference."""
    bench = Bench.make()
    a = bench.controller.session(_with_explicit_hmx())
    b = bench.controller.session("power_saver")
    with a.inference():
        before = bench.effective()
        bench.simulated.restart_subsystem()
        assert bench.effective().core_target != MAX_CORNER
        with b.inference():
            again = [call for call in bench.votes if call.power_config_id == 1][-1]
            assert options(again)[:2] == ["DCVS_V3", "HMX_V2"]
            assert (a.state, b.state) == (State.RAISED, State.RAISED)
            after = bench.effective()
            assert (after.core_target, after.hmx_target) == (MAX_CORNER, before.hmx_target)
            assert after.rpc_polling_time_us == 9999
    bench.controller.close()


def test_i_the_call_that_meets_the_restart_is_made_again() -> None:
    """A restart of the DSP before a raise: the inference begins with its votes in force."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem(forget_ids=True)
    with session.inference():
        assert session.state is State.RAISED
        assert bench.effective().core_target == MAX_CORNER
    bench.controller.close()
    bench.recorder.assert_nothing_left()


def test_j_an_inference_begins_only_after_its_raise_has_returned() -> None:
    """In several threads, too, an inference never begins before its raising call has returned."""
    hang = Hang()
    simulated = SimulatedHtp(arch=75, sleep=hang)
    controller = VoteController(RecordingBackend(simulated), time=VirtualTime(), handle_sigterm=False)
    session = controller.session("burst")
    simulated.delay_calls(1, "setPowerConfig")
    clocks: list[int] = []

    def infer() -> None:
        with session.inference():
            clocks.append(simulated.effective().core_target)

    threads = started(*[infer] * 4)
    assert hang.begun.wait(WAIT_S)
    assert clocks == []
    hang.let_go.set()
    join(*threads)
    assert clocks == [MAX_CORNER] * 4
    controller.close()


def test_k_initialising_a_graph_does_not_lower_a_running_inference(bench: Bench) -> None:
    """A graph is initialised during an inference on the same ID: the inference is not lowered."""
    session = bench.controller.session("burst")
    with session.inference():
        with session.init():
            bench.time.advance_us(1000)
        assert session.state is State.RAISED
        assert bench.effective().core_target == MAX_CORNER
        assert len(bench.votes) == 1
    bench.infer(session)
    assert [options(call) for call in bench.sets[-2:]] == [
        ["DCVS_V3", "HMX_V2"],
        ["RPC_CONTROL_LATENCY", "RPC_POLLING_TIME"],
    ]


def test_l_a_sleep_disable_set_by_the_profile_is_cleared_on_lowering(bench: Bench) -> None:
    """A sleepDisable set by burst is cleared by the lowering."""
    session = bench.controller.session(_with_sleep_disable())
    with session.inference():
        assert bench.effective().sleep_disable
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED
    assert not bench.effective().sleep_disable


def test_l_a_sleep_disable_is_cleared_by_a_profile_that_does_not_mention_it(bench: Bench) -> None:
    """A sleepDisable is cleared by a change to a profile that leaves it unset."""
    session = bench.controller.session(_with_sleep_disable())
    with session.inference():
        session.use("balanced")
        assert not bench.effective().sleep_disable


def _with_explicit_hmx() -> Profile:
    burst = load_profile("burst")
    hmx = HmxV2(ExpandedCorner.TUR, ExpandedCorner.TUR, ExpandedCorner.TUR, ClkPerfMode.HIGH)
    return _evolve(burst, hmx_v2=hmx)


def _with_sleep_disable() -> Profile:
    burst = load_profile("burst")
    assert burst.votes.dcvs_v3 is not None
    assert burst.relax is not None
    assert burst.relax.to.votes.dcvs_v3 is not None
    lowered = attrs.evolve(
        burst.relax.to.votes, dcvs_v3=attrs.evolve(burst.relax.to.votes.dcvs_v3, sleep_disable=False)
    )
    relax = Relax(attrs.evolve(burst.relax.to, votes=lowered), 0, BURST_SUSTAIN_US)
    sleepless = attrs.evolve(burst.votes, dcvs_v3=attrs.evolve(burst.votes.dcvs_v3, sleep_disable=True))
    return attrs.evolve(burst, votes=sleepless, relax=relax)


def _evolve(profile: Profile, **votes: object) -> Profile:
    return attrs.evolve(profile, votes=attrs.evolve(profile.votes, **votes))  # type: ignore[arg-type]
