"""The stand-in library, compiled once, and a copy of it for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.shared_folders import once
from support.standin import LIBRARY, Standin, compile_standin

if TYPE_CHECKING:
    from pathlib import Path


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
