"""What waits for the back-off: a lowering that failed, a DSP that is dead, an id that could not be destroyed."""

from __future__ import annotations

import itertools
import threading

import attrs
import pytest
from bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, voting
from hanging import WAIT_S, HangingHtp
from rig import Rig
from second_controller import polling_us

from htppower import State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL, TRANSPORT
from htppower.votes.vote_set import VoteSet

SECOND_US = 1_000_000
# Long enough for nothing: who waits for a call that hangs does so until it is let go.
MOMENT_S = 0.05


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


def test_a_retry_is_taken_back_when_nothing_is_left_to_retry() -> None:
    """The back-off's alarm goes when the next transition has put things right, so that a later failure starts anew."""
    rig = Rig()
    session = rig.controller.session("high_performance")
    rig.backend.next_raises(OSError("mine"))
    with session.inference():
        assert rig.time.alarms == 1
    assert session.state is State.LOWERED
    assert rig.time.alarms == 0
    rig.controller.close()


def test_the_back_off_sees_to_sessions_before_it_destroys_ids_that_are_left() -> None:
    """The call that destroys one may hang; a session in use that lacks its votes does not wait for that."""
    bench = Bench.make()
    closed, session = bench.controller.session("burst"), bench.controller.session("burst")
    bench.simulated.fail_next(TRANSPORT, "destroyPowerConfigId")
    closed.close()
    bench.simulated.fail_next(TRANSPORT)
    with session.inference():
        bench.recorder.clear()
        bench.time.advance_us(SECOND_US)
        assert [call.function for call in bench.recorder.calls[:2]] == ["setPowerConfig", "destroyPowerConfigId"]
    bench.controller.close()


@pytest.mark.parametrize("asks", [True, False])
def test_a_session_that_fails_for_good_leaves_no_setting_of_another_in_force(
    monkeypatch: pytest.MonkeyPatch, *, asks: bool
) -> None:
    """Polling that a session could not give back as it closed is taken back once the longest delay is over."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2))
    polls, fails = bench.controller.session("burst"), bench.controller.session("balanced", core_ids=(1,))
    if not asks:
        silent = voting(rpc_polling_time_us=None, rpc_control_latency_us=None)
        assert silent.relax is not None
        state = attrs.evolve(silent.relax.to, votes=VoteSet(dcvs_v3=silent.relax.to.votes.dcvs_v3))
        fails.use(attrs.evolve(silent, relax=attrs.evolve(silent.relax, to=state, after_deinit_to=state)))
    answer, refused = bench.simulated.set_power_config, fails.power_config_ids[1]

    def refuse(power_config_id: int, votes: VoteSet) -> None:
        if power_config_id == refused:
            raise VoteRejected(FAILED, votes, power_config_id=power_config_id)
        answer(power_config_id, votes)

    bench.infer(polls)
    monkeypatch.setattr(bench.simulated, "set_power_config", refuse)
    bench.infer(fails)
    bench.simulated.fail_next(FAILED, times=2)
    polls.close()
    assert (polling_us(bench), fails.state) == (9999, State.UNKNOWN)
    bench.time.advance_us(20 * SECOND_US)
    assert (polling_us(bench), fails.state) == (0, State.UNKNOWN)
    bench.controller.close()


def test_an_id_that_is_made_to_give_settings_back_is_no_orphan(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is destroyed as soon as these are cast: nobody need hear of an id that is left."""
    answer, shown = bench.simulated.set_power_config, list[tuple[int, ...]]()

    def answer_and_look(power_config_id: int, votes: VoteSet) -> None:
        answer(power_config_id, votes)
        shown.append(bench.controller.status().orphans)

    polls = bench.controller.session("burst")
    bench.infer(polls)
    bench.simulated.fail_next(FAILED, times=2)
    polls.close()
    monkeypatch.setattr(bench.simulated, "set_power_config", answer_and_look)
    bench.time.advance_us(SECOND_US)
    assert (polling_us(bench), shown) == (0, [()])
    assert bench.simulated.power_config_ids == ()


def test_a_close_waits_for_the_back_off_that_is_destroying_an_id() -> None:
    """Where that fails, what is closed has destroyed the id nevertheless when it says that nothing is left."""
    time, backend = VirtualTime(), HangingHtp()
    controller = VoteController(backend, time=time, handle_sigterm=False, heartbeat_us=0)
    session = controller.session("burst")
    (power_config_id,) = session.power_config_ids.values()
    backend.fail_next(FAILED, function="destroyPowerConfigId", times=2)
    session.close()
    hang = backend.hang_next("destroyPowerConfigId", power_config_id)
    back_off = threading.Thread(target=time.advance_us, args=(SECOND_US,), daemon=True)
    closing = threading.Thread(target=controller.close, daemon=True)
    back_off.start()
    assert hang.begun.wait(WAIT_S)
    assert controller.status().orphans == (power_config_id,)
    closing.start()
    closing.join(MOMENT_S)
    hang.let_go.set()
    for thread in (back_off, closing):
        thread.join(WAIT_S)
        assert not thread.is_alive()
    assert backend.power_config_ids == ()
    assert controller._ended
