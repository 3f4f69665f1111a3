"""The vendor's library, and how long the differential runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from vendorlib import library_path

if TYPE_CHECKING:
    from pathlib import Path


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --sequences, for a longer run of the differential."""
    parser.addoption("--sequences", type=int, help="random sequences of the differential on each architecture")


@pytest.fixture(scope="session")
def vendors_library() -> Path:
    """Return the path of the vendor's library; skip where there is none."""
    return library_path()
