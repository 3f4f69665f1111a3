"""Functions and token streams that vote: each call, or each stream from its first token on, is one inference.

A stream that does not come to its own end, be it closed, thrown into, failed or garbage collected, ends its inference
on another thread: a generator may be collected anywhere, also where this thread holds a lock that ending needs.

Under an idle timeout, the inference of a stream ends after a time in which its reader has a token and asks for no
other. A reader that comes back begins it again, before the next token is made. The alarm is lazy: a token costs a lock,
twice, and a clock read, and an alarm only where none is armed.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from htppower.control.phases.async_blocks import AsyncInference
from htppower.control.phases.blocks import Inference
from htppower.control.phases.idle_timeout import IdleTimeout

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable

    from htppower.control.phases.blocks import Phases

Function = TypeVar("Function", bound="Callable[..., Any]")
Token = TypeVar("Token")


def vote_on_calls(phases: Phases, function: Function) -> Function:
    """Return a function of the same kind of which every call is an inference of the session."""
    if isinstance(function, type):
        raise TypeError(f"{function!r} is a class, which would be a function then: put votes on its methods")
    if not callable(function):
        raise TypeError(f"{function!r} can't be called: give a function, with classmethod or staticmethod above votes")
    wrapped: Any
    if _is(inspect.isasyncgenfunction, function):
        wrapped = _async_stream(phases, function)
    elif _is(_is_awaited, function):
        wrapped = _coroutine(phases, function)
    elif _is(inspect.isgeneratorfunction, function):
        wrapped = _stream(phases, function)
    else:
        wrapped = _plain(phases, function)
    return wrapped  # type: ignore[no-any-return]


def vote_on_stream(
    phases: Phases, tokens: Iterable[Token], idle_timeout_us: int | None = None
) -> Generator[Token, None, None]:
    """Return the tokens of an iterator; they are one inference of the session."""
    if not hasattr(tokens, "__iter__"):
        raise TypeError(f"{tokens!r} gives no tokens: give an iterator, such as what a generator function returns")

    def stream() -> Iterable[Token]:
        return tokens

    return _stream(phases, stream, idle_timeout_us)()


def vote_on_async_stream(
    phases: Phases, tokens: AsyncIterable[Token], idle_timeout_us: int | None = None
) -> AsyncGenerator[Token, None]:
    """Return the tokens of an asynchronous iterator; they are one inference of the session."""

    def stream() -> AsyncIterable[Token]:
        return tokens

    return _async_stream(phases, stream, idle_timeout_us)()


def _is(kind: Callable[[object], bool], function: Callable[..., Any]) -> bool:
    """Return whether a function is of a kind, or an object that is called as one, with or without arguments set."""
    while isinstance(function, (functools.partial, staticmethod)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    return kind(function) or kind(type(function).__call__)


def _is_awaited(function: object) -> bool:
    # A generator function under ``types.coroutine`` is a coroutine function by this flag alone.
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
    phases: Phases, function: Callable[..., Any], idle_timeout_us: int | None = None
) -> Callable[..., Generator[Any, Any, Any]]:
    @functools.wraps(function)
    def voted(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        inference = Inference(phases)
        inference.__enter__()
        try:
            result = yield from watched_tokens(phases, inference, function(*args, **kwargs), idle_timeout_us)
        except BaseException:
            phases.gate.time.call_soon(inference.end)
            raise
        inference.__exit__(None, None, None)
        return result

    return voted


def _async_stream(
    phases: Phases, function: Callable[..., AsyncIterable[Any]], idle_timeout_us: int | None = None
) -> Callable[..., AsyncGenerator[Any, Any]]:
    @functools.wraps(function)
    async def voted(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        inference = AsyncInference(phases)
        await inference.__aenter__()
        try:
            made = watched_async_tokens(phases, inference, function(*args, **kwargs), idle_timeout_us)
            inner: Any = aiter(made)
            try:
                # What ``yield from`` does for a generator; there is none for an asynchronous one.
                token = await anext(inner)
                while True:
                    try:
                        sent = yield token
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        if not hasattr(inner, "athrow"):
                            raise
                        token = await inner.athrow(error)
                    else:
                        token = await (anext(inner) if sent is None else inner.asend(sent))
            except StopAsyncIteration:
                pass
            finally:
                if hasattr(inner, "aclose"):
                    await inner.aclose()
        except BaseException:
            inference.end_soon()
            raise
        await inference.__aexit__(None, None, None)

    return voted


def watched_tokens(phases: Phases, inference: Inference, tokens: Iterable[Any], timeout_us: int | None) -> Any:
    """Return the tokens of a stream, under an idle timeout if there is one."""
    if timeout_us is None:
        return tokens
    return _Tokens(tokens, inference, IdleTimeout(phases, inference, timeout_us))


def watched_async_tokens(
    phases: Phases, inference: AsyncInference, tokens: AsyncIterable[Any], timeout_us: int | None
) -> AsyncIterable[Any]:
    """As ``watched_tokens``, for an asynchronous iterator."""
    if timeout_us is None:
        return tokens
    return _AsyncTokens(tokens, inference, IdleTimeout(phases, inference, timeout_us))


class _Tokens:
    """The tokens of an iterator, each asked for and given under an idle timeout; the rest is passed on to it."""

    def __init__(self, tokens: Iterable[Any], inference: Inference, idle: IdleTimeout) -> None:
        self._tokens: Any = iter(tokens)
        self._inference = inference
        self._idle = idle

    def __iter__(self) -> _Tokens:
        return self

    def __next__(self) -> Any:
        return self._step(self._tokens.__next__)

    def send(self, value: object) -> Any:
        """Send a value in, as to a generator."""
        return self._step(functools.partial(self._tokens.send, value))

    def throw(self, error: BaseException, *further: Any) -> Any:
        """Throw an exception in, as to a generator."""
        if not hasattr(self._tokens, "throw"):
            raise error
        return self._step(functools.partial(self._tokens.throw, error, *further))

    def close(self) -> None:
        """Close the iterator, where that can be closed."""
        if hasattr(self._tokens, "close"):
            self._tokens.close()

    def _step(self, ask: Callable[[], Any]) -> Any:
        if self._idle.token_wanted():
            self._inference.__enter__()
        try:
            token = ask()
        except BaseException:
            self._idle.over()
            raise
        self._idle.token_given()
        return token


class _AsyncTokens:
    """As ``_Tokens``, for an asynchronous iterator."""

    def __init__(self, tokens: AsyncIterable[Any], inference: AsyncInference, idle: IdleTimeout) -> None:
        self._tokens: Any = aiter(tokens)
        self._inference = inference
        self._idle = idle

    def __aiter__(self) -> _AsyncTokens:
        return self

    async def __anext__(self) -> Any:
        return await self._step(self._tokens.__anext__)

    async def asend(self, value: object) -> Any:
        """Send a value in, as to an asynchronous generator."""
        return await self._step(functools.partial(self._tokens.asend, value))

    async def athrow(self, error: BaseException) -> Any:
        """Throw an exception in, as to an asynchronous generator."""
        if not hasattr(self._tokens, "athrow"):
            raise error
        return await self._step(functools.partial(self._tokens.athrow, error))

    async def aclose(self) -> None:
        """Close the iterator, where that can be closed."""
        if hasattr(self._tokens, "aclose"):
            await self._tokens.aclose()

    async def _step(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        if self._idle.token_wanted():
            await self._inference.__aenter__()
        try:
            token = await ask()
        except BaseException:
            self._idle.over()
            raise
        self._idle.token_given()
        return token
