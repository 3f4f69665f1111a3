"""The heartbeat during other events: inferences, calls of other sessions, and alarms that can't be armed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.bench import HEARTBEAT_US, MAX_CORNER, Bench, core_target

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from htppower.votes.vote_set import VoteSet

NOM_PLUS = 112


def test_a_beat_keeps_no_inference_waiting(bench: Bench) -> None:
    """An inference within the sustain time begins without waiting for a heartbeat's call."""
    session = bench.controller.session("burst")
    bench.infer(session)
    begun: list[int] = []
    set_power_config = bench.simulated.set_power_config

    def meanwhile(power_config_id: int, votes: VoteSet) -> None:
        bench.simulated.set_power_config = set_power_config  # type: ignore[method-assign]
        bench.infer(session, 0)
        begun.append(len(bench.votes))
        set_power_config(power_config_id, votes)

    with session.inference():
        bench.simulated.set_power_config = meanwhile  # type: ignore[method-assign]
        bench.time.advance_us(HEARTBEAT_US)
        assert begun == [1]


def test_a_call_that_is_made_while_others_are_cast_again_counts(bench: Bench) -> None:
    """If the votes were sent after the alarm rang, the heartbeat does not send them again."""
    first, second = (bench.controller.session("burst") for _ in range(2))
    set_power_config = bench.simulated.set_power_config

    def meanwhile(power_config_id: int, votes: VoteSet) -> None:
        bench.simulated.set_power_config = set_power_config  # type: ignore[method-assign]
        second.use("balanced")
        set_power_config(power_config_id, votes)

    with first.inference(), second.inference():
        bench.recorder.clear()
        bench.simulated.set_power_config = meanwhile  # type: ignore[method-assign]
        bench.time.advance_us(HEARTBEAT_US)
        assert [(call.power_config_id, core_target(call)) for call in bench.votes] == [(1, MAX_CORNER), (2, NOM_PLUS)]


def test_an_alarm_that_was_taken_back_too_late_does_nothing(bench: Bench) -> None:
    """An alarm that rings while the last session is closed does nothing; the next session has its own alarm."""
    first = bench.controller.session("burst")
    with first.inference():
        bench.time.advance_us(HEARTBEAT_US // 2)
    cancel, bench.time.cancel = bench.time.cancel, lambda alarm: None  # type: ignore[method-assign]
    first.close()
    bench.time.cancel = cancel  # type: ignore[method-assign]
    with bench.controller.session("burst").inference():
        bench.time.advance_us(HEARTBEAT_US - 1)
        assert bench.time.alarms == 1


def test_where_no_alarm_can_be_armed_that_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """If no thread can be started, the session works without a heartbeat, and its next raise arms the alarm."""
    call_at = bench.time.call_at

    def refuse(deadline_us: int, action: Callable[[], None]) -> int:
        raise RuntimeError("can't start new thread")

    session = bench.controller.session("balanced")
    bench.time.call_at = refuse  # type: ignore[method-assign]
    with session.inference():
        assert "no timer for the heartbeat" in caplog.text
        bench.time.call_at = call_at  # type: ignore[method-assign]
    with session.inference():
        assert bench.time.alarms == 1
