"""Metrics of a bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.scraped import Scraped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.bench import Bench


@pytest.fixture
def scraped(bench: Bench) -> Iterator[Scraped]:
    """Yield metrics of the bench's controller, in a registry of their own."""
    made = Scraped(bench)
    yield made
    made.metrics.close()
