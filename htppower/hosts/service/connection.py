"""The lines of one connection: handled in order, with bounds on their length, rate, and unread answers."""

from __future__ import annotations

import asyncio
import collections
import json
import logging
from typing import TYPE_CHECKING, Any

from htppower.hosts.service.client import Client
from htppower.hosts.service.messages import LONGEST_LINE_BYTES, Wrong, parse, shown
from htppower.hosts.service.peer import peer_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from htppower.hosts.service.users import User, Users
    from htppower.hosts.service.voting import Voting

_LOGGER = logging.getLogger("htppower.service")
# How many lines of one client are handled before the others have their turn.
_LINES_OF_A_TURN = 32
# With more bytes of unread answers, the client's lines are not read; after this time, in seconds, it is disconnected.
_MOST_UNREAD_BYTES = 65_536
LONGEST_STALL_S = 10.0


class Connection(asyncio.Protocol):
    """One connection. Its client's leases end with it."""

    def __init__(self, voting: Voting, users: Users) -> None:
        self._voting = voting
        self._users = users
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._user: User | None = None
        self._client: Client | None = None
        self._rest = b""
        self._lines: collections.deque[bytes] = collections.deque()
        self._task: asyncio.Task[None] | None = None
        self._next: asyncio.Handle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Let the client in, or refuse it with an answer."""
        self._transport = transport
        transport.set_write_buffer_limits(high=_MOST_UNREAD_BYTES)
        try:
            peer = peer_of(transport.get_extra_info("socket") or transport.get_extra_info("pipe"))
            self._user = self._users.enter(transport, peer.uid)
        except Wrong as refused:
            self._refuse(refused)
        except OSError as error:
            self._refuse(Wrong("unknown client", f"the system does not tell who connects: {error}", "try again"))
        else:
            self._client = Client(self._voting, self._user, peer, self._send)

    def connection_lost(self, _error: Exception | None) -> None:
        """End all leases of the client."""
        for handle in (self._next, self._stalled):
            if handle is not None:
                handle.cancel()
        self._lines.clear()
        client, self._client = self._client, None
        if client is not None:
            client.close()
            self._users.leave(self._transport)

    def data_received(self, data: bytes) -> None:
        """Take the whole lines of what has arrived."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines.extend(lines)
        longest = max(map(len, (self._rest, *lines)))
        if longest > LONGEST_LINE_BYTES:
            self._lines.clear()
            hint = f"at most {LONGEST_LINE_BYTES} bytes in each line"
            self._refuse(Wrong("malformed", f"a line has {longest} bytes or more", hint))
        elif self._next is None:
            self._turn()

    def pause_writing(self) -> None:
        """Read no more lines while the client reads no answers, and disconnect it after some time."""
        self._stalled = self._loop.call_later(LONGEST_STALL_S, self._transport.abort)

    def resume_writing(self) -> None:
        """Read lines again."""
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
            self._go_on()

    def _turn(self) -> None:
        """Handle lines, until the client must wait: for others, for its votes, for its rate, or to read answers."""
        self._next = None
        for _ in range(_LINES_OF_A_TURN):
            if self._client is None or self._user is None or self._task or self._stalled or not self._lines:
                break
            wait_s = self._user.wait_s(self._loop.time())
            if wait_s > 0:
                self._next = self._loop.call_later(wait_s, self._turn)
                break
            self._handle(self._client, self._lines.popleft())
        else:
            self._next = self._loop.call_soon(self._turn)
        if not self._transport.is_closing():
            if self._lines or self._stalled:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _go_on(self) -> None:
        if self._next is None and self._client is not None:
            self._next = self._loop.call_soon(self._turn)

    def _handle(self, client: Client, line: bytes) -> None:
        number = None
        try:
            message, number = parse(line)
            answer = client.answer(message)
        except Wrong as wrong:
            self._answer(number, wrong.answer())
        except Exception as error:  # noqa: BLE001 - a fault of the service ends no lease
            self._failed(number, line, error)
        else:
            if not isinstance(answer, dict):
                self._task = self._loop.create_task(self._wait_for(number, answer, line))
            elif number is not None:
                self._answer(number, {"ok": True, **answer})

    async def _wait_for(self, number: int | None, answer: Coroutine[Any, Any, dict[str, Any]], line: bytes) -> None:
        try:
            fields = await answer
            if number is not None:
                self._answer(number, {"ok": True, **fields})
        except Wrong as wrong:
            self._answer(number, wrong.answer())
        except Exception as error:  # noqa: BLE001 - as in ``_handle``
            self._failed(number, line, error)
        finally:
            self._task = None
            self._go_on()

    def _failed(self, number: int | None, line: bytes, error: Exception) -> None:
        _LOGGER.error("the service failed at the message %s", shown(line), exc_info=error)
        self._answer(number, Wrong("service failed", "see the log of the service", "report it").answer())

    def _answer(self, number: int | None, fields: dict[str, Any]) -> None:
        self._write({"id": number, **fields})

    def _send(self, event: dict[str, Any]) -> None:
        """Send an event, unless the client does not read."""
        if self._stalled is None:
            self._write(event)

    def _write(self, fields: dict[str, Any]) -> None:
        if not self._transport.is_closing():
            self._transport.write(json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n")

    def _refuse(self, wrong: Wrong) -> None:
        self._answer(None, wrong.answer())
        self._transport.close()
