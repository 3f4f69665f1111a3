"""Real servers on the stand-in library: after SIGTERM in the middle of an inference, no vote is left."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from support.servers import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers import Start

pytestmark = pytest.mark.needs("signals")

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
