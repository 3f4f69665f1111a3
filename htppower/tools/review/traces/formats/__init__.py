"""The output formats of a trace's content. Each is a module ``as_NAME`` with a function ``render``."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from htppower.tools.report.layout import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.tuning.traces.describe import TraceDescription
    from htppower.tools.tuning.traces.trace import Trace

NAMES = ("text", "json", "html", "svg")


def render(trace: Trace, described: TraceDescription, name: str, width: int = WIDTH) -> str:
    """Return a trace in one of the formats ``NAMES``, whose module is imported here. ``width`` is for text."""
    make: Callable[..., str] = importlib.import_module(f"{__name__}.as_{name}").render
    if name in ("html", "svg"):
        return make(trace, described)
    return make(described, width) if name == "text" else make(described)
