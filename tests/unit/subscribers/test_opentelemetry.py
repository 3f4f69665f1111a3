"""A span covers exactly the time that votes are up, with the calls made for it."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

import attrs
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from support.spans import Exported, said, times_us

from htppower import VoteRejected, load_profile
from htppower.subscribers.opentelemetry import subscribe
from htppower.votes.native_codes import FAILED, INVALID_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.trace import SpanContext
    from support.bench import Bench


@pytest.fixture
def exported(bench: Bench) -> Iterator[Exported]:
    """Yield the spans of the bench's controller."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    made = Exported(exporter, subscribe(bench.controller, provider))
    yield made
    made.end()


def test_a_span_is_a_raised_period(bench: Bench, exported: Exported) -> None:
    """A span lasts from the begin of the raising call to the end of the lowering call."""
    session = bench.controller.session("burst", owner="camera")
    bench.simulated.delay_calls(500)
    bench.time.advance_us(1_000_000)
    bench.infer(session)
    bench.infer(session)
    assert exported.spans("htppower raised") == []
    bench.time.advance_us(300_000)
    (span,) = exported.spans("htppower raised")
    (create,) = exported.spans("createPowerConfigId")
    assert create.start_time is not None
    assert create.parent is None
    assert times_us(span, create.start_time) == (1_000_000, 1_304_000)
    assert said(span) == {
        "htppower.session": 1,
        "htppower.owner": "camera",
        "htppower.profile": "burst",
        "htppower.cause": "inference began",
        "htppower.phase": "INFERENCE",
        "htppower.end_cause": "sustain expired",
        "htppower.late_us": 0,
        "htppower.inferences_saved": 1,
        "htppower.calls_saved": 2,
    }
    assert span.status.status_code is StatusCode.UNSET
    children = exported.spans("setPowerConfig")
    assert [child.parent for child in children] == [span.context] * 4
    assert [times_us(child, create.start_time) for child in children] == [
        (1_000_000, 1_000_500),
        (1_000_500, 1_001_000),
        (1_303_000, 1_303_500),
        (1_303_500, 1_304_000),
    ]


def test_times_are_of_the_wall_clock(bench: Bench, exported: Exported) -> None:
    """The controller's clock has any start, so the times of spans are converted to wall-clock time."""
    bench.controller.session("burst")
    (create,) = exported.spans("createPowerConfigId")
    assert create.end_time is not None
    assert abs(time.time_ns() - create.end_time) < 60_000_000_000


def test_a_failed_raise_has_no_span_but_its_call(bench: Bench, exported: Exported) -> None:
    """Only the failed call is a span, with its code as an error; the votes were never raised."""
    session = bench.controller.session("high_performance")
    bench.simulated.fail_next(FAILED)
    bench.infer(session)
    failed = exported.spans("setPowerConfig")[0]
    assert failed.status.status_code is StatusCode.ERROR
    assert said(failed)["htppower.code"] == FAILED
    assert failed.parent is None
    assert exported.spans("htppower raised") == []


def test_a_failed_lowering_ends_the_span_as_an_error(bench: Bench, exported: Exported) -> None:
    """After a failed lowering the votes are unknown, so the span ends with the error."""
    session = bench.controller.session("high_performance")
    bench.simulated.fail_next(FAILED, nth=3)
    bench.infer(session)
    (span,) = exported.spans("htppower raised")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is not None
    assert str(FAILED) in span.status.description
    assert exported.spans("setPowerConfig")[2].parent == span.context


def test_what_happens_meanwhile_is_noted(bench: Bench, exported: Exported) -> None:
    """Holds, changes of profile and revised votes are events of the span; a revision's call is its child."""
    session = bench.controller.session("balanced")
    with session.inference():
        session.hold("burst", reason="capture").release()
    (span,) = exported.spans("htppower raised")
    assert [event.name for event in span.events] == [
        "ColdStart",
        "HoldBegan",
        "ProfileChanged",
        "revise",
        "HoldEnded",
        "ProfileChanged",
        "revise",
    ]
    assert dict(span.events[1].attributes or {}) == {"htppower.held": "burst", "htppower.reason": "capture"}
    assert all(child.parent == span.context for child in exported.spans("setPowerConfig"))


