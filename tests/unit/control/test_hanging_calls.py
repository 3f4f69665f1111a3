"""While a native call of one session hangs, inferences of another session within their sustain time do not wait."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from support.bench import BURST_SUSTAIN_US, MAX_CORNER, Bench
from support.hanging import WAIT_S, Hang, join, started

from htppower import State
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from htppower import Session

INFERENCES = 1_000


def test_while_a_call_hangs_a_window_opens_serves_and_ends_late_rather_than_early() -> None:
    """A first inference arms the timer, 1,000 more run without a call, and the lowering waits for the hanging call."""
    hang = Hang()
    bench = Bench.make(SimulatedHtp(arch=75, sleep=hang))
    camera, other = bench.controller.session("burst"), bench.controller.session("high_performance")
    try:
        with camera.inference():
            bench.simulated.delay_calls(1, "setPowerConfig")
            voting = started(functools.partial(_infer, other))
            assert hang.begun.wait(WAIT_S)
        assert bench.controller.status().sessions[0].sustained_until_us == BURST_SUSTAIN_US
        for _ in range(INFERENCES):
            with camera.inference():
                assert bench.effective().core_target == MAX_CORNER
        assert other.state is State.UNVOTED
        assert camera.in_flight == 0
        bench.time.advance_us(BURST_SUSTAIN_US)
        assert camera.state is State.RAISED
    finally:
        bench.simulated.delay_calls(0)
        hang.let_go.set()
    join(*voting)
    assert (camera.state, other.state) == (State.LOWERED, State.LOWERED)
    lowerings = [event.time_us for event in bench.events if event.session == camera.number][-1:]
    assert lowerings == [BURST_SUSTAIN_US]
    bench.controller.close()
    assert bench.simulated.power_config_ids == ()


def _infer(session: Session) -> None:
    with session.inference():
        pass
