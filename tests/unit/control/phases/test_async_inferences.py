"""``async with session.ainference()``: it never blocks the loop, and raises its errors in the coroutine."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from support.gates import LONG_S, VOTES_THREAD, Gate, infer, until
from support.hanging import join, started

from htppower import PhaseMisuse, SessionClosed, State, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from htppower import Session


def test_the_loop_runs_while_raise_and_lowering_are_on_their_way(gate: Gate) -> None:
    """The worker makes the calls; the loop runs other tasks until they return."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        gate.backend.shut()
        task = asyncio.create_task(infer(session))
        await until(gate.backend.reached.is_set)
        assert (gate.sets, session.in_flight, task.done()) == (0, 1, False)
        gate.backend.reached.clear()
        gate.backend.opened.set()
        await until(lambda: gate.sets == 1)
        gate.backend.shut()
        await until(gate.backend.reached.is_set)
        assert (session.in_flight, task.done()) == (0, False)
        gate.backend.opened.set()
        await task
        assert (gate.sets, session.state) == (2, State.LOWERED)

    asyncio.run(scenario())
    assert gate.backend.threads == {VOTES_THREAD}


def test_inside_a_window_nothing_leaves_the_loop(gate: Gate) -> None:
    """An inference inside the sustain time does not suspend and posts nothing to the worker."""
    session = gate.controller.session("burst")

    async def scenario() -> None:
        await infer(session)
        gate.drain()
        posts, steps = gate.posts, _window(session)
        with pytest.raises(StopIteration):
            steps.send(None)
        assert gate.posts == posts

    asyncio.run(scenario())
    assert gate.sets == 1
    gate.time.advance_us(300_000)
    gate.assert_down(session)


async def _window(session: Session) -> None:
    async with session.ainference():
        assert session.in_flight == 1


def test_a_slow_call_of_another_thread_blocks_no_loop(gate: Gate) -> None:
    """During another thread's slow call, inferences within the sustain time do not wait, and a raise blocks no loop."""
    warm, other, slow = (gate.controller.session(name) for name in ("burst", "burst", "balanced"))
    with warm.inference():
        pass
    gate.backend.shut()
    running = slow.inference()
    thread = threading.Thread(target=running.__enter__)
    thread.start()
    assert gate.backend.reached.wait(LONG_S)

    async def scenario() -> None:
        await infer(warm)
        task = asyncio.create_task(infer(other))
        await until(lambda: other.in_flight)
        await infer(warm)
        assert not task.done()
        gate.backend.opened.set()
        await task

    asyncio.run(scenario())
    thread.join(LONG_S)
    running.__exit__(None, None, None)
    gate.time.advance_us(300_000)
    for session in (warm, other, slow):
        gate.assert_down(session)


def test_two_hundred_tasks_cost_one_raise(gate: Gate) -> None:
    """200 tasks on one session cost one raise, and one lowering after the sustain time."""
    session = gate.controller.session("burst")

    async def scenario() -> None:
        await asyncio.gather(*(infer(session) for _ in range(200)))

    asyncio.run(scenario())
    assert (gate.sets, session.in_flight) == (1, 0)
    gate.time.advance_us(300_000)
    gate.assert_down(session)
    assert gate.sets == 2


def test_loops_in_two_threads(gate: Gate) -> None:
    """Two loops may use one session; the count of its inferences is right."""
    session = gate.controller.session("burst")

    async def scenario() -> None:
        for _ in range(20):
            await asyncio.gather(*(infer(session) for _ in range(5)))

    join(*started(*[lambda: asyncio.run(scenario())] * 2))
    assert (gate.sets, session.in_flight) == (1, 0)
    gate.time.advance_us(300_000)
    gate.assert_down(session)


def test_a_failed_raise_is_raised_in_the_coroutine() -> None:
    """With ``on_error="raise"``, VoteRejected is raised in the coroutine, and the inference has not begun."""
    gate = Gate(on_error="raise")
    session = gate.controller.session("balanced")
    assert isinstance(gate.backend.inner, SimulatedHtp)
    gate.backend.inner.fail_next(FAILED, "setPowerConfig")
    with pytest.raises(VoteRejected):
        asyncio.run(infer(session))
    assert session.in_flight == 0
    gate.close()


def test_a_closed_session_and_a_closed_controller(gate: Gate) -> None:
    """After the session or the controller was closed, entering raises SessionClosed, and leaving does not hang."""
    closed = gate.controller.session("burst")
    closed.close()
    with pytest.raises(SessionClosed):
        asyncio.run(infer(closed))
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        async with session.ainference():
            gate.controller.close()
        with pytest.raises(SessionClosed):
            await asyncio.wait_for(infer(session), LONG_S)

    asyncio.run(scenario())
    assert session.in_flight == 0


def test_one_manager_serves_one_inference_at_a_time(gate: Gate) -> None:
    """Entering a manager that is in use raises an error and changes nothing; after its end it may be used again."""
    session = gate.controller.session("balanced")
    inference = session.ainference()

    async def once() -> None:
        async with inference:
            with pytest.raises(PhaseMisuse, match="ainference"):
                await inference.__aenter__()

    async def scenario() -> None:
        await once()
        tasks = [asyncio.create_task(once()) for _ in range(2)]
        await asyncio.wait(tasks)
        assert [type(task.exception()) for task in tasks] == [type(None), PhaseMisuse]

    asyncio.run(scenario())
    gate.assert_down(session)
