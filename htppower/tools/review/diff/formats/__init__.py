"""The output formats of a comparison. Each is a module ``as_NAME`` with a function ``render``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.tools.review.diff.compare import Comparison
    from htppower.tools.review.diff.runs import RunPair

NAMES = ("text", "markdown", "json", "html")


def render(comparison: Comparison, name: str, runs: Sequence[RunPair] | None, width: int = WIDTH) -> str:
    """Return the comparison in one of the formats ``NAMES``, whose module is imported here.

    ``runs`` are the dry runs of the profiles that changed; None to show none. The HTML page draws them. ``width`` is
    the width of text.
    """
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    return make(comparison, runs, width) if name == "text" else make(comparison, runs)
