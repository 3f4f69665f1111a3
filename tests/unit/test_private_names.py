"""Tests reach private names of the product through ``support/inside.py`` only; ruff (SLF001) refuses the attributes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from support.checkout import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator


def _is_private(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.startswith("__")


def private_names(text: str) -> Iterator[str]:
    """Yield the private names that a module imports from the product, or replaces."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("htppower"):
            yield from (each.name for each in node.names if _is_private(each.name))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            texts = (each.value for each in node.args[:2] if isinstance(each, ast.Constant))
            yield from (each for each in texts if isinstance(each, str) and _is_private(each))


def test_tests_import_and_replace_no_private_names() -> None:
    """No module of the tests imports a private name of the product, or replaces one by its name."""
    found = {
        str(path.relative_to(TESTS)): names
        for path in TESTS.rglob("*.py")
        if path.name != "inside.py" and (names := list(private_names(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


def test_private_names_are_found() -> None:
    """An import, and both ways to name what is replaced, are found."""
    assert list(private_names('from htppower.profiles.cache import _Entry\npatch.setattr(cache, "_versions", 1)')) == [
        "_Entry",
        "_versions",
    ]
    assert list(private_names('patch.setattr("htppower.profiles.cache._versions", 1)')) == [
        "htppower.profiles.cache._versions"
    ]
