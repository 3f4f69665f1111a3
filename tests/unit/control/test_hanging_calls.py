"""While a native call of one session hangs, inferences of another session inside its window do not wait."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from support.bench import BURST_SUSTAIN_US, MAX_CORNER, Bench

from htppower import State
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from htppower import Session

INFERENCES = 1_000
WAIT_S = 10


class _Gate:
    """A native call that waits until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def __call__(self, _seconds: float) -> None:
        self.entered.set()
        assert self.opened.wait(WAIT_S)


def test_while_a_call_hangs_a_window_opens_serves_and_ends_late_rather_than_early() -> None:
    """A first inference arms the timer, 1,000 more run without a call, and the lowering waits for the hanging call."""
    gate = _Gate()
    bench = Bench.make(SimulatedHtp(arch=75, sleep=gate))
    camera, other = bench.controller.session("burst"), bench.controller.session("high_performance")
    voting = threading.Thread(target=_infer, args=(other,), daemon=True)
    try:
        with camera.inference():
            bench.simulated.delay_calls(1, "setPowerConfig")
            voting.start()
            assert gate.entered.wait(WAIT_S)
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
        gate.opened.set()
    voting.join(WAIT_S)
    assert (camera.state, other.state) == (State.LOWERED, State.LOWERED)
    lowerings = [event.time_us for event in bench.events if event.session == camera.number][-1:]
    assert lowerings == [BURST_SUSTAIN_US]
    bench.controller.close()
    assert bench.simulated.power_config_ids == ()


def _infer(session: Session) -> None:
    with session.inference():
        pass