def test_sessions_that_overlap_have_spans_of_their_own(bench: Bench, exported: Exported) -> None:
    """Each call is the child of its own session's span."""
    first, second = bench.controller.session("high_performance"), bench.controller.session("high_performance")
    with first.inference(), second.inference():
        pass
    spans = {said(span)["htppower.session"]: span.context for span in exported.spans("htppower raised")}
    assert len(spans) == 2
    for child in exported.spans("setPowerConfig"):
        assert child.parent == spans[said(child)["htppower.session"]]


def test_ending_the_subscription_ends_open_spans(bench: Bench, exported: Exported) -> None:
    """Ending the subscription ends each open span once, and no span comes later."""
    with bench.controller.session("high_performance").inference():
        bench.time.advance_us(1000)
        exported.end()
        (span,) = exported.spans("htppower raised")
        assert span.start_time is not None
        assert times_us(span, span.start_time) == (0, 1000)
    exported.end()
    assert len(exported.spans("htppower raised")) == 1


def test_a_session_that_could_not_be_opened_leaves_nothing_waiting(bench: Bench, exported: Exported) -> None:
    """The calls of an open that failed half-way are spans at once, and are not kept."""
    bench.simulated.fail_next(INVALID_INPUT, "createPowerConfigId", nth=2)
    with pytest.raises(VoteRejected):
        bench.controller.session("burst", core_ids=(0, 1))
    assert len(exported.spans("createPowerConfigId")) == 2
    assert len(exported.spans("destroyPowerConfigId")) == 1
    bench.simulated.fail_next(INVALID_INPUT, "createPowerConfigId")
    with pytest.raises(VoteRejected):
        bench.controller.session("burst")
    assert len(exported.spans("createPowerConfigId")) == 3


def test_saves_before_and_after_a_change_of_the_profile_add_up(bench: Bench, exported: Exported) -> None:
    """If the profile changes while votes are up, the span has the saved calls of both profiles."""
    session = bench.controller.session("burst")
    for _ in range(3):
        bench.infer(session)
    with session.inference():
        session.use("sustained_high_performance")
    for _ in range(2):
        bench.infer(session)
    saved = bench.controller.status().sessions[0].calls_saved
    session.close()
    (span,) = exported.spans("htppower raised")
    assert said(span)["htppower.calls_saved"] == saved
    assert said(span)["htppower.inferences_saved"] == saved // 2


def test_without_a_provider_nothing_is_needed(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The global provider of a host without OpenTelemetry drops the spans, and no event fails."""
    end = subscribe(bench.controller)
    bench.infer(bench.controller.session("high_performance"))
    end()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_raise_is_linked_to_the_request_that_asked_for_it(bench: Bench, exported: Exported) -> None:
    """The link leads to the current span at the begin of the inference, if any."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("host")
    session = bench.controller.session("burst")
    with tracer.start_as_current_span("request") as request, session.inference():
        pass
    bench.time.advance_us(300_000)
    bench.infer(session)
    bench.time.advance_us(300_000)
    asked, alone = exported.spans("htppower raised")
    assert [link.context for link in asked.links] == [request.get_span_context()]
    assert asked.parent is None
    assert not alone.links


def test_a_coroutine_passes_its_request_on(bench: Bench, exported: Exported) -> None:
    """A raise on the worker is linked to the coroutine's span."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("host")
    session = bench.controller.session("burst")

    async def request() -> SpanContext:
        with tracer.start_as_current_span("request") as span:
            async with session.ainference():
                return span.get_span_context()

    context = asyncio.run(request())
    bench.time.advance_us(300_000)
    (raised,) = exported.spans("htppower raised")
    assert [link.context for link in raised.links] == [context]


def test_every_text_can_be_exported(bench: Bench, exported: Exported) -> None:
    """A lone surrogate in an owner, a profile or a reason is escaped: with it, an exporter would lose all its spans."""
    profile = attrs.evolve(load_profile("burst"), name="b\udcff")
    session = bench.controller.session(profile, owner="caf\udce9")
    with session.inference(), session.hold("balanced", reason="why\ud800"):
        pass
    session.close()
    exported.end()
    spans = exported.exporter.get_finished_spans()
    texts = [str(value) for span in spans for value in (span.attributes or {}).values()]
    texts += [str(value) for span in spans for event in span.events for value in (event.attributes or {}).values()]
    assert "caf\\udce9" in texts
    assert all(text.encode("utf-8") for text in texts if text)


def test_what_is_no_controller_is_refused_by_name() -> None:
    """The error names the argument and the type it needs, such as for a controller that is None."""
    with pytest.raises(TypeError, match=r"controller is None, which has no status\(\): a VoteController"):
        subscribe(None)  # type: ignore[arg-type]
