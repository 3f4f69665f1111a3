"""Streams with an idle timeout: the votes are lowered if the reader does not ask for the next token."""

from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import BURST_SUSTAIN_US, Bench
from support.inside import gate_of

from htppower import SessionClosed, State, VoteRejected
from htppower.control.time.locks import is_held

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from types import FrameType

    from htppower import Session

IDLE_US = 50_000
WORDS = ["to", "be", "or", "not"]


class Model:
    """Gives tokens, and records the number of inferences in flight at each."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seen: list[tuple[int, State]] = []
        self.got: list[object] = []
        self.closed = 0
        self.wait: Callable[[], object] = lambda: None

    def generate(self) -> Iterator[str]:
        """Give tokens; record sent values and thrown exceptions."""
        try:
            for word in WORDS:
                self._note()
                try:
                    self.got.append((yield word))
                except KeyError as error:
                    self.got.append(error)
            self._note()
        finally:
            self.closed += 1

    async def agenerate(self) -> AsyncIterator[str]:
        """Do the same for an asynchronous loop."""
        try:
            for word in WORDS:
                self._note()
                try:
                    self.got.append((yield word))
                except KeyError as error:
                    self.got.append(error)
            self._note()
        finally:
            self.closed += 1

    def _note(self) -> None:
        self.wait()
        self.seen.append((self.session.in_flight, self.session.state))


class Reader:
    """Reads a stream of either kind, step by step."""

    def __init__(self, bench: Bench, kind: str, profile: str = "balanced") -> None:
        self.bench = bench
        self.session = bench.controller.session(profile)
        self.model = Model(self.session)
        self._loop = asyncio.new_event_loop() if kind == "asynchronous" else None
        tokens: Any = self.model.generate() if self._loop is None else self.model.agenerate()
        self.stream: Any = self.session.stream(tokens, idle_timeout_us=IDLE_US)

    def next(self) -> Any:
        """Ask for the next token."""
        return self._step("__anext__", "__next__")

    def send(self, value: object) -> Any:
        """Send a value in."""
        return self._step("asend", "send", value)

    def throw(self, error: BaseException) -> Any:
        """Throw an exception in."""
        return self._step("athrow", "throw", error)

    def close(self) -> None:
        """Close the stream."""
        self._step("aclose", "close")

    def end(self) -> None:
        """Close the loop, if there is one."""
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _step(self, asynchronous: str, plain: str, *arguments: object) -> Any:
        if self._loop is None:
            return getattr(self.stream, plain)(*arguments)
        stream, loop = self.stream, self._loop

        async def step() -> Any:
            return await getattr(stream, asynchronous)(*arguments)

        return loop.run_until_complete(step())


@pytest.fixture(params=["plain", "asynchronous"])
def reader(request: pytest.FixtureRequest, bench: Bench) -> Iterator[Reader]:
    """Yield a reader of a stream of each kind."""
    made = Reader(bench, request.param)
    yield made
    made.end()


def test_a_reader_that_keeps_reading_has_one_inference(reader: Reader) -> None:
    """Many tokens, slow or fast, are one inference, with at most one alarm."""
    reader.model.wait = lambda: reader.bench.time.advance_us(3 * IDLE_US)
    for _ in range(3):
        reader.next()
        reader.bench.time.advance_us(IDLE_US - 1)
        assert (reader.session.in_flight, reader.session.state, reader.bench.time.alarms) == (1, State.RAISED, 1)
    assert reader.model.seen == [(1, State.RAISED)] * 3
    assert len(reader.bench.casts) == 1


def test_a_reader_that_goes_away_lowers(reader: Reader) -> None:
    """The votes are lowered exactly one timeout after the last token, and no alarm is left."""
    reader.next()
    reader.bench.time.advance_us(IDLE_US // 2)
    reader.next()
    reader.bench.time.advance_us(IDLE_US - 1)
    assert reader.session.in_flight == 1
    reader.bench.time.advance_us(1)
    assert (reader.session.in_flight, reader.session.state) == (0, State.LOWERED)
    assert reader.bench.time.alarms == 0


def test_a_reader_that_comes_back_has_its_votes_before_the_next_token(reader: Reader) -> None:
    """``next``, ``send`` and ``throw`` raise the votes again before the next token; the stream ends as usual."""
    reader.next()
    for ask in (reader.next, lambda: reader.send(1), lambda: reader.throw(KeyError("mine"))):
        reader.bench.time.advance_us(IDLE_US)
        assert (reader.session.in_flight, reader.session.state) == (0, State.LOWERED)
        assert ask() in WORDS
    assert reader.model.seen == [(1, State.RAISED)] * 4
    assert [str(each) for each in reader.model.got] == ["None", "1", "'mine'"]
    reader.bench.time.advance_us(IDLE_US)
    with pytest.raises((StopIteration, StopAsyncIteration)):
        reader.next()
    assert reader.model.seen[-1] == (1, State.RAISED)
    assert (reader.session.in_flight, reader.session.state, reader.model.closed) == (0, State.LOWERED, 1)


def test_a_reader_that_comes_back_and_reads_on_begins_once(reader: Reader) -> None:
    """A reader that comes back has one inference until it stops reading again."""
    for _ in range(2):
        reader.next()
        reader.next()
        assert (reader.session.in_flight, reader.bench.time.alarms) == (1, 1)
        reader.bench.time.advance_us(IDLE_US)
        assert reader.session.in_flight == 0
    assert reader.model.seen == [(1, State.RAISED)] * 4


def test_a_model_that_votes_by_itself_waits_for_its_votes(reader: Reader) -> None:
    """A model may begin an inference of its own: its thread must not be mistaken for the controller's worker."""
    other, states = reader.bench.controller.session("balanced"), list[State]()

    def infer() -> None:
        ticket = other.begin()
        states.append(other.state)
        ticket.end()
        states.append(other.state)

    reader.model.wait = infer
    reader.next()
    assert states == [State.RAISED, State.LOWERED]


