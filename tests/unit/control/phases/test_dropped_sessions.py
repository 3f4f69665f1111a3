"""Sessions without a reference are closed, unless one of their phases is still referred to."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import MAX_CORNER, Bench
from support.hanging import WAIT_S, Hang, until
from support.inside import drain, run_on_the_worker

from htppower import State, VoteController
from htppower.backends import SimulatedHtp
from htppower.control.time.scheduler import SystemTime
from htppower.events import Transition, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session


def collect(bench: Bench) -> None:
    """Run the garbage collector, and the work that it posts."""
    gc.collect()
    bench.time.advance_us(0)


@pytest.mark.parametrize("cycle", [False, True])
def test_a_session_that_is_dropped_is_closed(bench: Bench, cycle: bool) -> None:
    """The votes of a dropped session are lowered at once, its id is destroyed, and no alarm stays armed."""
    kept: list[object] = [bench.controller.session("burst")]
    kept += [kept] if cycle else []
    bench.infer(kept[0])  # type: ignore[arg-type]
    assert bench.effective().core_target == MAX_CORNER
    del kept
    collect(bench)
    triggers = [event.trigger for event in bench.events if isinstance(event, Transition)]
    assert triggers == [Trigger.RAISE, Trigger.LOWER, Trigger.DESTROY]
    assert (bench.controller.status().sessions, bench.simulated.power_config_ids) == ((), ())
    assert bench.time.alarms == 0


_KEPT: dict[str, Callable[[Session], Any]] = {
    "an inference": lambda session: session.inference(),
    "an inference of a coroutine": lambda session: session.ainference(),
    "INIT": lambda session: session.init(),
    "a ticket": lambda session: session.begin(),
    "a stream": lambda session: session.stream(iter("to be")),
    "a decorated function": lambda session: session.votes(len),
}


@pytest.mark.parametrize("what", _KEPT)
def test_a_kept_phase_keeps_its_session_open(bench: Bench, what: str) -> None:
    """A session stays open while one of its phases is referred to; it is closed when the phase is dropped, too."""
    kept = _KEPT[what](bench.controller.session("balanced"))
    collect(bench)
    assert len(bench.controller.status().sessions) == 1
    del kept
    collect(bench)
    collect(bench)
    assert (bench.controller.status().sessions, bench.simulated.power_config_ids) == ((), ())


def test_a_session_is_open_as_long_as_its_inference_runs(bench: Bench) -> None:
    """A running inference keeps its session open without any other reference."""
    with bench.controller.session("balanced").inference():
        collect(bench)
        (status,) = bench.controller.status().sessions
        assert (status.state, status.in_flight) == (State.RAISED, 1)
    collect(bench)
    assert bench.controller.status().sessions == ()


def test_a_failing_call_leaves_an_orphan_and_no_session(bench: Bench) -> None:
    """If the ID of a dropped session can't be destroyed, the back-off destroys it."""
    session = bench.controller.session("balanced")
    bench.infer(session)
    bench.simulated.fail_next(13006, "destroyPowerConfigId")
    (number,) = session.power_config_ids.values()
    del session
    collect(bench)
    assert (bench.controller.status().sessions, bench.controller.status().orphans) == ((), (number,))
    bench.time.advance_us(2_000_000)
    assert (bench.controller.status().orphans, bench.simulated.power_config_ids) == ((), ())


@pytest.mark.skipif(os.name != "posix", reason="there are no signals to a process")
def test_a_session_that_ctrl_c_keeps_from_its_host_is_closed() -> None:
    """If Ctrl-C interrupts the opening while the worker is busy, the worker closes the session afterwards."""
    htp, hang = SimulatedHtp(arch=75), Hang()
    with contextlib.closing(SystemTime()) as time, VoteController(htp, time=time, handle_sigterm=False) as controller:
        run_on_the_worker(controller, hang)
        assert hang.begun.wait(WAIT_S)
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            controller.session("burst")
        timer.join()
        gc.collect()
        time.call_soon(hang.let_go.set)
        assert hang.ended.wait(WAIT_S)
        assert drain(controller)
        until(lambda: not controller.status().sessions and not htp.power_config_ids)
