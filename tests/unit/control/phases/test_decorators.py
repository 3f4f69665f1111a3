"""Functions and token streams that vote: one inference for each call, or from the first token to the last."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import types
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import BURST_SUSTAIN_US
from support.inside import gate_of
from support.streams import TOKENS, Model, Plain

from htppower import State

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from support.bench import Bench

    from htppower import Session


@pytest.fixture
def model(bench: Bench) -> Model:
    """Return a model on a session without a sustain time."""
    return Model(bench.controller.session("balanced"))


def assert_down(bench: Bench, session: Session) -> None:
    """Assert that the inference has ended and the votes are down, after the other thread had its turn."""
    bench.time.advance_us(0)
    assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_a_plain_function(bench: Bench, model: Model) -> None:
    """Each call is an inference; arguments, result, name and exceptions are unchanged."""

    @model.session.votes
    def run(token: str, *, times: int) -> str:
        """Run the model once."""
        return model.token(token) * times

    assert run("to", times=2) == "toto"
    assert_down(bench, model.session)
    assert (run.__name__, run.__doc__) == ("run", "Run the model once.")
    with pytest.raises(ZeroDivisionError):
        model.session.votes(lambda: 1 // 0)()
    assert_down(bench, model.session)
    assert len(bench.casts) == 4


def test_every_kind_of_function_stays_of_its_kind(model: Model) -> None:
    """``inspect`` says the same of the decorated function, also for partials and callable objects."""

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
        (functools.partial(functools.partial(Callable_())), [True, False, False]),
        (staticmethod(run), [True, False, False]),
        (model.generate, [False, True, False]),
        (model.agenerate, [False, False, True]),
        (len, [False, False, False]),
    ):
        assert [kind(votes(function)) for kind in kinds] == said


def test_a_generator_that_is_made_a_coroutine_is_awaited(model: Model) -> None:
    """A generator function under ``types.coroutine`` is awaited within its inference, as a coroutine is."""
    seen: list[tuple[int, str]] = []

    @model.session.votes
    @types.coroutine
    def run() -> Generator[None, None, str]:
        """Let other tasks run, and return."""
        yield
        seen.append((model.session.in_flight, model.session.state))
        return "done"

    async def scenario() -> str:
        return await run()

    assert asyncio.run(scenario()) == "done"
    assert seen == [(1, State.RAISED)]
    assert (model.session.in_flight, model.session.state) == (0, State.LOWERED)


@pytest.mark.parametrize("how", ["votes", "stream"])
class TestGenerator:
    """A generator under ``votes``, and a generator given to ``stream``."""

    def made(self, how: str, model: Model) -> Generator[str, object, int]:
        """Return the generator."""
        if how == "votes":
            return model.session.votes(model.generate)()
        return model.session.stream(model.generate())  # type: ignore[return-value]

    def test_exhausted(self, how: str, bench: Bench, model: Model) -> None:
        """The votes are raised once before the first token, and lowered once right after the last."""
        assert list(self.made(how, model)) == TOKENS
        assert (model.session.in_flight, model.session.state) == (0, State.LOWERED)
        assert (len(bench.casts), model.ends) == (2, ["done"])

    def test_never_begun(self, how: str, bench: Bench, model: Model) -> None:
        """A generator that is made, closed and collected without a token sends no vote."""
        generator = self.made(how, model)
        generator.close()
        del generator
        self.made(how, model)
        gc.collect()
        bench.time.advance_us(0)
        assert (model.session.in_flight, bench.sets, model.ends) == (0, [], [])

    def test_closed(self, how: str, bench: Bench, model: Model) -> None:
        """Closing the stream after a token closes the inner generator, and lowers the votes."""
        generator = self.made(how, model)
        next(generator)
        assert model.session.in_flight == 1
        generator.close()
        assert model.ends == ["GeneratorExit"]
        assert_down(bench, model.session)

    def test_thrown_into(self, how: str, bench: Bench, model: Model) -> None:
        """A thrown exception reaches the inner generator, which may continue; if not, the votes are lowered."""
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
        """A sent value reaches the inner generator, and its return value is passed on."""
        generator = self.made(how, model)
        assert [next(generator), generator.send(1), generator.send(2)] == TOKENS
        with pytest.raises(StopIteration) as stop:
            generator.send(3)
        assert (stop.value.value, model.heard) == (3, [1, 2, 3])
        assert_down(bench, model.session)

    def test_collected_in_a_cycle_under_the_gate(self, how: str, bench: Bench, model: Model) -> None:
        """If a stream is collected while this thread holds the gate, nothing waits, and the votes are lowered soon."""
        cycle: list[Any] = [self.made(how, model)]
        next(cycle[0])
        cycle.append(cycle)
        del cycle
        with gate_of(model.session).lock:
            gc.collect()
            assert model.ends == ["GeneratorExit"]
        assert_down(bench, model.session)

    def test_collected_where_its_end_fails(
        self, how: str, bench: Bench, model: Model, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The inference ends even if the generator raises an error while it is collected."""
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
        with gate_of(session).lock:
            del generator
            gc.collect()
        assert [type(said.exc_value) for said in unraisable] == [OSError]
        assert_down(bench, session)


def test_iterators_that_are_no_generators(bench: Bench, model: Model) -> None:
    """An iterator with only ``next``, and a list of tokens, can be streams, and can be closed."""
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
    assert len(bench.casts) == 1
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert_down(bench, session)


@pytest.mark.parametrize("wrong", [3, classmethod(lambda cls: cls)])
def test_what_can_not_be_called_is_refused_where_it_is_decorated(bench: Bench, wrong: Any) -> None:
    """The decorator raises TypeError for an object that can't be called, and no vote is sent."""
    session = bench.controller.session("burst")
    with pytest.raises(TypeError, match="can't be called"):
        session.votes(wrong)


@pytest.mark.parametrize("wrong", [5, None, len])
def test_what_gives_no_tokens_is_refused_before_it_is_voted_for(bench: Bench, wrong: Any) -> None:
    """The call raises TypeError if its result gives no tokens, and no vote is sent."""
    session = bench.controller.session("burst")
    with pytest.raises(TypeError, match="gives no tokens"):
        session.stream(wrong)
    assert bench.sets == []
