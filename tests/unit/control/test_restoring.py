"""Restoring at the edges: ids that are gone, links lost while settings are given back, closing while closing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench import BURST_SUSTAIN_US, MAX_CORNER
from rig import Rig

from htppower import State, VoteController
from htppower.backends import SimulatedHtp
from htppower.events import Event, Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION, TRANSPORT, UNSUPPORTED

if TYPE_CHECKING:
    from bench import Bench

SECOND_US = 1_000_000


def test_settings_are_not_given_back_through_an_id_that_is_gone(bench: Bench) -> None:
    """After a restart that forgot the ids, a session that never voted lends its stale id to no give-back."""
    bench.controller.session("burst")
    other = bench.controller.session("burst")
    bench.simulated.restart_subsystem(forget_ids=True)
    bench.infer(other)
    bench.simulated.fail_next(TRANSPORT, times=2)
    other.close()
    bench.time.advance_us(60 * SECOND_US)
    assert bench.effective().rpc_polling_time_us == 0
    assert bench.time.alarms == 0


def test_a_lost_link_told_by_a_give_back_is_taken_in(bench: Bench) -> None:
    """1007 in answer to a give-back during a retry votes every session again, a running inference's, too."""
    running = bench.controller.session("balanced")
    closing = bench.controller.session("burst")
    with running.inference():
        bench.infer(closing)
        bench.simulated.fail_next(FAILED, times=2)
        closing.close()
        bench.simulated.restart_subsystem()
        bench.time.advance_us(10 * SECOND_US)
        assert running.state is State.RAISED
        assert bench.effective().core_target == 112
    assert bench.time.alarms == 0


@pytest.mark.parametrize("verb", ["set", "destroy"])
def test_ctrl_c_in_a_change_to_system_settings_is_seen_to(verb: str) -> None:
    """KeyboardInterrupt while votes are being released: they are released by the back-off."""
    rig = Rig()
    session = rig.controller.session("burst")
    with session.inference():
        pass
    rig.backend.next_raises(KeyboardInterrupt(), verb)
    with pytest.raises(KeyboardInterrupt):
        session.use("system_settings")
    rig.time.advance_us(60 * SECOND_US)
    assert rig.core_target < MAX_CORNER
    assert rig.time.alarms == 0
    rig.controller.close()
    rig.backend.assert_nothing_left()


def test_ctrl_c_in_the_recovery_of_others_does_not_keep_a_controller_from_closing() -> None:
    """KeyboardInterrupt in what a session's close sets off for others: both can be closed afterwards."""
    rig = Rig()
    running, closing = rig.controller.session("burst"), rig.controller.session("burst")
    with closing.inference():
        pass
    rig.time.advance_us(BURST_SUSTAIN_US)
    with running.inference():
        assert isinstance(rig.simulated, SimulatedHtp)
        rig.simulated.fail_next(SYSTEM_COMMUNICATION, function="destroyPowerConfigId")
        rig.backend.next_raises(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            closing.close()
        closing.close()
    rig.controller.close()
    rig.backend.assert_nothing_left()
    assert rig.time.alarms == 0


def test_a_subscriber_may_close_what_is_being_closed(bench: Bench) -> None:
    """A subscriber that closes the session, or the controller, while it is closing breaks nothing."""
    sessions = [bench.controller.session("burst") for _ in range(2)]

    def see(event: Event) -> None:
        if isinstance(event, Transition) and event.dest in (State.LOWERED, State.DESTROYED):
            sessions[0].close()
            bench.controller.close()

    for session in sessions:
        bench.infer(session)
    bench.controller.subscribe(see)
    sessions[0].close()
    assert {session.state for session in sessions} == {State.DESTROYED}
    bench.controller.close()
    assert bench.time.alarms == 0


def test_a_retry_that_can_not_be_armed_fails_no_inference(caplog: pytest.LogCaptureFixture) -> None:
    """Where no alarm can be armed, a failed vote is still no failed inference, and closing still works."""

    class Broken(VirtualTime):
        def call_at(self, deadline_us: int, action: object) -> int:
            raise RuntimeError("can't start new thread")

    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, time=Broken(), handle_sigterm=False)
    session = controller.session("burst")
    simulated.fail_next(TRANSPORT)
    with session.inference():
        assert session.state is State.UNKNOWN
    controller.close()
    assert simulated.power_config_ids == ()
    assert "no timer" in caplog.text


def test_a_subsystem_that_never_stops_restarting_costs_an_inference_one_call(bench: Bench) -> None:
    """1007 without end: after the first rounds each inference pays its own call only, and the rest is left alone."""
    sessions = [bench.controller.session("high_performance") for _ in range(10)]
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, times=100_000)
    bench.infer(sessions[0], 0)
    bench.recorder.clear()
    for _ in range(10):
        bench.infer(sessions[0], 0)
    assert len(bench.sets) <= 20


def test_an_option_found_missing_while_giving_back_is_told(bench: Bench) -> None:
    """What turns out to be missing outside a transition degrades the other sessions all the same."""
    closing, other = bench.controller.session("burst"), bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, times=2)
    bench.simulated.fail_next(UNSUPPORTED, nth=3)
    bench.infer(closing, 0)
    closing.close()
    assert [lost.option.name for lost in other.degradations] == ["RPC_POLLING_TIME"]
    bench.time.advance_us(10 * SECOND_US)
    assert bench.time.alarms == 0
