"""Functions and token streams that vote: one inference a call, or from the first token to the last."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from bench import BURST_SUSTAIN_US
from gates import Gate, cancelled, until

from htppower import State

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator

    from bench import Bench

    from htppower import Session

TOKENS = ["to", "be", "or"]


class Model:
    """Makes tokens in each of the four ways, and notes what it is told of the stream's end."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.ends: list[str] = []
        self.heard: list[object] = []

    def token(self, token: str) -> str:
        """Return the token, which takes the votes."""
        assert (self.session.in_flight, self.session.state) == (1, State.RAISED)
        return token

    def generate(self) -> Generator[str, object, int]:
        """Make tokens; return how many."""
        try:
            for token in TOKENS:
                try:
                    self.heard.append((yield self.token(token)))
                except KeyError as error:
                    self.heard.append(error)
        except BaseException as error:
            self.ends.append(type(error).__name__)
            raise
        self.ends.append("done")
        return len(TOKENS)

    async def agenerate(self) -> AsyncGenerator[str, object]:
        """Make tokens on a loop."""
        try:
            for token in TOKENS:
                await asyncio.sleep(0)
                try:
                    self.heard.append((yield self.token(token)))
                except KeyError as error:
                    self.heard.append(error)
        except BaseException as error:
            self.ends.append(type(error).__name__)
            raise
        self.ends.append("done")


class Plain(Iterator[str]):
    """An iterator with ``next`` and nothing else, of either kind."""

    def __init__(self) -> None:
        self._left = iter(TOKENS)

    def __next__(self) -> str:
        return next(self._left)


class AsyncPlain(AsyncIterator[str]):
    """The asynchronous one."""

    def __init__(self) -> None:
        self._left = iter(TOKENS)

    async def __anext__(self) -> str:
        for token in self._left:
            return token
        raise StopAsyncIteration


