"""Thermal zones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.thermal_zones import Tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return a tree with a cool processor, a cool NPU, and a cooling device that is not a zone."""
    (tmp_path / "cooling_device0").mkdir()
    made = Tree(tmp_path)
    made.zone(0, "cpu-0-0", "40000")
    made.zone(1, "nspss-0", "41500")
    return made
