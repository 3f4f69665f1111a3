"""Functions and token streams that vote: each call, or each stream from its first token on, is one inference.

A stream that does not come to its own end, be it closed, thrown into, failed or garbage collected, ends its inference
on another thread: a generator may be collected anywhere, also where this thread holds a lock that ending needs.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from htppower.control.async_phases import AsyncInference
from htppower.control.idle import watched_async_tokens, watched_tokens
from htppower.control.phases import Inference

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable

    from htppower.control.phases import Phases

Function = TypeVar("Function", bound="Callable[..., Any]")
Token = TypeVar("Token")


def vote_on_calls(phases: Phases, function: Function) -> Function:
    """Return a function of the same kind of which every call is an inference of the session."""
    if not callable(function):
        raise TypeError(f"{function!r} can't be called: give a function, with classmethod or staticmethod above votes")
    wrapped: Any
    if _is(inspect.isasyncgenfunction, function):
        wrapped = _async_stream(phases, function)
    elif _is(inspect.isgeneratorfunction, function):
        wrapped = _stream(phases, function)
    elif _is(inspect.iscoroutinefunction, function):
        wrapped = _coroutine(phases, function)
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
    """Return whether a function is of a kind, or an object that is called as one."""
    return kind(function) or kind(type(function).__call__)


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
            inference.end_soon()
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
