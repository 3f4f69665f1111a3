"""Ctrl-C as an alarm is taken back, or rings: none that will not ring counts as armed, and what was due is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench import BURST_SUSTAIN_US, HEARTBEAT_US, MAX_CORNER, Bench
from rig import Rig

from htppower import State
from htppower.control.core.remains import Remains
from htppower.testing import VirtualTime
from htppower.votes.corners import VoltageCorner
from htppower.votes.native_codes import TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND_US = 1_000_000
NOM_PLUS = VoltageCorner.NOM_PLUS


def interrupt_as_taken_back(monkeypatch: pytest.MonkeyPatch, whose: str) -> None:
    """Raise KeyboardInterrupt once an alarm of a class is taken back next."""
    cancel = VirtualTime.cancel

    def interrupted(time: VirtualTime, alarm: int) -> None:
        action = time._actions.get(alarm)
        cancel(time, alarm)
        if whose in repr(action):
            monkeypatch.setattr(VirtualTime, "cancel", cancel)
            raise KeyboardInterrupt

    monkeypatch.setattr(VirtualTime, "cancel", interrupted)


def test_the_next_inference_comes_down_where_a_sustain_alarm_was_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a change of profile, which is interrupted: the next inference arms one of its own."""
    rig = Rig()
    session = rig.controller.session("burst")
    with session.inference():
        pass
    interrupt_as_taken_back(monkeypatch, "_Ring")
    with pytest.raises(KeyboardInterrupt):
        session.use("sustained_high_performance")
    rig.time.advance_us(SECOND_US)
    with session.inference():
        pass
    rig.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED
    rig.controller.close()


def test_a_failure_is_tried_again_where_the_back_off_was_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a session that has recovered: another that fails before that is made up for is not left alone."""
    rig = Rig()
    well, ill = rig.controller.session("high_performance"), rig.controller.session("balanced")
    rig.simulated.fail_next(TRANSPORT)
    inference = well.inference()
    inference.__enter__()
    interrupt_as_taken_back(monkeypatch, "Recovery")
    with pytest.raises(KeyboardInterrupt):
        inference.__exit__(None, None, None)
    rig.simulated.fail_next(TRANSPORT)
    with ill.inference():
        assert rig.core_target != NOM_PLUS
        rig.time.advance_us(2 * SECOND_US)
        assert rig.core_target == NOM_PLUS
    rig.controller.close()


def test_a_back_off_that_was_taken_back_too_late_makes_no_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has begun to ring when its session recovers; the next failure has one of its own, after 1 s again."""
    rig = Rig()
    session = rig.controller.session("high_performance")
    rig.simulated.fail_next(TRANSPORT)
    retry, retried_us = Remains.retry, list[int]()

    def retried(remains: Remains) -> None:
        retried_us.append(rig.time.now_us)
        retry(remains)

    monkeypatch.setattr(Remains, "retry", retried)
    with monkeypatch.context() as patched, session.inference():
        patched.setattr(VirtualTime, "cancel", lambda _time, _alarm: None)
        with session.inference():
            assert session.state is State.RAISED
    rig.time.advance_us(SECOND_US)
    assert retried_us == []
    rig.simulated.fail_next(TRANSPORT)
    with session.inference():
        rig.time.advance_us(SECOND_US)
        assert retried_us == [2 * SECOND_US]
    rig.controller.close()


def test_what_is_raised_next_has_a_heartbeat_where_one_was_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the last session that was closed: a restart of the DSP is noticed in time."""
    bench = Bench.make(heartbeat_us=HEARTBEAT_US)
    session = bench.controller.session("burst")
    with session.inference():
        bench.time.advance_us(1)
    interrupt_as_taken_back(monkeypatch, "Heartbeat")
    with pytest.raises(KeyboardInterrupt):
        session.close()
    session = bench.controller.session("burst")
    with session.inference():
        bench.time.advance_us(1)
        bench.simulated.restart_subsystem()
        bench.time.advance_us(HEARTBEAT_US)
        assert bench.simulated.effective().core_target == MAX_CORNER
    bench.controller.close()


@pytest.mark.parametrize("armed", [False, True])
def test_an_id_is_destroyed_where_the_retry_is_interrupted(armed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it arms the next one: nobody else asks for an id that no session has any more."""
    rig = Rig()
    session = rig.controller.session("burst")
    with session.inference():
        pass
    rig.simulated.fail_next(TRANSPORT, function="destroyPowerConfigId")
    session.use("system_settings")
    assert rig.controller.status().orphans
    call_at = VirtualTime.call_at

    def interrupted(time: VirtualTime, deadline_us: int, action: Callable[[], None]) -> int:
        patched.undo()
        if armed:
            call_at(time, deadline_us, action)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(VirtualTime, "call_at", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rig.time.advance_us(SECOND_US)
    rig.time.advance_us(2 * SECOND_US)
    assert rig.simulated.power_config_ids == ()
    rig.time.advance_us(10 * SECOND_US)
    assert rig.time.alarms == 0
    rig.controller.close()
