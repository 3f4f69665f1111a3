"""Real servers on the stand-in library: after SIGTERM in the middle of an inference, no vote is left."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import attrs
import pytest
from support.checkout import ROOT
from support.live import LONGEST_S, until
from support.standin import functions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.standin import Standin

    Start = Callable[..., "Server"]

pytestmark = pytest.mark.needs("signals")

EXAMPLES = ROOT / "docs" / "examples"
RAISED, LOWERED = 160, 64

# The controller is made when uvicorn imports the application, after uvicorn has set its handlers.
_AT_MODULE_LEVEL = """
import time
import fastapi
import htppower
controller = htppower.VoteController()
session = controller.session("burst")
app = fastapi.FastAPI()
@app.get("/detect")
def detect(seconds: float) -> None:
    with session.inference():
        time.sleep(seconds)
"""
_SERVE = """
import asyncio, sys, uvicorn
config = uvicorn.Config("votes:app", uds=sys.argv[1], timeout_graceful_shutdown=1)
asyncio.run(uvicorn.Server(config).serve())
"""


@attrs.frozen
class Server:
    """A running server on its own socket."""

    process: subprocess.Popen[str]
    path: Path
    standin: Standin
    clients: contextlib.ExitStack

    def infer(self, request: str, workers: int) -> None:
        """Send requests until this many processes have raised."""
        until(self._listens)
        until(lambda: self._have_raised(workers, request))

    def end(self) -> int:
        """End it with SIGTERM, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=LONGEST_S)
        assert "Warning: SIGTERM" not in errors
        return self.process.returncode

    def assert_nothing_left(self, workers: int) -> None:
        """Assert that each process has raised, lowered, destroyed its id and freed its device, once."""
        made = Counter(functions(self.standin.trace))
        freed = ("createPowerConfigId", "destroyPowerConfigId", "deviceCreate", "deviceFree", "backendFree")
        assert {name: made[name] for name in freed} == dict.fromkeys(freed, workers)
        targets = Counter(line.core_target for line in self.standin.sets)
        assert (targets[RAISED], targets[LOWERED]) == (workers, workers)
        assert [line.core_target for line in self.standin.sets][-2:] == [LOWERED, None], "clocks, then polling"

    def _have_raised(self, workers: int, request: str) -> bool:
        if len([line for line in self.standin.sets if line.core_target == RAISED]) >= workers:
            return True
        self._connect(request)
        time.sleep(0.1)
        return False

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as tried:
            if tried.connect_ex(str(self.path)) == 0:
                return True
        assert self.process.poll() is None, self.process.communicate()
        return False

    def _connect(self, request: str) -> None:
        made = self.clients.enter_context(socket.socket(socket.AF_UNIX))
        made.connect(str(self.path))
        made.sendall(request.encode())


@pytest.fixture
def start(standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Return the command of a server; `SOCKET` in a word becomes the socket's path."""
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", str(standin.path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(EXAMPLES), os.environ.get("PYTHONPATH", ""))))
    started: list[Server] = []

    def start(*arguments: str) -> Server:
        path = tmp_path / "socket"
        command = [sys.executable, *(word.replace("SOCKET", str(path)) for word in arguments)]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(Server(process, path, standin, contextlib.ExitStack()))
        return started[-1]

    yield start
    for server in started:
        server.clients.close()
        server.process.kill()
        server.process.communicate()


def _get(seconds: float) -> str:
    return f"GET /detect?seconds={seconds} HTTP/1.1\r\nHost: a\r\n\r\n"


def test_fastapi_under_uvicorn(start: Start) -> None:
    """The example of the docs: each process finishes its inference and closes its controller in the lifespan."""
    server = start("-m", "uvicorn", "fastapi_app:app", "--uds", "SOCKET", "--workers", "2")
    server.infer(_get(1), 2)
    server.end()
    server.assert_nothing_left(2)


@pytest.mark.parametrize("runs", ["a server in a coroutine", "workers"])
def test_a_controller_at_module_level_under_uvicorn(start: Start, tmp_path: Path, runs: str) -> None:
    """Although uvicorn restores the handlers and raises the signal again, the controller is closed."""
    (tmp_path / "votes.py").write_text(_AT_MODULE_LEVEL, encoding="utf-8")
    if runs == "workers":
        end = ("--timeout-graceful-shutdown", "1")
        server = start("-m", "uvicorn", "votes:app", "--uds", "SOCKET", "--workers", "2", *end)
    else:
        server = start("-c", _SERVE, "SOCKET")
    workers = 2 if runs == "workers" else 1
    server.infer(_get(30), workers)
    code = server.end()
    assert runs == "workers" or code == -signal.SIGTERM
    server.assert_nothing_left(workers)


def test_wsgi_under_gunicorn(start: Start) -> None:
    """Each process of gunicorn ends its inference and exits, and the controller is closed at exit."""
    server = start("-m", "gunicorn", "--workers", "2", "--bind", "unix:SOCKET", "wsgi_app:app")
    server.infer("GET /?0.5 HTTP/1.1\r\nHost: a\r\n\r\n", 2)
    assert server.end() == 0
    server.assert_nothing_left(2)


def test_a_server_on_asyncio(start: Start) -> None:
    """The example of the docs ends at once and in order."""
    server = start(str(EXAMPLES / "asyncio_server.py"), "SOCKET")
    server.infer("30\n", 1)
    assert server.end() == 0
    server.assert_nothing_left(1)
