"""Power config ids of which the library gives the number again, since a restart of the DSP has made it forget all."""

from __future__ import annotations

import pytest
from bench import MAX_CORNER, Bench

from htppower import VoteController
from htppower.votes.native_codes import FAILED

SECOND_US = 1_000_000


def restart(bench: Bench, next_id: int) -> None:
    """Restart the DSP: all ids are forgotten, and the next one has this number."""
    bench.simulated.restart_subsystem(forget_ids=True)
    bench.simulated._next_id = next_id


@pytest.mark.parametrize("raised", [False, True])
def test_no_two_sessions_share_an_id(raised: bool) -> None:
    """The session that has it first keeps it; the other, whose id it was, gets another, and destroys its own only."""
    bench = Bench.make()
    first, second = bench.controller.session("burst"), bench.controller.session("balanced")
    if raised:
        bench.infer(second)
    restart(bench, next_id=2)
    with first.inference():
        assert first.power_config_ids == {0: 2}
        bench.infer(second)
        assert set(bench.simulated.power_config_ids) == {2, *second.power_config_ids.values()}
        assert second.power_config_ids != first.power_config_ids
        assert bench.effective().core_target == MAX_CORNER
        second.close()
        assert bench.simulated.power_config_ids == (2,)
        assert bench.effective().core_target == MAX_CORNER
    bench.controller.close()
    bench.recorder.assert_nothing_left()


def test_a_session_whose_id_is_anothers_is_closed_without_a_call_on_it() -> None:
    """It has none, as its status says."""
    bench = Bench.make()
    first, second = bench.controller.session("burst"), bench.controller.session("balanced")
    restart(bench, next_id=2)
    with first.inference():
        assert second.power_config_ids == {}
        assert [list(each.votes) for each in bench.controller.status().sessions] == [[2], []]
        second.close()
        assert bench.simulated.power_config_ids == (2,)
        assert bench.effective().core_target == MAX_CORNER
    bench.controller.close()
    bench.recorder.assert_nothing_left()


def test_an_orphan_of_another_controller_is_not_destroyed_where_it_is_a_sessions_now() -> None:
    """Its number was given to a session of this one: the back-off of the other leaves it alone."""
    bench = Bench.make()
    other = VoteController(bench.recorder, time=bench.time, handle_sigterm=False, heartbeat_us=0)
    session, closed = bench.controller.session("burst"), other.session("balanced")
    bench.simulated.fail_next(FAILED, function="destroyPowerConfigId", times=2)
    closed.close()
    assert other.status().orphans == (2,)
    bench.simulated.clear_faults()
    restart(bench, next_id=2)
    with session.inference():
        assert session.power_config_ids == {0: 2}
        bench.time.advance_us(10 * SECOND_US)
        assert other.status().orphans == ()
        assert bench.effective().core_target == MAX_CORNER
    for controller in (other, bench.controller):
        controller.close()
    bench.recorder.assert_nothing_left()
