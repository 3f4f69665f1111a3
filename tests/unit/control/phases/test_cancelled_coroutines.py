"""Coroutines that are cancelled, closed or collected within ``session.ainference()``: their votes are lowered."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import TYPE_CHECKING, Any

from support.bench import BURST_SUSTAIN_US
from support.gates import LONG_S, Gate, cancelled, infer, until
from support.inside import gate_of

from htppower import State
from htppower.control.gate.counts import count_begun

if TYPE_CHECKING:
    from collections.abc import Coroutine

    import pytest

    from htppower import Session


async def infer_forever(session: Session, begun: asyncio.Event | None = None) -> None:
    """Run one inference that only a cancellation ends."""
    async with session.ainference():
        if begun is not None:
            begun.set()
        await asyncio.Event().wait()


def test_cancelled_before_it_begins(gate: Gate) -> None:
    """A task that is cancelled before its first step makes no call."""
    session = gate.controller.session("balanced")
    gate.drain()
    posts = gate.posts

    async def scenario() -> None:
        assert await cancelled(asyncio.create_task(infer(session)))

    asyncio.run(scenario())
    assert (gate.posts, gate.sets, session.in_flight) == (posts, 0, 0)


def test_cancelled_during_the_raise(gate: Gate) -> None:
    """A coroutine that is cancelled during its raise ends at once; the raise continues and is lowered after its end."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        gate.backend.shut()
        task = asyncio.create_task(infer(session))
        await until(gate.backend.reached.is_set)
        assert await cancelled(task)
        assert (gate.sets, session.in_flight) == (0, 0)
        gate.backend.opened.set()

    asyncio.run(scenario())
    gate.assert_down(session)
    assert gate.sets == 2


def test_cancelled_beside_an_inference_that_ends(gate: Gate) -> None:
    """The sustain time of an ended inference counts, although another inference was cancelled in its raise then."""
    session = gate.controller.session("burst")

    async def scenario() -> None:
        running = session.begin()
        gate.backend.shut()
        session.link_lost(1007)
        await until(gate.backend.reached.is_set)
        waiting = asyncio.create_task(infer(session))
        await until(lambda: session.in_flight == 2)
        gate.time.sleep(1)
        running.end()
        assert await cancelled(waiting)
        gate.backend.opened.set()

    asyncio.run(scenario())
    gate.drain()
    assert (session.in_flight, session.state) == (0, State.RAISED)
    gate.time.advance_us(BURST_SUSTAIN_US - 1)
    gate.drain()
    assert session.state is State.RAISED
    gate.time.advance_us(1)
    gate.assert_down(session)


def test_cancelled_when_the_raise_is_over_but_not_heard_of(gate: Gate) -> None:
    """If a coroutine is cancelled between the end of its raise and its next step, its inference ends, too."""
    session = gate.controller.session("balanced")
    errors: list[object] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, error: errors.append(error))
        task = asyncio.create_task(infer(session))
        await asyncio.sleep(0)
        gate.drain()  # This blocks the loop, so the coroutine does not learn that the raise is over.
        assert (gate.sets, session.in_flight) == (1, 1)
        assert await cancelled(task)

    asyncio.run(scenario())
    assert errors == []
    gate.assert_down(session)


def test_cancelled_inside(gate: Gate) -> None:
    """The lowering is awaited before the cancellation leaves the block."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(infer_forever(session, begun))
        await begun.wait()
        assert await cancelled(task)

    asyncio.run(scenario())
    gate.assert_down(session)


def test_cancelled_during_the_lowering(gate: Gate) -> None:
    """A coroutine that is cancelled during the lowering ends at once, and the lowering continues."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        entered, leave = asyncio.Event(), asyncio.Event()

        async def held() -> None:
            async with session.ainference():
                entered.set()
                await leave.wait()

        task = asyncio.create_task(held())
        await entered.wait()
        gate.backend.shut()
        leave.set()
        await until(gate.backend.reached.is_set)
        assert await cancelled(task)
        assert session.state is State.RAISED
        gate.backend.opened.set()

    asyncio.run(scenario())
    gate.assert_down(session)