@pytest.fixture
def model(bench: Bench) -> Model:
    """Return a model on a session that lowers at once."""
    return Model(bench.controller.session("balanced"))


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Yield a gate; close it, and assert that nothing stays behind."""
    made = Gate()
    yield made
    made.close()


def assert_down(bench: Bench, session: Session) -> None:
    """Assert that the inference ended, at the latest on the other thread, and that the votes are down."""
    bench.time.advance_us(0)
    assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_a_plain_function(bench: Bench, model: Model) -> None:
    """Each call is an inference; arguments, result, name and exceptions pass."""

    @model.session.votes
    def run(token: str, *, times: int) -> str:
        """Run the model."""
        return model.token(token) * times

    assert run("to", times=2) == "toto"
    assert_down(bench, model.session)
    assert (run.__name__, run.__doc__) == ("run", "Run the model.")
    with pytest.raises(ZeroDivisionError):
        model.session.votes(lambda: 1 // 0)()
    assert_down(bench, model.session)
    assert len(bench.sets) == 4


def test_every_kind_of_function_stays_of_its_kind(model: Model) -> None:
    """What inspect says of a function it says of the decorated one; partials and callable objects are seen through."""

    async def run() -> None:
        """Do nothing."""

    class Callable_:  # noqa: N801 - its name would hide the type's
        async def __call__(self) -> None:
            """Do nothing."""

    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    votes = model.session.votes
    for function, said in (
        (run, [True, False, False]),
        (functools.partial(run), [True, False, False]),
        (Callable_(), [True, False, False]),
        (model.generate, [False, True, False]),
        (model.agenerate, [False, False, True]),
        (len, [False, False, False]),
    ):
        assert [kind(votes(function)) for kind in kinds] == said


def test_a_coroutine_function(gate: Gate) -> None:
    """The inference lasts for as long as the coroutine does; one that is cancelled is lowered."""
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
class TestGenerator:
    """A generator under ``votes``, and one that is given to ``stream``."""

    def made(self, how: str, model: Model) -> Generator[str, object, int]:
        """Return the generator."""
        if how == "votes":
            return model.session.votes(model.generate)()
        return model.session.stream(model.generate())  # type: ignore[return-value]

    def test_exhausted(self, how: str, bench: Bench, model: Model) -> None:
        """One raise before the first token, one lowering after the last, at once."""
        assert list(self.made(how, model)) == TOKENS
        assert (model.session.in_flight, model.session.state) == (0, State.LOWERED)
        assert (len(bench.sets), model.ends) == (2, ["done"])

    def test_never_begun(self, how: str, bench: Bench, model: Model) -> None:
        """A generator that is made, closed and collected without a first token casts no vote."""
        generator = self.made(how, model)
        generator.close()
        del generator
        self.made(how, model)
        gc.collect()
        bench.time.advance_us(0)
        assert (model.session.in_flight, bench.sets, model.ends) == (0, [], [])

    def test_closed(self, how: str, bench: Bench, model: Model) -> None:
        """Closing after a token closes the inner generator, and lowers."""
        generator = self.made(how, model)
        next(generator)
        assert model.session.in_flight == 1
        generator.close()
        assert model.ends == ["GeneratorExit"]
        assert_down(bench, model.session)

    def test_thrown_into(self, how: str, bench: Bench, model: Model) -> None:
        """What is thrown in reaches the inner generator, which may go on; what it lets pass lowers."""
        generator = self.made(how, model)
        next(generator)
        error = KeyError()
        assert generator.throw(error) == "be"
        assert (model.heard, model.session.in_flight) == ([error], 1)
        with pytest.raises(OSError, match="over"):
            generator.throw(OSError("over"))
        assert model.ends == ["OSError"]
        assert_down(bench, model.session)

    def test_sent_to(self, how: str, bench: Bench, model: Model) -> None:
        """What is sent in reaches the inner generator, and its return value comes out."""
        generator = self.made(how, model)
        assert [next(generator), generator.send(1), generator.send(2)] == TOKENS
        with pytest.raises(StopIteration) as stop:
            generator.send(3)
        assert (stop.value.value, model.heard) == (3, [1, 2, 3])
        assert_down(bench, model.session)

    def test_collected_in_a_cycle_under_the_locks(self, how: str, bench: Bench, model: Model) -> None:
        """Collected where this thread holds the session's and the keeper's lock: no deadlock, and lowered soon after."""
        cycle: list[Any] = [self.made(how, model)]
        next(cycle[0])
        cycle.append(cycle)
        del cycle
        with bench.controller._keeper.lock, model.session._lock:
            gc.collect()
            assert model.ends == ["GeneratorExit"]
        assert_down(bench, model.session)

    def test_collected_where_its_end_fails(
        self, how: str, bench: Bench, model: Model, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A generator that raises when it is collected ends its inference in the same way."""
        unraisable: list[Any] = []
        monkeypatch.setattr("sys.unraisablehook", unraisable.append)

        def generate() -> Iterator[str]:
            try:
                yield "to"
            finally:
                raise OSError("no end")

        session = model.session
        generator = session.votes(generate)() if how == "votes" else session.stream(generate())
        next(generator)
        with session._lock:
            del generator
            gc.collect()
        assert [type(said.exc_value) for said in unraisable] == [OSError]
        assert_down(bench, session)


def test_iterators_that_are_no_generators(bench: Bench, model: Model) -> None:
    """An iterator with ``next`` alone and a list of tokens are streams; both may be closed."""
    for tokens in (Plain(), TOKENS):
        stream = model.session.stream(tokens)
        assert next(stream) == "to"
        assert model.session.in_flight == 1
        stream.close()
        assert_down(bench, model.session)
        assert list(model.session.stream(tokens))[-1:] == TOKENS[-1:]
        assert_down(bench, model.session)


def test_streams_inside_a_window_make_no_call(bench: Bench) -> None:
    """100 streams within the sustain time cost one raise."""
    session = bench.controller.session("burst")
    for _ in range(100):
        assert list(session.stream(TOKENS)) == TOKENS
    assert len(bench.sets) == 1
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert_down(bench, session)


