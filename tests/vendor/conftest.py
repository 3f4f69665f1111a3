"""The vendor's library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.shared_folders import once
from support.vendorlib import library_path
from support.voter import MODEL, Voter, libraries, make_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def vendors_library() -> Path:
    """Return the path of the vendor's library; skip if it is missing."""
    return library_path()


@pytest.fixture(scope="session")
def reader() -> Iterator[Voter]:
    """Yield the vendor's voter without a model; it can only read extension files."""
    made = Voter(libraries())
    yield made
    made.close()


@pytest.fixture(scope="session")
def voter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Voter]:
    """Yield the vendor's voter with a toy model, made once in a run; skip if it is missing."""
    folder = libraries()
    made = Voter(folder, once(tmp_path_factory, "toy_model", make_model) / MODEL)
    yield made
    made.close()
