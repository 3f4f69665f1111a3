"""The content of a trace as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.traces.picture import as_svg

if TYPE_CHECKING:
    from htppower.tools.tuning.traces.describe import TraceDescription
    from htppower.tools.tuning.traces.trace import Trace


def render(trace: Trace, described: TraceDescription) -> str:
    """Return the picture: self-contained, without a script, light or dark like the reader's system."""
    return as_svg(trace, described)
