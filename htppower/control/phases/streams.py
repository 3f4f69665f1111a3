"""Functions and token streams that vote: each call, or each stream from its first token on, is one inference."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Any, TypeVar

from htppower.control.phases.async_blocks import AsyncInference
from htppower.control.phases.blocks import Inference
from htppower.control.phases.stream_inference import StreamInference

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterable

    from htppower.control.phases.blocks import Phases

Function = TypeVar("Function", bound="Callable[..., Any]")
Token = TypeVar("Token")


def vote_on_calls(phases: Phases, function: Function) -> Function:
    """Return a function of the same kind as the given one; each of its calls is an inference of the session."""
    if isinstance(function, type):
        raise TypeError(f"{function!r} is a class, which would be a function then: put votes on its methods")
    if not callable(function):
        raise TypeError(f"{function!r} can't be called: give a function, with classmethod or staticmethod above votes")
    kinds: tuple[tuple[Any, Any], ...] = (
        (inspect.isasyncgenfunction, _async_stream),
        (_is_awaited, _coroutine),
        (inspect.isgeneratorfunction, _stream),
    )
    make = next((make for kind, make in kinds if _is(kind, function)), _plain)
    return make(phases, function)  # type: ignore[return-value]


def vote_on_stream(
    phases: Phases,
    tokens: Iterable[Token] | AsyncIterable[Token],
    idle_timeout_us: int | None = None,
    inference: Any = None,
    first_token: Callable[[], object] | None = None,
) -> Generator[Token, None, None] | AsyncGenerator[Token, None]:
    """Return the tokens of an iterator, asynchronous or not; together they are one inference of the session.

    The inference may be another context manager than the session's own, and ``first_token`` is called after its first
    token.
    """
    made: Callable[..., Any] = _async_stream if isinstance(tokens, AsyncIterable) else _stream
    if made is _stream and not hasattr(tokens, "__iter__"):
        raise TypeError(f"{tokens!r} gives no tokens: give an iterator, such as what a generator function returns")

    def stream() -> Any:
        return tokens

    return made(phases, stream, idle_timeout_us, inference, first_token)()  # type: ignore[no-any-return]


def _is(kind: Callable[[object], bool], function: Callable[..., Any]) -> bool:
    """Return whether an object is a function of this kind, or calls one by ``partial`` or ``__call__``."""
    while isinstance(function, (functools.partial, staticmethod)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    return kind(function) or kind(type(function).__call__)


def _is_awaited(function: object) -> bool:
    # ``types.coroutine`` marks a generator function as a coroutine function by this flag alone.
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return inspect.iscoroutinefunction(function) or bool(flags & inspect.CO_ITERABLE_COROUTINE)


def _plain(phases: Phases, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def voted(*args: Any, **kwargs: Any) -> Any:
        with Inference(phases):
            return function(*args, **kwargs)

    return voted


def _coroutine(phases: Phases, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def voted(*args: Any, **kwargs: Any) -> Any:
        async with AsyncInference(phases):
            return await function(*args, **kwargs)

    return voted


def _stream(
    phases: Phases,
    function: Callable[..., Any],
    idle_timeout_us: int | None = None,
    inference: Any = None,
    first_token: Callable[[], object] | None = None,
) -> Callable[..., Generator[Any, Any, Any]]:
    @functools.wraps(function)
    def voted(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        stream = StreamInference(phases, inference or Inference(phases), idle_timeout_us, first_token)
        with stream:
            tokens = function(*args, **kwargs)
            return (yield from (_Tokens(tokens, stream) if stream.watches else tokens))

    return voted


def _async_stream(
    phases: Phases,
    function: Callable[..., AsyncIterable[Any]],
    idle_timeout_us: int | None = None,
    inference: Any = None,
    first_token: Callable[[], object] | None = None,
) -> Callable[..., AsyncGenerator[Any, Any]]:
    @functools.wraps(function)
    async def voted(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        stream = StreamInference(phases, inference or AsyncInference(phases), idle_timeout_us, first_token)
        async with stream:
            tokens: Any = aiter(function(*args, **kwargs))
            try:
                # Does what ``yield from`` does, which asynchronous generators do not have.
                step = tokens.__anext__
                while True:
                    token = await stream.anext_token(step)
                    try:
                        sent = yield token
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        if not hasattr(tokens, "athrow"):
                            raise
                        step = functools.partial(tokens.athrow, error)
                    else:
                        step = tokens.__anext__ if sent is None else functools.partial(tokens.asend, sent)
            except StopAsyncIteration:
                pass
            finally:
                if hasattr(tokens, "aclose"):
                    await tokens.aclose()

    return voted


class _Tokens:
    """The tokens of an iterator, which the stream's inference watches; all other calls go to the iterator."""

    def __init__(self, tokens: Iterable[Any], stream: StreamInference) -> None:
        self._tokens: Any = iter(tokens)
        self._stream = stream

    def __iter__(self) -> _Tokens:
        return self

    def __next__(self) -> Any:
        return self._stream.next_token(self._tokens.__next__)

    def send(self, value: object) -> Any:
        """Send a value, as to a generator."""
        return self._stream.next_token(functools.partial(self._tokens.send, value))

    def throw(self, error: BaseException, *others: Any) -> Any:
        """Throw an exception, as into a generator."""
        if not hasattr(self._tokens, "throw"):
            raise error
        return self._stream.next_token(functools.partial(self._tokens.throw, error, *others))

    def close(self) -> None:
        """Close the iterator, if it can be closed."""
        if hasattr(self._tokens, "close"):
            self._tokens.close()
