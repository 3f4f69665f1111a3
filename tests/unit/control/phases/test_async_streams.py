"""Coroutines and asynchronous token streams: their votes are raised and lowered as those of other inferences."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import pytest
from support.gates import cancelled, until
from support.inside import gate_of
from support.streams import TOKENS, AsyncPlain, Model

from htppower import State

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from support.gates import Gate


def test_a_coroutine_function(gate: Gate) -> None:
    """The inference lasts as long as the coroutine; a cancelled coroutine is lowered, too."""
    session = gate.controller.session("balanced")
    model = Model(session)

    @session.votes
    async def run(token: str) -> str:
        await asyncio.sleep(0)
        return model.token(token)

    @session.votes
    async def hang(inside: asyncio.Event) -> None:
        inside.set()
        await asyncio.Event().wait()

    async def scenario() -> None:
        assert await run("be") == "be"
        assert session.state is State.LOWERED
        inside = asyncio.Event()
        task = asyncio.create_task(hang(inside))
        await inside.wait()
        assert await cancelled(task)
        assert session.state is State.LOWERED

    asyncio.run(scenario())
    assert (session.in_flight, gate.sets) == (0, 4)


@pytest.mark.parametrize("how", ["votes", "stream"])
class TestAsyncGenerator:
    """An asynchronous generator under ``votes``, and an asynchronous generator given to ``stream``."""

    def run(self, how: str, gate: Gate, scenario: Callable[[Model, AsyncGenerator[str, object]], Any]) -> Model:
        """Run a scenario on a generator, and assert that the votes are down afterwards."""
        session = gate.controller.session("balanced")
        model = Model(session)

        def made() -> AsyncGenerator[str, Any]:
            return session.votes(model.agenerate)() if how == "votes" else session.stream(model.agenerate())

        async def main() -> None:
            await scenario(model, made())

        asyncio.run(main())
        gate.assert_down(session)
        return model

    def test_exhausted(self, how: str, gate: Gate) -> None:
        """The votes are raised once before the first token, and lowered once after the last, which is awaited."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            assert [token async for token in generator] == TOKENS
            assert (model.session.in_flight, model.session.state) == (0, State.LOWERED)

        assert self.run(how, gate, scenario).ends == ["done"]
        assert gate.sets == 2

    def test_closed(self, how: str, gate: Gate) -> None:
        """``aclose`` closes the inner generator, and lowers the votes."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            await anext(generator)
            assert model.session.in_flight == 1
            await generator.aclose()
            assert model.ends == ["GeneratorExit"]

        self.run(how, gate, scenario)

    def test_sent_to_and_thrown_into(self, how: str, gate: Gate) -> None:
        """Sent values and thrown exceptions reach the inner generator; an exception that leaves it lowers the votes."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            error = KeyError()
            assert await anext(generator) == "to"
            assert await generator.athrow(error) == "be"
            assert await generator.asend(2) == "or"
            assert model.heard == [error, 2]
            with pytest.raises(OSError, match="over"):
                await generator.athrow(OSError("over"))

        assert self.run(how, gate, scenario).ends == ["OSError"]

    def test_dropped(self, how: str, gate: Gate) -> None:
        """A stream dropped between tokens is closed by its loop."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            cycle: list[Any] = [generator]
            cycle.append(cycle)
            await anext(generator)
            del generator, cycle
            gc.collect()
            await until(lambda: model.ends == ["GeneratorExit"])

        self.run(how, gate, scenario)

    def test_cancelled_between_tokens(self, how: str, gate: Gate) -> None:
        """If a task is cancelled while the model makes a token, the votes are lowered."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            async def read() -> None:
                async for _ in generator:
                    model.stuck = True

            task = asyncio.create_task(read())
            await until(lambda: model.heard)
            assert await cancelled(task)
            assert model.ends == ["CancelledError"]

        self.run(how, gate, scenario)


async def _first(stream: AsyncGenerator[str, None]) -> str:
    return await anext(stream)


@pytest.mark.parametrize("known", [True, False])
def test_an_asynchronous_generator_left_behind_by_its_loop(gate: Gate, known: bool) -> None:
    """If a loop was closed without ``shutdown_asyncgens``, the votes are lowered when the generator is collected."""
    session = gate.controller.session("balanced")
    loop = asyncio.new_event_loop()
    generator = session.stream(AsyncPlain())
    assert loop.run_until_complete(_first(generator) if known else anext(generator)) == "to"
    loop.close()
    assert session.in_flight == 1
    with gate_of(session).lock:
        del generator
        gc.collect()
    gate.assert_down(session)


def test_an_asynchronous_generator_that_is_never_begun(gate: Gate) -> None:
    """A stream that is never begun sends no vote and gives no warning."""
    session = gate.controller.session("balanced")
    gate.drain()
    posts = gate.posts
    session.stream(AsyncPlain())
    session.votes(Model(session).agenerate)()
    gc.collect()
    assert (session.in_flight, gate.sets, gate.posts) == (0, 0, posts)


def test_an_asynchronous_iterator_that_is_no_generator(gate: Gate) -> None:
    """An iterator with only ``anext`` can be a stream; a thrown exception is passed on."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        assert [token async for token in session.stream(AsyncPlain())] == TOKENS
        stream = session.stream(AsyncPlain())
        await anext(stream)
        with pytest.raises(KeyError):
            await stream.athrow(KeyError())

    asyncio.run(scenario())
    gate.assert_down(session)
