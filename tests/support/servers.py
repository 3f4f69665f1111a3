"""Real servers on the stand-in library, each on its own Unix socket, and real requests to them."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import attrs
from support.checkout import ROOT
from support.live import LONGEST_S, until
from support.standin import functions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from support.standin import Standin

    Start = Callable[..., "Server"]

EXAMPLES = ROOT / "docs" / "examples"
RAISED, LOWERED = 160, 64


class Connection(http.client.HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("server", timeout=LONGEST_S)
        self._path = path

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LONGEST_S)
        self.sock.connect(str(self._path))


@attrs.frozen
class Server:
    """A running server on its own socket."""

    process: subprocess.Popen[str]
    path: Path
    standin: Standin
    clients: contextlib.ExitStack

    @classmethod
    def start(cls, standin: Standin, folder: Path, arguments: tuple[str, ...]) -> Server:
        """Start a server; `SOCKET` in a word of its command becomes the socket's path."""
        path = folder / "socket"
        command = [sys.executable, *(word.replace("SOCKET", str(path)) for word in arguments)]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return cls(process, path, standin, contextlib.ExitStack())

    def infer(self, request: str, workers: int) -> None:
        """Send requests until this many processes have raised."""
        until(self.listens)
        until(lambda: self._have_raised(workers, request))

    def ask(
        self, path: str, body: str = "", headers: Mapping[str, str] | None = None
    ) -> tuple[Connection, http.client.HTTPResponse]:
        """Send a request, and return its response when it has begun; the connection is closed after the test."""
        until(self.listens)
        connection = self.clients.enter_context(contextlib.closing(Connection(self.path)))
        # A server may wait for a connection that is kept alive when it is stopped.
        kept = {"Content-Type": "application/json", "Connection": "close"}
        connection.request("POST", path, body, {**kept, **(headers or {})})
        return connection, connection.getresponse()

    def end(self) -> int:
        """End it with SIGTERM, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=LONGEST_S)
        assert "Warning: SIGTERM" not in errors
        return self.process.returncode

    def assert_nothing_left(self, workers: int) -> None:
        """Assert that each process has raised, lowered, destroyed its id and freed its device, once."""
        self.assert_freed(workers)
        targets = Counter(line.core_target for line in self.standin.sets)
        assert (targets[RAISED], targets[LOWERED]) == (workers, workers)
        assert [line.core_target for line in self.standin.sets][-2:] == [LOWERED, None], "clocks, then polling"

    def assert_freed(self, workers: int) -> None:
        """Assert that each process has destroyed its id and freed its device, once."""
        made = Counter(functions(self.standin.trace))
        freed = ("createPowerConfigId", "destroyPowerConfigId", "deviceCreate", "deviceFree", "backendFree")
        assert {name: made[name] for name in freed} == dict.fromkeys(freed, workers)

    @property
    def targets(self) -> list[int]:
        """The core targets of the calls with clocks so far."""
        return [line.core_target for line in self.standin.sets if line.core_target is not None]

    def _have_raised(self, workers: int, request: str) -> bool:
        if len([line for line in self.standin.sets if line.core_target == RAISED]) >= workers:
            return True
        self._connect(request)
        time.sleep(0.1)
        return False

    def listens(self) -> bool:
        """Return whether the server accepts connections; fail if it has ended."""
        with socket.socket(socket.AF_UNIX) as tried:
            if tried.connect_ex(str(self.path)) == 0:
                return True
        assert self.process.poll() is None, self.process.communicate()
        return False

    def stop(self) -> None:
        """Close its clients, and kill it."""
        self.clients.close()
        self.process.kill()
        self.process.communicate()

    def _connect(self, request: str) -> None:
        made = self.clients.enter_context(socket.socket(socket.AF_UNIX))
        made.connect(str(self.path))
        made.sendall(request.encode())


def search_path(folder: Path) -> str:
    """Return a ``PYTHONPATH`` with the programs in a folder and those of the docs."""
    return os.pathsep.join((str(folder), str(EXAMPLES), os.environ.get("PYTHONPATH", "")))
