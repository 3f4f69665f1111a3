"""Every test here runs with locks that know their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ranked_locks import Ranks


@pytest.fixture(autouse=True)
def _ranked(ranks: Ranks) -> None:
    """Assert that no rule of the locks was broken."""
