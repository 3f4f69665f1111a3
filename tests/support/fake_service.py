"""A service that answers as a test says, to see what a client makes of it."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    # What to send in turn; a number is a pause in seconds, unless the client disconnects, and None disconnects it.
    Answer = Iterable[bytes | float | None]


def right(message: dict[str, Any], /, **fields: Any) -> bytes:
    """Return the answer of a service that works, as a line."""
    number = {"lease": 7} if message["do"] == "hold" else {}
    return json.dumps({"id": message["id"], "ok": True, **number, **fields}).encode() + b"\n"


class FakeService:
    """A listening socket, whose connections are answered by a function.

    Attributes:
        got: the messages that have arrived.
    """

    def __init__(self, path: Path, answer: Callable[[dict[str, Any]], Answer]) -> None:
        self.got: list[dict[str, Any]] = []
        self._answer = answer
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """Listen no more; the client has ended before."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                with connection, connection.makefile("rb") as lines, contextlib.suppress(OSError):
                    self._converse(connection, lines)

    def _converse(self, connection: socket.socket, lines: Any) -> None:
        for line in lines:
            message = json.loads(line)
            self.got.append(message)
            if "id" not in message:
                continue
            for part in self._answer(message):
                if part is None:
                    return
                if isinstance(part, bytes):
                    connection.sendall(part)
                elif select.select([connection], [], [], part)[0]:
                    break


@contextlib.contextmanager
def faked(path: Path, answer: Callable[[dict[str, Any]], Answer]) -> Iterator[FakeService]:
    """Run a service inside the block."""
    service = FakeService(path, answer)
    try:
        yield service
    finally:
        service.close()
