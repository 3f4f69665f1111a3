"""Operations of decorated functions, token streams, tickets and coroutines."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from interrupts.operations import SECOND_US, Action, in_window, operation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    from interrupts.world import World

IDLE_US = 50_000


@operation("a decorated function")
def _function(world: World) -> Action:
    session = world.session("high_performance")

    @session.votes
    def infer() -> None:
        pass

    return infer


@operation("a decorated generator, to its end")
def _generator(world: World) -> Action:
    session = world.session("high_performance")

    @session.votes
    def tokens() -> Iterator[int]:
        yield 1
        yield 2

    return lambda: list(tokens())


@operation("a stream that is closed")
def _stream_closed(world: World) -> Action:
    session = world.session("high_performance")

    def act() -> None:
        stream = session.stream(iter(range(3)))
        next(stream)
        stream.close()

    return act


@operation("a stream that is dropped, and collected", may_be_lost=True)
def _stream_dropped(world: World) -> Action:
    session = world.session("high_performance")

    def act() -> None:
        stream = session.stream(iter(range(3)))
        next(stream)
        del stream
        world.time.advance_us(1)

    return act


@operation("a stream whose reader goes away")
def _stream_idle(world: World) -> Action:
    stream = world.session("high_performance").stream(iter(range(3)), idle_timeout_us=IDLE_US)
    next(stream)
    # The host keeps it.
    world.finally_.append(stream.close)
    return lambda: world.time.advance_us(2 * IDLE_US)


@operation("a stream whose reader comes back")
def _stream_read_again(world: World) -> Action:
    stream = world.session("high_performance").stream(iter(range(3)), idle_timeout_us=IDLE_US)
    next(stream)
    world.time.advance_us(2 * IDLE_US)
    world.finally_.append(stream.close)
    return lambda: next(stream)


@operation("a ticket and its end")
def _ticket(world: World) -> Action:
    session = world.session("high_performance")
    return lambda: session.begin(timeout_us=SECOND_US).end()


@operation("a ticket whose timeout is over")
def _ticket_expires(world: World) -> Action:
    ticket = world.session("high_performance").begin(timeout_us=SECOND_US)
    world.finally_.append(ticket.end)
    return lambda: world.time.advance_us(2 * SECOND_US)


def _run(world: World, coroutine: Callable[[], Coroutine[Any, Any, object]]) -> Action:
    """Return what runs a coroutine as ``asyncio.run`` does: what is left when it is interrupted is cancelled."""
    loop = asyncio.new_event_loop()

    def end() -> None:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    world.ends_loop = end
    return lambda: loop.run_until_complete(coroutine())


@operation("async with", any_kind=False)
def _async_with(world: World) -> Action:
    session = world.session("high_performance")

    async def act() -> None:
        async with session.ainference():
            pass

    return _run(world, act)


@operation("async with, in its window", any_kind=False)
def _async_window(world: World) -> Action:
    session = in_window(world)

    async def act() -> None:
        async with session.ainference():
            pass

    return _run(world, act)


@operation("a decorated coroutine", any_kind=False)
def _async_function(world: World) -> Action:
    session = world.session("high_performance")

    @session.votes
    async def act() -> None:
        await asyncio.sleep(0)

    return _run(world, act)


@operation("an asynchronous stream", any_kind=False, may_be_lost=True)
def _async_stream(world: World) -> Action:
    session = world.session("high_performance")

    async def tokens() -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(0)
        yield 2

    async def act() -> None:
        async for _ in session.stream(tokens()):
            pass

    return _run(world, act)


@operation("a coroutine that is cancelled in its raise", any_kind=False)
def _async_cancelled(world: World) -> Action:
    session = world.session("high_performance")

    async def infer() -> None:
        async with session.ainference():
            await asyncio.sleep(10)

    async def act() -> None:
        task = asyncio.ensure_future(infer())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    return _run(world, act)
