"""Token streams of each kind, and a model that makes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from htppower import State

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from htppower import Session

TOKENS = ["to", "be", "or"]


class Model:
    """Makes tokens in each of the four ways, and records how it is notified of the stream's end."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.ends: list[str] = []
        self.heard: list[object] = []
        self.stuck = False

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
                await (asyncio.Event().wait() if self.stuck else asyncio.sleep(0))
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
