"""The connection of a client of threads: the socket or the pipe, and the conversations on it."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from htppower.client.conversation import DISCONNECT, FORKED, next_step, parsed

if TYPE_CHECKING:
    from htppower.client.conversation import Message, Talk


class Connection:
    """One thread at a time runs a conversation on it.

    Args:
        path: the service's socket or pipe.
        timeout_s: how long to wait for an answer, in seconds.
    """

    def __init__(self, path: str, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        # Below the other: an end does not wait for the answer to another message.
        self._sending = threading.RLock()
        self._end: Any = None
        self._rest = b""
        self._forked = False
        drop_in_child(self)

    def run(self, talk: Talk) -> Any:
        """Run a conversation to its end, and return its result."""
        with self._lock:
            answer: dict[str, Any] | None = None
            error: BaseException | None = None
            while True:
                try:
                    step = next_step(talk, answer, error)
                except StopIteration as stop:
                    return stop.value
                answer, error = None, None
                try:
                    answer = self._do(step)
                # Ctrl-C in the wait is thrown into the conversation, too, which ends what it has begun.
                except BaseException as failure:  # noqa: BLE001
                    error = failure
                    if isinstance(failure, OSError):
                        self._drop()

    def tell(self, message: Message) -> None:
        """Send a message that has no answer. If that fails, the next conversation notices it."""
        with contextlib.suppress(OSError):
            self._send(message.line)

    def disown(self) -> None:
        """Disconnect in a forked child, where threads that do not exist may hold the locks."""
        self._lock, self._sending, self._forked = threading.RLock(), threading.RLock(), True
        self._drop()

    def _do(self, step: Message | None) -> dict[str, Any] | None:
        if step is None:  # CONNECT
            if self._forked:
                raise ConnectionError(FORKED)
            self._drop()
            self._end = _opened(self._path, self._timeout_s)
            return None
        if step is DISCONNECT:
            self._drop()
            return None
        try:
            self._send(step.line)
        except OSError:
            # The service may have refused the connection with a message.
            if self._end is not None:
                self._answer(0, 0.001)
            raise
        if step.id is None:
            return None
        return self._answer(step.id, step.within_s(self._timeout_s))

    def _send(self, line: bytes) -> None:
        end = self._end
        if end is None:
            said = FORKED if self._forked else "there is no connection"
            raise ConnectionError(said)
        with self._sending:
            end.sendall(line)

    def _answer(self, number: int, timeout_s: float) -> dict[str, Any]:
        end = self._end
        until_s = time.monotonic() + timeout_s
        while True:
            line, found, rest = self._rest.partition(b"\n")
            if found:
                self._rest = rest
                answer = parsed(line)
                if answer.get("id") == number:
                    return answer
                continue
            # A timeout of 0 would not wait, but fail in another way.
            end.settimeout(max(until_s - time.monotonic(), 0.000_001))
            try:
                data = end.recv(65_536)
            except TimeoutError:
                raise TimeoutError(f"no answer within {timeout_s:g} s") from None
            if not data:
                raise ConnectionResetError("the service has ended")
            self._rest += data

    def _drop(self) -> None:
        end, self._end, self._rest = self._end, None, b""
        if end is not None:
            with contextlib.suppress(OSError):
                end.close()


class Disownable(Protocol):
    """A connection that a forked child must not keep."""

    def disown(self) -> None:
        """Disconnect in a forked child, without a lock."""


def drop_in_child(connection: Disownable) -> None:
    """Disconnect in each forked child: a connection that a child has, too, would not end with this process."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=functools.partial(_disown, weakref.ref(connection)))


def _disown(reference: weakref.ref[Disownable]) -> None:
    connection = reference()
    if connection is not None:
        connection.disown()


class _Pipe:
    """The client's end of a named pipe of Windows, with the methods of a socket."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("r+b", buffering=0)  # noqa: SIM115 - closed by ``close``

    def settimeout(self, timeout_s: float) -> None:
        """Do nothing: a pipe that is opened like a file waits without a limit."""

    def sendall(self, data: bytes) -> None:
        """Write all of it."""
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]

    def recv(self, most: int) -> bytes:
        """Return what has arrived; wait for it."""
        return self._file.read(most)

    def close(self) -> None:
        """Close it."""
        self._file.close()


def _opened(path: str, timeout_s: float) -> Any:
    if os.name == "nt":
        return _Pipe(path)
    end = socket.socket(socket.AF_UNIX)
    end.settimeout(timeout_s)
    try:
        end.connect(path)
    except OSError:
        end.close()
        raise
    return end
