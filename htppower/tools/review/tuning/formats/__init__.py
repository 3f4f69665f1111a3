"""The output formats of tuning. Each is a module ``as_NAME`` with a function ``render``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.tuning.tune import Tuning

NAMES = ("text", "json", "html")


def render(tuning: Tuning, name: str, width: int = WIDTH) -> str:
    """Return the results in one of the formats ``NAMES``, whose module is imported only here."""
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    return make(tuning, width) if name == "text" else make(tuning)
