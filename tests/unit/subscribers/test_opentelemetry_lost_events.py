"""Spans after lost events: each ends at the right time, whether its end was lost or comes late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.spans import Exported, said, times_us

from htppower.events import Event, HoldBegan
from htppower.subscribers.opentelemetry import subscribe

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.bench import Bench


class _Lossy:
    """A controller that does not send some events to its subscriber."""

    def __init__(self, bench: Bench) -> None:
        self.losing = False
        self.status = bench.controller.status
        self.subscriber: Callable[[Event], object] | None = None
        self._subscribe = bench.controller.subscribe

    def subscribe(self, subscriber: Callable[[Event], object], *, in_context: bool) -> Callable[[], None]:
        """Subscribe it to the events that are not lost."""
        self.subscriber = subscriber

        def tell(event: Event) -> None:
            if not self.losing:
                subscriber(event)

        return self._subscribe(tell)


@pytest.mark.parametrize("close", [True, False])
def test_a_span_whose_end_was_lost_ends(bench: Bench, *, close: bool) -> None:
    """After a gap, the span of votes that are down ends at that time; other spans continue."""
    exporter, provider, lossy = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False), _Lossy(bench)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    end = subscribe(lossy, provider)  # type: ignore[arg-type]
    exported = Exported(exporter, end)
    first, second = bench.controller.session("burst"), bench.controller.session("burst")
    with second.inference():
        bench.infer(first)
        bench.time.advance_us(1000)
        lossy.losing = True
        if close:
            first.close()
        else:
            bench.time.advance_us(300_000)
        lossy.losing = False
        found_us = bench.time.now_us
        bench.controller.cap("burst", reason="first after the gap").lift()
        assert exported.spans("htppower raised") == []
        bench.time.advance_us(1000)
        bench.controller.cap("burst", reason="later").lift()
        (span,) = exported.spans("htppower raised")
        assert said(span)["htppower.session"] == 1
        assert times_us(span, span.start_time or 0) == (0, found_us)
    end()
    assert len(exported.spans("htppower raised")) == 2


def test_an_end_that_is_told_after_a_gap_keeps_its_cause(bench: Bench) -> None:
    """If the end is still in the queue when the gap is found, the span ends with its own time and cause."""
    exporter, provider, lossy = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False), _Lossy(bench)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    events: list[Event] = []
    bench.controller.subscribe(events.append)
    end = subscribe(lossy, provider)  # type: ignore[arg-type]
    lossy.losing = True
    session = bench.controller.session("burst")
    bench.infer(session)
    session.hold("burst", reason="lost").release()
    bench.time.advance_us(300_000)
    session.close()
    for event in events:
        if not isinstance(event, HoldBegan):
            assert lossy.subscriber is not None
            lossy.subscriber(event)
    (span,) = Exported(exporter, end).spans("htppower raised")
    assert said(span)["htppower.end_cause"] == "sustain expired"
