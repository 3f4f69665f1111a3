"""Spans and metrics for OpenTelemetry: a span lasts while a session's votes are up; its children are native calls.

unsubscribe = subscribe(controller)

A span is linked to the span of the request whose inference caused the raise. It is not a child of the request's span,
since votes outlive the request and serve others.

Only the API is imported. If the host has no providers, spans and metrics go nowhere and cost next to nothing.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import attrs

from htppower._version import __version__
from htppower.backends.whole_lock import whole_lock
from htppower.control.arguments import checked_part
from htppower.events import CallMade, CallsSaved, Degraded, Event, State, Transition, Trigger
from htppower.subscribers.snapshot import encodable
from htppower.votes.native_codes import SUCCESS, code_name

try:
    from opentelemetry import trace
    from opentelemetry.context import Context
    from opentelemetry.trace import Link, SpanKind, Status, StatusCode

    from htppower.subscribers.opentelemetry_metrics import measure
except ImportError as error:
    raise ImportError('the API of OpenTelemetry can\'t be imported: pip install "htppower[otel]"') from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, Tracer, TracerProvider

    from htppower.control.controller import VoteController
    from htppower.control.status.controller_status import ControllerStatus

_COMMON = frozenset(field.name for field in attrs.fields(Event))


def subscribe(
    controller: VoteController,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
) -> Callable[[], None]:
    """Create spans from a controller's events from now on, and metrics of its inferences and its link.

    Times are from the controller's clock, which is compared with the wall clock once, here: later changes of the wall
    clock have no effect.

    Args:
        controller: its events become spans.
        tracer_provider: receives the spans; by default the host's global one.
        meter_provider: receives the metrics; by default the host's global one.

    Returns:
        A function that ends the subscription, the open spans and the metrics.

    Raises:
        TypeError: ``controller`` is not a controller.
    """
    checked_part(controller, "controller", ("status", "subscribe"), "a VoteController")
    tracer = trace.get_tracer("htppower", __version__, tracer_provider)
    spans = _Spans(tracer, time.time_ns() - controller.status().time_us * 1000, controller.status)
    note, end_metrics = measure(controller, meter_provider)

    def take(event: Event) -> None:
        note(event)
        spans(event)

    unsubscribe = controller.subscribe(take, in_context=True)

    def end() -> None:
        end_metrics()
        unsubscribe()
        spans.close(controller.status().time_us)

    return end


@attrs.define(eq=False)
class _Raised:
    """The open span of a session, with the number of inferences that needed no call, and of the calls saved."""

    span: Span
    inferences_saved: int = 0
    calls_saved: int = 0


@attrs.frozen
class _Check:
    """A status that was read because events were lost: it shows which spans should have ended.

    Attributes:
        time_us: when it was read.
        sessions: the numbers of the open sessions.
        over: the open spans of sessions whose votes are down. The event that should end such a span is lost, or has not
            arrived yet.
    """

    time_us: int
    sessions: frozenset[int]
    over: dict[int, _Raised]


class _Spans:
    """The subscriber, with the open spans.

    Args:
        tracer: creates the spans.
        offset_ns: the wall clock minus the controller's clock.
        status: returns the status; called after events were lost.
    """

    def __init__(self, tracer: Tracer, offset_ns: int, status: Callable[[], ControllerStatus]) -> None:
        self._tracer = tracer
        self._offset_ns = offset_ns
        self._lock = whole_lock()
        self._closed = False
        self._status = status
        self._order = 0
        self._lost = False
        self._check: _Check | None = None
        self._raised: dict[int, _Raised] = {}
        # Native calls that may belong to a raise. They are kept, since the event of the raise comes after its calls.
        self._waiting: dict[int, list[CallMade]] = {}

    def __call__(self, event: Event) -> None:
        """Turn an event into spans, or into attributes or events of a span."""
        # Read without this lock, since reading a status takes locks of the controller.
        self._check_losses(event)
        with self._lock:
            if self._closed:
                return
            self._end_lost_spans(event.time_us)
            if isinstance(event, CallMade):
                self._add_call(event)
            elif isinstance(event, Transition):
                self._change_state(event)
            else:
                self._add_other(event)

    def close(self, now_us: int) -> None:
        """End the open spans."""
        with self._lock:
            self._closed = True
            for raised in self._raised.values():
                raised.span.end(self._ns(now_us))
            self._raised.clear()

    def _check_losses(self, event: Event) -> None:
        """After events were lost, read the status, unless an earlier check still waits for its events."""
        self._lost = self._lost or 0 < self._order < event.order - 1
        self._order = event.order
        if not self._lost or self._check is not None:
            return
        self._lost = False
        status = self._status()
        up = {session.number for session in status.sessions if session.state is State.RAISED}
        with self._lock:
            over = self._raised_but(up)
        self._check = _Check(status.time_us, frozenset(session.number for session in status.sessions), over)

    def _raised_but(self, up: set[int]) -> dict[int, _Raised]:
        return {number: raised for number, raised in self._raised.items() if number not in up}

    def _end_lost_spans(self, now_us: int) -> None:
        """When all events before a check have arrived, end the spans in ``over`` that no event has ended."""
        check = self._check
        if check is None or now_us <= check.time_us:
            return
        self._check = None
        for number, raised in check.over.items():
            if self._raised.get(number) is raised:
                del self._raised[number]
                raised.span.end(self._ns(check.time_us))
        for number in self._waiting.keys() - check.sessions:
            self._export_waiting(number)

    def _add_call(self, call: CallMade) -> None:
        may_raise = call.code == SUCCESS and call.function != "destroyPowerConfigId" and call.session
        if may_raise and call.session not in self._raised:
            self._waiting.setdefault(call.session, []).append(call)
            return
        self._export_waiting(call.session)
        self._export_call(call)

    def _change_state(self, event: Transition) -> None:
        raised = self._raised.get(event.session)
        if event.dest is State.RAISED:
            if event.source is State.RAISED and raised is not None:
                self._add_event(raised.span, event, str(event.trigger))
            else:
                self._begin(event)
            return
        self._export_waiting(event.session)
        if raised is not None:
            del self._raised[event.session]
            self._end(raised.span, event)

    def _begin(self, event: Transition) -> None:
        """Begin the span at the time of its first call, and add the calls to it."""
        calls = self._waiting.get(event.session, [])
        begin_us = min([event.time_us, *(call.time_us - call.duration_us for call in calls)])
        attributes = {**_attributes(event), "htppower.cause": str(event.cause)}
        if event.phase is not None:
            attributes["htppower.phase"] = str(event.phase)
        stale = self._raised.get(event.session)
        if stale is not None:
            # The event that should have ended it was lost.
            stale.span.end(self._ns(begin_us))
        # The context of the caller that caused the raise; it has no span if an alarm or a retry caused the raise.
        asking = trace.get_current_span().get_span_context()
        span = self._tracer.start_span(
            "htppower raised",
            Context(),
            SpanKind.INTERNAL,
            attributes,
            links=[Link(asking)] if asking.is_valid else (),
            start_time=self._ns(begin_us),
        )
        self._raised[event.session] = _Raised(span)
        self._export_waiting(event.session)

    def _end(self, span: Span, event: Transition) -> None:
        span.set_attribute("htppower.end_cause", str(event.cause))
        if event.late_us is not None:
            span.set_attribute("htppower.late_us", event.late_us)
        if event.trigger is Trigger.LOSE:
            span.set_status(Status(StatusCode.ERROR, str(event.error or event.cause)))
        span.end(self._ns(event.time_us))

    def _add_other(self, event: Event) -> None:
        """Add another event to the open span; an event without an open span is dropped."""
        raised = self._raised.get(event.session)
        if raised is None:
            # These are the calls that opened the session. They do not belong to a raise.
            self._export_waiting(event.session)
        elif isinstance(event, CallsSaved):
            # A change of the profile causes these events, too, while the votes stay up.
            raised.inferences_saved += event.inferences
            raised.calls_saved += event.calls
            raised.span.set_attribute("htppower.inferences_saved", raised.inferences_saved)
            raised.span.set_attribute("htppower.calls_saved", raised.calls_saved)
        else:
            self._add_event(raised.span, event, type(event).__name__)

    def _add_event(self, span: Span, event: Event, name: str) -> None:
        values = event.degradation if isinstance(event, Degraded) else event
        said = {field.name: getattr(values, field.name) for field in attrs.fields(type(values))}
        fields = {
            f"htppower.{field}": value if isinstance(value, int) else encodable(str(value))
            for field, value in said.items()
            if field not in _COMMON and value is not None
        }
        span.add_event(name, fields, self._ns(event.time_us))

    def _export_waiting(self, session: int) -> None:
        for call in self._waiting.pop(session, ()):
            self._export_call(call)

    def _export_call(self, call: CallMade) -> None:
        parent = self._raised.get(call.session)
        attributes = {**_attributes(call), "htppower.code": call.code, "htppower.result": code_name(call.code)}
        if call.power_config_id is not None:
            attributes["htppower.power_config_id"] = call.power_config_id
        if call.votes is not None:
            attributes["htppower.votes"] = str(call.votes)
        span = self._tracer.start_span(
            call.function,
            Context() if parent is None else trace.set_span_in_context(parent.span, Context()),
            SpanKind.CLIENT,
            attributes,
            start_time=self._ns(call.time_us - call.duration_us),
        )
        if call.code != SUCCESS:
            span.set_status(Status(StatusCode.ERROR, f"{call.code} {code_name(call.code)}"))
        span.end(self._ns(call.time_us))

    def _ns(self, time_us: int) -> int:
        return time_us * 1000 + self._offset_ns


def _attributes(event: Event) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {"htppower.session": event.session, "htppower.profile": encodable(event.profile)}
    if event.owner is not None:
        attributes["htppower.owner"] = encodable(str(event.owner))
    return attributes