@pytest.mark.parametrize("idle", [True, False])
def test_closing_it_begins_nothing(reader: Reader, idle: bool) -> None:
    """Closing an idle stream closes its iterator, without raising votes."""
    reader.next()
    sets = len(reader.bench.casts)
    if idle:
        reader.bench.time.advance_us(IDLE_US)
        sets += 1
    reader.close()
    assert reader.model.closed == 1
    assert len(reader.bench.casts) == sets
    reader.bench.time.advance_us(0)
    assert (reader.session.in_flight, reader.session.state) == (0, State.LOWERED)


def test_a_stream_that_is_dropped_ends_as_any_other(bench: Bench) -> None:
    """A dropped stream is collected at once, even with an alarm armed."""
    reader = Reader(bench, "plain")
    reader.next()
    session = reader.session
    del reader.stream
    gc.collect()
    bench.time.advance_us(0)
    assert (session.in_flight, session.state, reader.model.closed) == (0, State.LOWERED, 1)
    bench.time.advance_us(IDLE_US)
    assert bench.time.alarms == 0


def test_the_sustain_time_counts_from_the_end_of_the_inference(bench: Bench) -> None:
    """If the reader comes back within the sustain time, no call is made."""
    reader = Reader(bench, "plain", "burst")
    reader.next()
    bench.time.advance_us(IDLE_US + BURST_SUSTAIN_US - 1)
    assert (reader.session.in_flight, reader.session.state) == (0, State.RAISED)
    reader.next()
    assert len(bench.casts) == 1
    bench.time.advance_us(IDLE_US + BURST_SUSTAIN_US)
    assert reader.session.state is State.LOWERED


