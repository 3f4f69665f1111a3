"""What the tests of the command share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command import Command
from sides import write_sides

if TYPE_CHECKING:
    from pathlib import Path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update-golden, which writes what the command prints as what it should print."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/cli/golden; review the difference")


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Command:
    """Yield the command."""
    return Command(update=request.config.getoption("--update-golden", default=False))


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Yield a folder, made the current one, with two folders in it that differ."""
    write_sides(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
