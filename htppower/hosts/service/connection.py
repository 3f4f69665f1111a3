"""The lines of one connection: handled in order, with bounds on their length, rate, and unread answers."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

from htppower.hosts.service.client import Client
from htppower.hosts.service.messages import LONGEST_LINE_BYTES, Wrong, parse, shown
from htppower.hosts.service.peer import has_hung_up, peer_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from htppower.hosts.service.users import User, Users
    from htppower.hosts.service.voting import Voting

_LOGGER = logging.getLogger("htppower.service")
_BUFFER_BYTES = 16_384
# How long the lines of one client are handled before the others have their turn, in seconds.
_TURN_S = 0.001
# A longer line counts as several messages of its user's rate.
_BYTES_OF_A_MESSAGE = 512
# With more bytes of unread answers, the client's lines are not read; after this time, in seconds, it is disconnected.
_MOST_UNREAD_BYTES = 65_536
LONGEST_STALL_S = 10.0
# How often to look whether a client is gone whose lines are not read, in seconds.
_LOOK_S = 0.02


class Connection(asyncio.BufferedProtocol):
    """One connection. Its client's leases end with it."""

    def __init__(self, voting: Voting, users: Users) -> None:
        self._voting = voting
        self._users = users
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._user: User | None = None
        self._client: Client | None = None
        self._buffer = bytearray(_BUFFER_BYTES)
        # What has arrived; the lines before the place are handled.
        self._data = b""
        self._place = 0
        self._task: asyncio.Task[None] | None = None
        self._next: asyncio.Handle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None

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
        for handle in (self._next, self._stalled, self._look):
            if handle is not None:
                handle.cancel()
        self._end_client()

    def _end_client(self) -> None:
        client, self._client = self._client, None
        self._data, self._place = b"", 0
        if client is not None:
            client.close()
            self._users.leave(self._transport)

    def get_buffer(self, _size: int) -> bytearray:
        """Return where the next bytes go."""
        return self._buffer

    def buffer_updated(self, count: int) -> None:
        """Take what has arrived."""
        self._data = self._data[self._place :] + self._buffer[:count]
        self._place = 0
        if self._next is None:
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
        end_s = self._loop.time() + _TURN_S
        while self._client is not None and self._user is not None and not (self._task or self._stalled):
            end = self._data.find(b"\n", self._place)
            longest = (len(self._data) if end < 0 else end) - self._place
            if longest > LONGEST_LINE_BYTES:
                hint = f"at most {LONGEST_LINE_BYTES} bytes in each line"
                self._refuse(Wrong("malformed", f"a line has {longest} bytes or more", hint))
                return
            if end < 0:
                break
            now_s = self._loop.time()
            wait_s = self._user.wait_s(now_s, 1 + longest // _BYTES_OF_A_MESSAGE)
            if wait_s > 0:
                self._next = self._loop.call_later(wait_s, self._turn)
                break
            line, self._place = self._data[self._place : end], end + 1
            self._handle(self._client, line)
            if now_s > end_s:
                self._go_on()
                break
        self._read_or_not()

    def _read_or_not(self) -> None:
        """Read on unless a line is left. Then look whether the client is gone, since its end would not be read."""
        if self._transport.is_closing():
            return
        if not self._stalled and self._data.find(b"\n", self._place) < 0:
            self._transport.resume_reading()
            return
        self._transport.pause_reading()
        if self._look is None:
            self._look = self._loop.call_later(_LOOK_S, self._look_for_end)

    def _look_for_end(self) -> None:
        self._look = None
        if has_hung_up(self._transport.get_extra_info("socket")):
            self._transport.abort()
        else:
            self._read_or_not()

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
        """Disconnect the client with an answer. Its leases end now, even if it does not read the answer."""
        self._answer(None, wrong.answer())
        self._transport.close()
        if self._client is not None:
            self._end_client()
            self._look = self._loop.call_later(LONGEST_STALL_S, self._transport.abort)
