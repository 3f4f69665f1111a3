"""The client of coroutines: a coroutine waits for its answer, and the event loop does not."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from typing import TYPE_CHECKING, Any

from htppower.client.connection import drop_in_child
from htppower.client.conversation import DISCONNECT, FORKED, Conversation, Held, held, next_step, parsed
from htppower.client.place import default_place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from typing_extensions import Self

    from htppower.client.conversation import Message, Talk


class _Lines(asyncio.Protocol):
    """The answers of the service: each goes to the coroutine that waits for its id."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.problem: ConnectionError | None = None
        self.answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        """Deliver the answers that are whole."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        try:
            for line in lines:
                answer = parsed(line)
                waiting = self.answers.pop(answer.get("id", 0), None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        except ConnectionError as error:
            self.problem = error
            self.connection_lost(error)
            self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """Wake every coroutine that waits."""
        for waiting in self.answers.values():
            if not waiting.done():
                waiting.set_exception(error or ConnectionResetError("the service has ended"))


class AsyncClient:
    """A connection to the service for one event loop. ``connect_async`` makes it; otherwise as ``Client``."""

    def __init__(self, name: str, path: str | None, timeout_s: float) -> None:
        place = path or default_place()
        self._talk = Conversation(name, place, time.monotonic_ns)
        self._connection = _Connection(place, timeout_s)

    @property
    def connected(self) -> bool:
        """Whether there was a connection at the last message."""
        return self._talk.connected

    async def hold(
        self,
        profile: str,
        *,
        reason: str,
        owner: str | None = None,
        deadline_us: int | None = None,
        window_us: int | None = None,
        device_id: int = 0,
        core_ids: Iterable[int] = (0,),
    ) -> AsyncLease:
        """Request a lease: see ``Client.hold``.

        Raises:
            ServiceRefused: the service refuses it, for example since it knows no such profile.
            ValueError: the window is not a whole number of microseconds, 1 or more.
        """
        asked = held(
            profile,
            reason,
            owner=owner,
            deadline_us=deadline_us,
            window_us=window_us,
            device_id=device_id,
            core_ids=tuple(core_ids),
        )
        await self._connection.run(self._talk.hold(asked))
        return AsyncLease(self._connection, self._talk, asked)

    async def status(self) -> dict[str, Any] | None:
        """Return the client's own leases, and the sums over all; None without a service."""
        found: dict[str, Any] | None = await self._connection.run(self._talk.status())
        return found

    async def close(self) -> None:
        """Disconnect; this ends every lease. A later begin would connect again."""
        await self._connection.run(self._talk.close())

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Close the client."""
        await self.close()


class _Connection:
    """The socket or the pipe of a client. One coroutine at a time runs a conversation on it."""

    def __init__(self, path: str, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._lock = asyncio.Lock()
        self._lines: _Lines | None = None
        self._forked = False
        drop_in_child(self)

    def tell(self, message: Message) -> None:
        """Send a message that has no answer. If that fails, the next conversation notices it."""
        if self._lines is not None and not self._lines.transport.is_closing():
            self._lines.transport.write(message.line)

    def disown(self) -> None:
        """Disconnect in a forked child: its copy becomes a descriptor of nothing, as the event loop may close it."""
        self._forked = True
        lines, self._lines = self._lines, None
        end = None if lines is None else lines.transport.get_extra_info("socket")
        if end is not None and end.fileno() >= 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, end.fileno())
            os.close(nothing)

    async def run(self, talk: Talk) -> Any:
        """Run a conversation to its end, and return its result."""
        async with self._lock:
            answer: dict[str, Any] | None = None
            error: BaseException | None = None
            while True:
                try:
                    step = next_step(talk, answer, error)
                except StopIteration as stop:
                    return stop.value
                answer, error = None, None
                try:
                    answer = await self._do(step)
                # A cancellation is thrown into the conversation, too, which ends what it has begun.
                except BaseException as failure:  # noqa: BLE001
                    error = failure
                    if isinstance(failure, OSError):
                        self._drop()

    async def _do(self, step: Message | None) -> dict[str, Any] | None:
        loop: Any = asyncio.get_running_loop()
        if step is None:  # CONNECT
            if self._forked:
                raise ConnectionError(FORKED)
            self._drop()
            opened = loop.create_pipe_connection if os.name == "nt" else loop.create_unix_connection
            # A pipe calls ``connection_made`` later.
            transport, self._lines = await opened(_Lines, self._path)
            self._lines.transport = transport
            return None
        if step is DISCONNECT:
            self._drop()
            return None
        lines = self._lines
        if lines is None or lines.transport.is_closing():
            problem = None if lines is None else lines.problem
            raise problem or ConnectionResetError("the service has ended")
        lines.transport.write(step.line)
        if step.id is None:
            return None
        waiting = lines.answers[step.id] = loop.create_future()
        timeout_s = step.within_s(self._timeout_s)
        timer = loop.call_later(timeout_s, _give_up, waiting, timeout_s)
        try:
            answer: dict[str, Any] = await waiting
        finally:
            timer.cancel()
        return answer

    def _drop(self) -> None:
        lines, self._lines = self._lines, None
        if lines is not None:
            lines.transport.abort()


def _give_up(waiting: asyncio.Future[dict[str, Any]], timeout_s: float) -> None:
    if not waiting.done():
        waiting.set_exception(TimeoutError(f"no answer within {timeout_s:g} s"))


class AsyncLease:
    """A lease of an asynchronous client; otherwise as ``Lease``."""

    def __init__(self, connection: _Connection, talk: Conversation, held: Held) -> None:
        self._connection = connection
        self._talk = talk
        self._held = held

    @property
    def profile(self) -> str:
        """The name of the profile at the last answer, which is the one that was requested or the cap of the user."""
        return self._held.profile

    @property
    def active(self) -> bool:
        """Whether the service has the lease."""
        return self._held.number is not None

    @contextlib.asynccontextmanager
    async def inference(self) -> AsyncIterator[None]:
        """Return an asynchronous context manager for one inference."""
        held = self._held
        covered = time.monotonic_ns() < held.renew_ns
        number = 0 if covered else await self._connection.run(self._talk.begin(held))
        try:
            yield
        finally:
            message = self._talk.end(held, number)
            if message is not None:
                self._connection.tell(message)

    async def use(self, profile: str) -> None:
        """Change the profile: at once if the votes are up.

        Raises:
            ServiceRefused: the service refuses it; the lease keeps its profile.
        """
        await self._connection.run(self._talk.use(self._held, profile))

    async def release(self) -> None:
        """End the lease: its votes are lowered. Releasing it twice has no effect."""
        await self._connection.run(self._talk.release(self._held))


async def connect_async(name: str, *, path: str | None = None, timeout_s: float = 2.0) -> AsyncClient:
    """Return a client for coroutines, connected if the service can be reached; see ``connect``."""
    client = AsyncClient(name, path, timeout_s)
    await client._connection.run(client._talk.connect())  # noqa: SLF001 - a constructor can't wait
    return client
