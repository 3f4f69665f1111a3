"""Exported spans by their names, and their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@attrs.define
class Exported:
    """The exported spans, by their names."""

    exporter: InMemorySpanExporter
    end: Callable[[], None]

    def spans(self, name: str) -> list[ReadableSpan]:
        """Return the finished spans of that name."""
        return [span for span in self.exporter.get_finished_spans() if span.name == name]


def times_us(span: ReadableSpan, start_ns: int) -> tuple[int, int]:
    """Return begin and end of a span, in us after a time."""
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.start_time - start_ns) // 1000, (span.end_time - start_ns) // 1000


def said(span: ReadableSpan) -> dict[str, object]:
    """Return the attributes of a span."""
    return dict(span.attributes or {})
