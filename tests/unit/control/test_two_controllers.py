"""Two controllers on one backend: the settings of the process follow the sessions of both, and both learn of a loss."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
from support.bench import MAX_CORNER, Bench, voting
from support.hanging import WAIT_S, HangingHtp, join, started, until
from support.inside import is_ended
from support.second_controller import answer_the_host, polling_us, second_on, settings_sent

from htppower import State, VoteController
from htppower.backends import SimulatedHtp
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from htppower import Session

SECOND_US = 1_000_000


@pytest.mark.parametrize("end", ["lowered", "session closed", "controller closed"])
def test_polling_survives_the_end_of_one(bench: Bench, other: VoteController, end: str) -> None:
    """Polling stays while a session of either controller wishes for it; the last such session turns it off."""
    mine, theirs = bench.controller.session("burst"), other.session("burst")
    with theirs.inference():
        with mine.inference():
            pass
        if end == "lowered":
            bench.time.advance_us(SECOND_US)
        elif end == "session closed":
            mine.close()
        else:
            bench.controller.close()
        assert polling_us(bench) == 9999
    bench.time.advance_us(SECOND_US)
    assert polling_us(bench) == 0
    assert [sent for _, sent in settings_sent(bench)] == [9999, 0]


def test_the_largest_polling_and_the_smallest_latency_of_both_are_in_force(bench: Bench, other: VoteController) -> None:
    """One value of each setting is sent for both controllers, and a new one when a controller is closed."""
    patient = voting(rpc_polling_time_us=5000, rpc_control_latency_us=50)
    mine, theirs = bench.controller.session("burst"), other.session(patient)
    with mine.inference():
        with theirs.inference():
            assert (polling_us(bench), bench.effective().rpc_control_latency_us) == (9999, 50)
            mine.use("balanced")
            assert polling_us(bench) == 5000
        mine.use("burst")
        bench.time.advance_us(SECOND_US)
        assert (polling_us(bench), bench.effective().rpc_control_latency_us) == (9999, 100)
    assert bench.controller.status().process == other.status().process


def test_what_the_other_has_in_force_is_not_sent_again(bench: Bench, other: VoteController) -> None:
    """A raise by one controller does not send settings that the other has in force."""
    mine, theirs = bench.controller.session("burst"), other.session("burst")
    with mine.inference():
        assert len(settings_sent(bench)) == 1
        with theirs.inference():
            assert len(settings_sent(bench)) == 1


def test_closing_one_settles_what_remains(bench: Bench) -> None:
    """After the close, the settings are those that the other controller's sessions wish for."""
    other = second_on(bench)
    mine, theirs = bench.controller.session(voting(rpc_polling_time_us=5000)), other.session("burst")
    with mine.inference():
        with theirs.inference():
            pass
        assert (other.status().sharing, bench.controller.status().sharing) == (1, 1)
        other.close()
        assert (other.status().sharing, bench.controller.status().sharing) == (0, 0)
        assert (theirs.state, polling_us(bench)) == (State.DESTROYED, 5000)


def test_an_id_that_one_could_not_destroy_is_destroyed_by_the_back_off_of_both(bench: Bench) -> None:
    """An id that can't be destroyed keeps neither controller open: the back-off of both destroys it."""
    other = second_on(bench)
    theirs = other.session("burst")
    bench.simulated.fail_next(FAILED, "destroyPowerConfigId", times=2)
    theirs.close()
    assert bench.controller.status().orphans == other.status().orphans == (1,)
    other.close()
    assert is_ended(other)
    bench.time.advance_us(2 * SECOND_US)
    assert (bench.controller.status().orphans, bench.simulated.power_config_ids) == ((), ())


def test_two_with_other_times_are_refused(bench: Bench) -> None:
    """Controllers on one backend share the back-off, so they need one time; the message says what to do."""
    with pytest.raises(ValueError, match="another time: give both the same"):
        VoteController(bench.recorder, time=VirtualTime(), handle_sigterm=False)
    assert bench.controller.status().sharing == 0


def test_a_backend_may_be_used_again_with_another_time() -> None:
    """Once every controller on a backend is closed, the next one may use another time."""
    htp = SimulatedHtp(arch=75)
    for _ in range(2):
        controller = VoteController(htp, time=VirtualTime(), handle_sigterm=False)
        with controller, controller.session("burst").inference():
            assert htp.effective().rpc_polling_time_us == 9999
        assert htp.effective().rpc_polling_time_us == 0


