"""The stored error of a failed call has no frame and no other exception, so it keeps no input alive."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench

from htppower import VoteRejected
from htppower.backends import SimulatedHtp
from htppower.errors import HtpPowerError, kept
from htppower.events import ReleaseFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower import Session


class _Input:
    """The input of an inference."""


class _UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("mine")


def _all_refuse(bench: Bench) -> None:
    for _ in range(30):
        bench.simulated.fail_next(13004)


def _breaks_the_protocol(bench: Bench) -> None:
    def set_power_config(*_arguments: object) -> None:
        host_has = _Input()
        raise OSError("mine") from KeyError(host_has)

    bench.recorder.set_power_config = set_power_config  # type: ignore[assignment,method-assign]


TROUBLES = [
    pytest.param(lambda bench: bench.simulated.fail_next(13006), id="refused"),
    pytest.param(_all_refuse, id="13004 on everything"),
    pytest.param(lambda bench: bench.simulated.fail_next(1007), id="link lost"),
    pytest.param(lambda bench: bench.simulated.fail_next(1011), id="DSP dead"),
    pytest.param(_breaks_the_protocol, id="OSError"),
]


def _infer(session: Session) -> weakref.ref[_Input]:
    """Run an inference on an input without another reference; return a weak reference to the input."""
    given = _Input()
    with session.inference():
        return weakref.ref(given)


@pytest.fixture
def _without_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_without_collector")
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_failed_call_keeps_no_input_alive(trouble: Callable[[Bench], Any]) -> None:
    """Status, history, back-off and events have the error; the input is freed with its frame, without the collector."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2))
    session = bench.controller.session("burst", core_ids=(0, 1))
    trouble(bench)
    given = _infer(session)
    (status,) = bench.controller.status().sessions
    assert status.last_error is not None
    assert given() is None


@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_error_that_was_raised_keeps_no_input_alive(trouble: Callable[[Bench], Any]) -> None:
    """With ``on_error="raise"`` the host's error has the frames; dropping the error frees them."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2), on_error="raise")
    session = bench.controller.session("burst", core_ids=(0, 1))
    trouble(bench)
    given: list[weakref.ref[_Input]] = []

    def infer() -> None:
        given.append(weakref.ref(host_has := _Input()))
        with session.inference():
            del host_has

    with contextlib.suppress(VoteRejected):
        infer()
    gc.collect()
    assert given[0]() is None


@pytest.mark.usefixtures("_without_collector")
def test_an_error_of_an_awaited_action_goes_with_its_handler() -> None:
    """The error of a call that a coroutine awaits is freed, too, when its handler ends."""
    given: list[weakref.ref[_Input]] = []
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.fail_next(13006)

    async def infer() -> None:
        given.append(weakref.ref(host_has := _Input()))
        async with session.ainference():
            del host_has

    async def run() -> None:
        with contextlib.suppress(VoteRejected):
            await infer()
        assert given[0]() is None

    asyncio.run(run())


def _a_begin_fails(bench: Bench, session: Session) -> None:
    bench.simulated.fail_next(13006)
    with session.inference():
        pytest.fail("the inference began")


def _an_end_fails(bench: Bench, session: Session) -> None:
    with session.inference():
        bench.simulated.fail_next(13006)


def _a_begin_fails_in_a_coroutine(bench: Bench, session: Session) -> None:
    async def infer() -> None:
        bench.simulated.fail_next(13006)
        async with session.ainference():
            pytest.fail("the inference began")

    asyncio.run(infer())


def _an_end_fails_in_a_coroutine(bench: Bench, session: Session) -> None:
    async def infer() -> None:
        async with session.ainference():
            bench.simulated.fail_next(13006)

    asyncio.run(infer())


@pytest.mark.parametrize(
    "fail", [_a_begin_fails, _an_end_fails, _a_begin_fails_in_a_coroutine, _an_end_fails_in_a_coroutine]
)
def test_an_error_that_the_host_keeps_keeps_no_other_inference_running(fail: Callable[[Bench, Session], None]) -> None:
    """If the host keeps an error, the token of another inference can still be collected, which ends that inference."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("balanced")
    with pytest.raises(VoteRejected) as raised:
        fail(bench, session)
    with contextlib.suppress(VoteRejected):
        session.inference().__enter__()
    # In virtual time, the work that the finalizer posts runs when time advances.
    gc.collect()
    bench.time.advance_us(1)
    assert session.in_flight == 0
    assert raised.value.code == 13006


def test_a_close_that_fails_keeps_no_input_alive() -> None:
    """The error raised by ``close`` is not the object that the back-off and the events keep."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    with session.inference():
        pass
    bench.simulated.fail_next(13003, function="destroyPowerConfigId")

    def close() -> weakref.ref[_Input]:
        given = _Input()
        with pytest.raises(VoteRejected):
            session.close()
        return weakref.ref(given)

    given = close()
    gc.collect()
    assert given() is None
    (told,) = (event.error for event in bench.events if isinstance(event, ReleaseFailed))
    assert told.__traceback__ is None


def test_what_raised_in_the_backend_is_kept_as_text() -> None:
    """Status keeps the text of a backend's own exception; the host gets the exception itself."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    _breaks_the_protocol(bench)
    with session.inference():
        pass
    error = session.error
    assert error is not None
    assert repr(error.__cause__) == "HtpPowerError('OSError: mine')"

    strict = Bench.make(on_error="raise")
    session = strict.controller.session("burst")
    _breaks_the_protocol(strict)
    with pytest.raises(VoteRejected) as caught, session.inference():
        pass
    assert isinstance(caught.value.__cause__, OSError)
    assert session.error is not None
    assert str(session.error.__cause__) == "OSError: mine"


def test_an_error_is_kept_with_the_text_of_its_cause() -> None:
    """Storing an error twice changes nothing, and an exception whose text can't be made is stored, too."""
    error = VoteRejected(13003)
    error.__context__ = OSError("never told")
    error.__cause__ = _UnspeakableError()
    once = kept(error)
    for each in (once, kept(once)):
        assert (str(each), each.code, each.__traceback__, each.__context__) == (str(error), 13003, None, None)
        assert type(each.__cause__) is HtpPowerError
        assert str(each.__cause__).endswith("_UnspeakableError: <exception str() failed>")
    assert kept(VoteRejected(13003)).__cause__ is None


def test_what_a_backend_of_the_hosts_own_raised_stands_in_the_message() -> None:
    """The message of a 13006 names the backend's exception, since the code alone gives no reason."""
    bench = Bench.make()
    _breaks_the_protocol(bench)
    session = bench.controller.session("balanced")
    with session.inference():
        error = session.error
    assert error is not None
    assert (error.code, str(error).endswith("; the backend raised OSError: mine")) == (13006, True)
    assert "the backend raised" not in str(VoteRejected(13006))