@pytest.mark.parametrize("how", ["votes", "stream"])
class TestAsyncGenerator:
    """An asynchronous generator under ``votes``, and one that is given to ``stream``."""

    def run(self, how: str, gate: Gate, scenario: Callable[[Model, AsyncGenerator[str, object]], Any]) -> Model:
        """Run a scenario on a generator, and assert that it leaves the votes down."""
        session = gate.controller.session("balanced")
        model = Model(session)

        async def main() -> None:
            made = session.votes(model.agenerate)() if how == "votes" else session.stream(model.agenerate())
            await scenario(model, made)  # type: ignore[arg-type]

        asyncio.run(main())
        gate.drain()
        assert (session.in_flight, session.state) == (0, State.LOWERED)
        return model

    def test_exhausted(self, how: str, gate: Gate) -> None:
        """One raise before the first token, one lowering after the last, which is awaited."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            assert [token async for token in generator] == TOKENS
            assert (model.session.in_flight, model.session.state) == (0, State.LOWERED)

        assert self.run(how, gate, scenario).ends == ["done"]
        assert gate.sets == 2

    def test_closed(self, how: str, gate: Gate) -> None:
        """``aclose`` closes the inner generator, and lowers."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            await anext(generator)
            assert model.session.in_flight == 1
            await generator.aclose()
            assert model.ends == ["GeneratorExit"]

        self.run(how, gate, scenario)

    def test_sent_to_and_thrown_into(self, how: str, gate: Gate) -> None:
        """What is sent and thrown in reaches the inner generator; what it lets pass lowers."""

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
        """One that is dropped mid-way is closed by its loop."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            cycle: list[Any] = [generator]
            cycle.append(cycle)
            await anext(generator)
            del generator, cycle

        async def collected(model: Model, generator: AsyncGenerator[str, object]) -> None:
            await scenario(model, generator)
            del generator
            gc.collect()
            await until(lambda: model.ends == ["GeneratorExit"])

        self.run(how, gate, collected)

    def test_cancelled_between_tokens(self, how: str, gate: Gate) -> None:
        """A task that is cancelled while the model makes a token leaves nothing up."""

        async def scenario(model: Model, generator: AsyncGenerator[str, object]) -> None:
            async def read() -> None:
                async for _ in generator:
                    pass

            task = asyncio.create_task(read())
            await until(lambda: model.heard)
            assert await cancelled(task)
            assert model.ends == ["CancelledError"]

        self.run(how, gate, scenario)


def test_an_asynchronous_generator_left_behind_by_its_loop(gate: Gate) -> None:
    """A loop that was closed without shutting its generators down: the votes come down when they are collected."""
    session = gate.controller.session("balanced")
    loop = asyncio.new_event_loop()
    generator = session.stream(AsyncPlain())
    assert loop.run_until_complete(anext(generator)) == "to"
    loop.close()
    assert session.in_flight == 1
    with session._lock:
        del generator
        gc.collect()
    gate.drain()
    assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_an_asynchronous_generator_that_is_never_begun(gate: Gate) -> None:
    """It casts no vote and warns of nothing."""
    session = gate.controller.session("balanced")
    session.stream(AsyncPlain())
    session.votes(Model(session).agenerate)()
    gc.collect()
    assert (session.in_flight, gate.sets, gate.posts) == (0, 0, 0)


def test_an_asynchronous_iterator_that_is_no_generator(gate: Gate) -> None:
    """An iterator with ``anext`` alone is a stream; what is thrown into it passes."""
    session = gate.controller.session("balanced")

    async def scenario() -> None:
        assert [token async for token in session.stream(AsyncPlain())] == TOKENS
        stream = session.stream(AsyncPlain())
        await anext(stream)
        with pytest.raises(KeyError):
            await stream.athrow(KeyError())

    asyncio.run(scenario())
    gate.drain()
    assert (session.in_flight, session.state) == (0, State.LOWERED)
