"""Lazy exports of a package: each name is imported on first use, and kept."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def exported_lazily(package: str, modules: dict[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package (PEP 562).

    Args:
        package: the name of the package.
        modules: the exported names, by the full name of their module; to export a module itself, list its own name.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(homes[name])
        found = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        # From now on Python finds the name without this function.
        vars(sys.modules[package])[name] = found
        return found

    return find
