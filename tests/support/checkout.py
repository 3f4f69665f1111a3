"""Paths in the checkout."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
CORPUS = TESTS / "corpus"
DATA = TESTS / "data"


def load_page_code(path: str) -> Any:
    """Return a module of the docs by its path in the folder ``docs``, which is not part of the installed package."""
    name = f"docs_{path.removesuffix('.py').replace('/', '_')}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]
