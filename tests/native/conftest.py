"""The stand-in library, compiled once, and a copy of it for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.servers import Server, search_path
from support.shared_folders import once
from support.standin import LIBRARY, Standin, compile_standin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.servers import Start


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled stand-in."""
    return once(tmp_path_factory, "standin", compile_standin) / LIBRARY


@pytest.fixture
def standin(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Standin:
    """Return a copy of the stand-in for this test, with its own script and trace."""
    made = Standin(compiled, tmp_path)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture
def start(standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Yield a function that starts a server, see ``Server.start``; stop all of them."""
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", str(standin.path))
    monkeypatch.setenv("PYTHONPATH", search_path(tmp_path))
    started: list[Server] = []

    def start(*arguments: str) -> Server:
        started.append(Server.start(standin, tmp_path, arguments))
        return started[-1]

    yield start
    for server in started:
        server.stop()