def test_no_call_of_one_overlaps_a_call_of_the_other() -> None:
    """A raise waits for the other controller's hanging call; an inference within its sustain time does not."""
    htp = HangingHtp()
    first = VoteController(htp, handle_sigterm=False, heartbeat_us=0)
    second = VoteController(htp, handle_sigterm=False, heartbeat_us=0)
    hanging, waiting, up = first.session("burst"), second.session("burst"), second.session("burst")
    with up.inference():
        hang = htp.hang_next("setPowerConfig", hanging.power_config_ids[0])
        threads = started(functools.partial(_infer, hanging))
        assert hang.begun.wait(WAIT_S)
        threads += started(functools.partial(_infer, waiting))
        until(lambda: waiting.in_flight)
        with up.inference():
            assert (waiting.state, second.status().sessions[1].in_flight) == (State.UNVOTED, 2)
        hang.let_go.set()
        join(*threads)
    assert (hanging.state, waiting.state) == (State.RAISED, State.RAISED)
    second.close()
    first.close()
    assert htp.power_config_ids == ()


def _infer(session: Session) -> None:
    with session.inference():
        pass


@pytest.mark.parametrize("code", [SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL])
def test_a_lost_link_that_one_meets_is_noticed_by_the_other(bench: Bench, other: VoteController, code: int) -> None:
    """Only one controller's call notices the loss; the other's votes are sent again without a failing call."""
    mine, theirs = bench.controller.session("balanced"), other.session("burst")
    with theirs.inference():
        bench.simulated.restart_subsystem(fatal=code == SYSTEM_COMMUNICATION_FATAL)
        with mine.inference():
            bench.time.advance_us(1)
            if code == SYSTEM_COMMUNICATION_FATAL:
                assert theirs.state is State.UNKNOWN
                bench.simulated.restart_subsystem()
                bench.time.advance_us(2 * SECOND_US)
            assert (mine.state, theirs.state) == (State.RAISED, State.RAISED)
            assert bench.effective().core_target == MAX_CORNER
            assert polling_us(bench) == 9999


def test_a_dead_dsp_is_left_alone_by_both(bench: Bench, other: VoteController) -> None:
    """After a 1011 to one controller, inferences of both make no call until the back-off is over."""
    mine, theirs = bench.controller.session("burst"), other.session("burst")
    bench.simulated.restart_subsystem(fatal=True)
    with mine.inference():
        pass
    before = len(bench.recorder.calls)
    with theirs.inference():
        assert len(bench.recorder.calls) == before
        bench.simulated.restart_subsystem()
        bench.time.advance_us(10 * SECOND_US)
        assert theirs.state is State.RAISED


def test_a_host_that_tells_both_of_a_lost_link_tells_of_one(bench: Bench, other: VoteController) -> None:
    """A report to one controller counts for both; the same report to the other makes no call."""
    mine, theirs = bench.controller.session("burst"), other.session("burst")
    with mine.inference(), theirs.inference():
        bench.simulated.restart_subsystem()
        answer_the_host(bench)
        bench.controller.link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(1)
        assert (mine.state, theirs.state, polling_us(bench)) == (State.RAISED, State.RAISED, 9999)
        before = len(bench.recorder.calls)
        other.link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(1)
        assert len(bench.recorder.calls) == before


def test_a_controller_without_sessions_makes_no_call_for_the_loss_of_another(
    bench: Bench, other: VoteController
) -> None:
    """A controller without sessions makes no call for another's loss, and leaves no alarm armed."""
    mine = bench.controller.session("burst")
    with mine.inference():
        pass
    bench.simulated.restart_subsystem()
    bench.recorder.clear()
    mine.use("balanced")
    bench.time.advance_us(10 * SECOND_US)
    assert {call.power_config_id for call in bench.recorder.calls} == set(mine.power_config_ids.values())
    assert other.status().sessions == ()
    assert bench.time.alarms == 0


def test_a_host_may_tell_one_that_has_no_sessions(bench: Bench, other: VoteController) -> None:
    """The report counts for the other controller, too, and leaves no alarm armed."""
    mine = bench.controller.session("burst")
    with mine.inference():
        bench.simulated.restart_subsystem()
        answer_the_host(bench)
        other.link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(1)
        assert (mine.state, bench.effective().core_target, polling_us(bench)) == (State.RAISED, MAX_CORNER, 9999)
    bench.time.advance_us(10 * SECOND_US)
    assert bench.time.alarms == 0
