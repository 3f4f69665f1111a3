"""What the tests of the command share."""

from __future__ import annotations

import pytest
from command import Command


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update-golden, which writes what the command prints as what it should print."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/cli/golden; review the difference")


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Command:
    """Yield the command."""
    return Command(update=request.config.getoption("--update-golden", default=False))