@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
def test_what_refuses_to_begin_again_is_raised_to_the_reader(kind: str) -> None:
    """The error of a closed session or a failed vote is raised to the reader, and the iterator is closed."""

    def fails(reader: Reader) -> None:
        reader.bench.simulated.fail_next(13006)

    cases: list[tuple[Callable[[Reader], None], type[Exception]]] = [
        (fails, VoteRejected),
        (lambda reader: reader.session.close(), SessionClosed),
    ]
    for prepare, expected in cases:
        reader = Reader(Bench.make(on_error="raise"), kind)
        reader.next()
        reader.bench.time.advance_us(IDLE_US)
        prepare(reader)
        with pytest.raises(expected):
            reader.next()
        assert (reader.session.in_flight, reader.model.closed) == (0, 1)
        reader.end()
        reader.bench.controller.close()


def test_an_iterator_that_is_no_generator(bench: Bench) -> None:
    """A list can be a stream, although it has no ``send``, ``throw`` or ``close``."""
    session = bench.controller.session("balanced")
    assert list(session.stream(WORDS, idle_timeout_us=IDLE_US)) == WORDS
    stream = session.stream(WORDS, idle_timeout_us=IDLE_US)
    next(stream)
    with pytest.raises(KeyError):
        stream.throw(KeyError())
    closed = session.stream(WORDS, idle_timeout_us=IDLE_US)
    next(closed)
    closed.close()
    bench.time.advance_us(0)
    assert session.in_flight == 0


def test_a_timeout_that_cant_be_one_is_refused(bench: Bench) -> None:
    """The call raises at once, before a token is read."""
    session = bench.controller.session("balanced")
    with pytest.raises(ValueError, match="idle_timeout_us is 0: 1 or more"):
        session.stream(WORDS, idle_timeout_us=0)


class _AtOpcode:
    """Runs an action before the n-th bytecode of the core, unless a lock is held, as another thread could."""

    def __init__(self, nth: int, lock: Any, action: Callable[[], object]) -> None:
        self._left = nth
        self._lock = lock
        self._action = action
        self.came = False

    def __call__(self, frame: FrameType, event: str, _argument: object) -> Any:
        if self.came or not frame.f_code.co_filename.endswith(("phases.py", "streams.py")):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and not is_held(self._lock):
            self._left -= 1
            if self._left < 0:
                self.came = True
                sys.settrace(None)
                self._action()
        return self


@pytest.mark.skipif((3, 12) <= sys.version_info < (3, 13), reason="3.12 traces no bytecode that is asked for so late")
@pytest.mark.parametrize("kind", ["plain", "asynchronous"])
def test_a_stream_that_is_closed_as_its_timeout_rings_ends_once(bench: Bench, kind: str) -> None:
    """If the alarm rings between any two bytecodes of the close, one inference ends, and no other."""
    came = []
    for nth in itertools.count():
        reader = Reader(bench, kind, "burst")
        with reader.session.inference():
            reader.next()
            at = _AtOpcode(nth, gate_of(reader.session).lock, functools.partial(bench.time.advance_us, IDLE_US))
            before = sys.gettrace()
            sys.settrace(at)
            try:
                reader.close()
            finally:
                sys.settrace(before)
            bench.time.advance_us(IDLE_US)
            assert reader.session.in_flight == 1, nth
        reader.end()
        assert reader.session.in_flight == 0
        reader.session.close()
        came.append(at.came)
        if not at.came:
            break
    assert sum(came) > 20


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_that_has_ended_leaves_no_alarm(bench: Bench, asynchronous: bool) -> None:
    """A stream that has ended leaves no alarm, even with a long idle timeout."""
    session = bench.controller.session("high_performance")

    async def words() -> AsyncIterator[str]:
        for word in WORDS:
            yield word

    async def read() -> None:
        assert [word async for word in session.stream(words(), idle_timeout_us=10**12)] == WORDS

    if asynchronous:
        asyncio.run(read())
    else:
        assert list(session.stream(iter(WORDS), idle_timeout_us=10**12)) == WORDS
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert bench.time.alarms == 0
