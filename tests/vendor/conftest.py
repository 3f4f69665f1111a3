"""The vendor's library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from vendorlib import library_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def vendors_library() -> Path:
    """Return the path of the vendor's library; skip where there is none."""
    return library_path()
