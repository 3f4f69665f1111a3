"""A link lost by one of two controllers: the other hears of it once, and votes again."""

from __future__ import annotations

import pytest
from support.bench import MAX_CORNER, Bench
from support.second_controller import answer_the_host, polling_us

from htppower import State, VoteController
from htppower.votes.native_codes import SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

SECOND_US = 1_000_000


@pytest.mark.parametrize("code", [SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL])
def test_a_lost_link_that_one_meets_is_noticed_by_the_other(bench: Bench, other: VoteController, code: int) -> None:
    """Only one controller's call meets the loss; the other's sessions are voted again without a failing call."""
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
    """It makes no call, and leaves no alarm armed."""
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
