"""A phase object that is used wrongly, or by several threads: PhaseMisuse changes nothing, and later uses are right."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.hanging import WAIT_S, HangingHtp, join, started, until
from support.inside import gate_of

from htppower import HtpPowerError, PhaseMisuse, State, VoteController, VoteRejected
from htppower.control.phases.blocks import Inference
from htppower.control.time.locks import is_held
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    from support.bench import Bench

    from htppower import Session

_NO_ERROR = (None, None, None)


def _exit_async(session: Session) -> None:
    inference = session.ainference()

    async def twice() -> None:
        async with inference:
            pass
        await inference.__aexit__(*_NO_ERROR)

    asyncio.run(twice())


def _exit_twice(scope: Any) -> None:
    with scope:
        pass
    scope.__exit__(*_NO_ERROR)


_ENDS: dict[str, Callable[[Session], object]] = {
    "inference, without a begin": lambda session: session.inference().__exit__(*_NO_ERROR),
    "inference, by a collector": lambda session: session.inference().__exit__(GeneratorExit, GeneratorExit(), None),
    "inference, twice": lambda session: _exit_twice(session.inference()),
    "INIT, twice": lambda session: _exit_twice(session.init()),
    "DE-INIT, twice": lambda session: _exit_twice(session.deinit()),
    "coroutine, twice": _exit_async,
    "coroutine, without a begin": lambda session: asyncio.run(session.ainference().__aexit__(*_NO_ERROR)),
}


@pytest.mark.parametrize("how", _ENDS)
def test_an_end_without_its_begin_changes_nothing(bench: Bench, how: str) -> None:
    """Ending an inference that does not run raises PhaseMisuse; the inference of another caller continues."""
    session = bench.controller.session("balanced")
    with session.inference():
        with pytest.raises(PhaseMisuse, match="does not run"):
            _ENDS[how](session)
        assert (session.in_flight, session.state) == (1, State.RAISED)
        bench.time.advance_us(1_000_000)
        assert (session.in_flight, session.state) == (1, State.RAISED)
    assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_a_begin_of_what_runs_changes_nothing(bench: Bench) -> None:
    """A second begin of an inference or INIT raises an error; the first begin can still be ended."""
    session = bench.controller.session("balanced")
    for scope in (session.inference(), session.init()):
        with scope:
            with pytest.raises(PhaseMisuse, match="is being run"):
                scope.__enter__()
            assert session.state is State.RAISED
        assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_the_error_is_ours_and_a_runtime_error() -> None:
    """PhaseMisuse is an HtpPowerError and a RuntimeError."""
    assert issubclass(PhaseMisuse, HtpPowerError)
    assert issubclass(PhaseMisuse, RuntimeError)


class _Between:
    """Runs an action at the n-th line of a function, unless a lock is held there, as another thread could."""

    def __init__(self, code: CodeType, line: int, call: Callable[[], object], lock: Any) -> None:
        self._code = code
        self._line = line
        self._call = call
        self._lock = lock
        self.came = False

    def __call__(self, frame: FrameType, event: str, _argument: object) -> Any:
        if frame.f_code is not self._code or self.came:
            return None
        if event == "line":
            self._line -= 1
            if self._line == 0 and not is_held(self._lock):
                self.came = True
                sys.settrace(None)
                self._call()
        return self


def test_two_threads_that_end_one_inference_end_no_other(bench: Bench) -> None:
    """Whenever the second of two threads ends one inference, exactly one of the two ends is refused."""
    session = bench.controller.session("burst")
    came = []
    for line in range(1, 40):
        others, inference = session.inference(), session.inference()
        others.__enter__()
        inference.__enter__()
        refused: list[PhaseMisuse] = []

        def end(inference: Inference = inference, refused: list[PhaseMisuse] = refused) -> None:
            try:
                inference.__exit__(*_NO_ERROR)
            except PhaseMisuse as error:
                refused.append(error)

        between = _Between(Inference.__exit__.__code__, line, end, gate_of(session).lock)
        before = sys.gettrace()
        sys.settrace(between)
        try:
            end()
        finally:
            sys.settrace(before)
        assert (session.in_flight, len(refused)) == (1, int(between.came)), line
        came.append(between.came)
        others.__exit__(*_NO_ERROR)
        assert session.in_flight == 0
    assert sum(came) > 3


def test_a_lowering_that_fails_leaves_the_next_use_of_the_object_alone() -> None:
    """While a thread still lowers after its end, another may begin the same object again: it runs, raised."""
    htp = HangingHtp()
    controller = VoteController(htp, time=VirtualTime(), on_error="raise", handle_sigterm=False, heartbeat_us=0)
    session = controller.session("high_performance")
    (power_config_id,) = session.power_config_ids.values()
    inference = session.inference()
    inference.__enter__()
    hang = htp.hang_next("setPowerConfig", power_config_id)
    htp.fail_next(FAILED)

    def end() -> None:
        with contextlib.suppress(VoteRejected):
            inference.__exit__(None, None, None)

    threads = started(end)
    assert hang.begun.wait(WAIT_S)
    threads += started(inference.__enter__)
    until(lambda: session.in_flight == 1)
    hang.let_go.set()
    join(*threads)
    assert (session.in_flight, session.state) == (1, State.RAISED)
    inference.__exit__(None, None, None)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    controller.close()
