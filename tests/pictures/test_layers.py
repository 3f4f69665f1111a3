"""What may import what: pictures are made of runs, runs of the controller, and never the other way round."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import htppower

PACKAGE = Path(htppower.__file__).parent
ABOVE = {
    "htppower.review.pictures": ("cli", "review"),
    "htppower.review.dry_run": ("cli", "review"),
}


@pytest.mark.parametrize("module", ABOVE)
def test_nothing_below_imports_it(module: str) -> None:
    """No module of a lower layer imports this one."""
    importing = re.compile(rf"^\s*(?:from|import) {re.escape(module)}\b", re.MULTILINE)
    found = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if importing.search(path.read_text(encoding="utf-8"))
    }
    assert found
    assert found <= set(ABOVE[module])