def test_two_hundred_cancelled_while_a_call_hangs(gate: Gate) -> None:
    """Only the request whose call runs is raised and lowered; the 199 that wait make no call."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        gate.backend.shut()
        tasks = [asyncio.create_task(infer(session)) for _ in range(200)]
        await until(lambda: gate.backend.reached.is_set() and session.in_flight == 200)
        for task in tasks:
            assert await cancelled(task)
        gate.backend.opened.set()

    asyncio.run(scenario())
    gate.assert_down(session)
    assert (gate.sets, count_begun(gate_of(session))) == (2, 0)


def test_a_lowering_that_waits_is_not_dropped(gate: Gate) -> None:
    """A lowering is made, even if its coroutine is cancelled before the lowering starts."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        leave, busy = asyncio.Event(), threading.Event()

        async def held() -> None:
            async with session.ainference():
                await leave.wait()

        task = asyncio.create_task(held())
        await until(lambda: session.state is State.RAISED)
        gate.post(lambda: busy.wait(LONG_S))
        leave.set()
        await until(lambda: not session.in_flight)
        assert await cancelled(task)
        assert gate.sets == 1
        busy.set()

    asyncio.run(scenario())
    gate.assert_down(session)
    assert gate.sets == 2


def raising(gate: Gate, session: Session) -> tuple[asyncio.AbstractEventLoop, Coroutine[Any, Any, None]]:
    """Return a loop that is not running, and a coroutine of it that waits for its raise at the gate."""
    loop = asyncio.new_event_loop()
    gate.backend.shut()
    waiting = infer_forever(session)

    async def step() -> None:
        waiting.send(None)

    loop.run_until_complete(step())
    assert gate.backend.reached.wait(LONG_S)
    return loop, waiting


def test_a_loop_that_is_closed_during_the_raise(gate: Gate) -> None:
    """If the loop is closed during the raise, the inference ends after it, and only once."""
    session = gate.controller.session("balanced")
    loop, waiting = raising(gate, session)
    loop.close()
    gate.backend.opened.set()
    gate.assert_down(session)
    waiting.close()
    gate.assert_down(session)
    assert gate.sets == 2


def test_a_coroutine_that_is_closed_during_the_raise(gate: Gate) -> None:
    """If a coroutine is closed with its loop during the raise, its inference ends after the raise."""
    session = gate.controller.session("balanced")
    loop, waiting = raising(gate, session)
    loop.close()
    waiting.close()
    gate.backend.opened.set()
    gate.assert_down(session)
    assert gate.sets == 2


def test_a_coroutine_that_is_closed_before_its_raise_has_begun_nothing(gate: Gate) -> None:
    """A coroutine that is closed before its raise makes no call, saves no call, and begins no sustain time."""
    session = gate.controller.session("burst")
    busy = threading.Event()
    gate.post(lambda: busy.wait(LONG_S))
    waiting = infer_forever(session)

    async def step() -> None:
        waiting.send(None)
        waiting.close()

    asyncio.run(step())
    busy.set()
    gate.drain()
    assert (session.in_flight, session.state, gate.sets) == (0, State.UNVOTED, 0)
    assert (gate.controller.status().sessions[0].calls_saved, gate.time.alarms) == (0, 0)


def test_a_coroutine_that_is_closed_during_the_lowering_posts_nothing(gate: Gate) -> None:
    """The garbage collector may close the coroutine while its thread holds locks, so closing it takes no lock."""
    session = gate.controller.session("balanced")

    async def step() -> Coroutine[Any, Any, None]:
        inference = session.ainference()
        await inference.__aenter__()
        gate.backend.shut()
        leaving = inference.__aexit__(None, None, None)
        leaving.send(None)
        return leaving

    leaving = asyncio.run(step())
    assert gate.backend.reached.wait(LONG_S)
    posts = gate.posts
    leaving.close()
    assert gate.posts == posts
    gate.backend.opened.set()
    gate.assert_down(session)


def test_a_coroutine_that_is_closed_as_its_loop_refuses_the_answer(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the worker and the coroutine both find that the inference must end, it ends once."""
    session = gate.controller.session("balanced")
    loop, waiting = raising(gate, session)

    def refuse(*_: object) -> None:
        waiting.close()
        raise RuntimeError("Event loop is closed")

    monkeypatch.setattr(loop, "call_soon_threadsafe", refuse)
    gate.backend.opened.set()
    gate.assert_down(session)
    assert gate.sets == 2
    loop.close()


def test_a_coroutine_that_is_collected_after_the_raise(gate: Gate) -> None:
    """If the loop never resumes the coroutine, the inference ends when the coroutine is collected."""
    session = gate.controller.session("balanced")
    loop, waiting = raising(gate, session)
    gate.backend.opened.set()
    gate.drain()
    loop.close()
    assert session.in_flight == 1
    del waiting
    gc.collect()
    gate.assert_down(session)
