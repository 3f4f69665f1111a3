"""Spans for OpenTelemetry: one for each time that a session's votes are up, with its native calls as children.

unsubscribe = subscribe(controller)

Only the API is imported: where a host has set up no tracer provider, spans cost next to nothing and go nowhere.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import attrs

from htppower._version import __version__
from htppower.events import CallMade, CallsSaved, Degraded, Event, State, Transition, Trigger
from htppower.votes.native_codes import SUCCESS, code_name

try:
    from opentelemetry import trace
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind, Status, StatusCode
except ImportError as error:
    raise ImportError('the API of OpenTelemetry can\'t be imported: pip install "htppower[otel]"') from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.trace import Span, Tracer, TracerProvider

    from htppower.control.controller import VoteController
    from htppower.control.status.controller_status import ControllerStatus

_COMMON = frozenset(field.name for field in attrs.fields(Event))


def subscribe(controller: VoteController, tracer_provider: TracerProvider | None = None) -> Callable[[], None]:
    """Make spans of what a controller tells from now on.

    Their times are those of the controller's clock, set against the wall clock once, here: a step of the wall clock
    moves none of them.

    Args:
        controller: subscribed to.
        tracer_provider: where the spans go; the host's global one where none is given.

    Returns:
        What ends the subscription, and the spans that are open.
    """
    tracer = trace.get_tracer("htppower", __version__, tracer_provider)
    spans = _Spans(tracer, time.time_ns() - controller.status().time_us * 1000, controller.status)
    unsubscribe = controller.subscribe(spans)

    def end() -> None:
        unsubscribe()
        spans.close(controller.status().time_us)

    return end


@attrs.define(eq=False)
class _Raised:
    """The open span of a session, with what the inferences in it did without so far."""

    span: Span
    inferences_saved: int = 0
    calls_saved: int = 0


@attrs.frozen
class _Check:
    """What a status said after events were lost.

    Attributes:
        time_us: when it was taken.
        sessions: the numbers of the open sessions.
        over: spans of votes that were no longer up. The event that ends one may be lost, or still be under way.
    """

    time_us: int
    sessions: frozenset[int]
    over: dict[int, _Raised]


class _Spans:
    """The subscriber, with the spans that are open.

    Args:
        tracer: makes spans.
        offset_ns: what the wall clock is ahead of the controller's.
        status: asked when events were lost.
    """

    def __init__(self, tracer: Tracer, offset_ns: int, status: Callable[[], ControllerStatus]) -> None:
        self._tracer = tracer
        self._offset_ns = offset_ns
        self._lock = threading.Lock()
        self._closed = False
        self._status = status
        self._order = 0
        self._lost = False
        self._check: _Check | None = None
        self._raised: dict[int, _Raised] = {}
        # Calls that may turn out to be those of a raise, whose span is told of after them.
        self._waiting: dict[int, list[CallMade]] = {}

    def __call__(self, event: Event) -> None:
        """Make of an event what it is in spans."""
        # Without our lock: a status waits for the controller's.
        self._look_for_losses(event)
        with self._lock:
            if self._closed:
                return
            self._settle(event.time_us)
            if isinstance(event, CallMade):
                self._called(event)
            elif isinstance(event, Transition):
                self._moved(event)
            else:
                self._note(event)

    def close(self, now_us: int) -> None:
        """End the spans that are open."""
        with self._lock:
            self._closed = True
            for raised in self._raised.values():
                raised.span.end(self._ns(now_us))
            self._raised.clear()

    def _look_for_losses(self, event: Event) -> None:
        """Where events were lost, ask what is so; not again before the events up to that have come."""
        self._lost = self._lost or 0 < self._order < event.order - 1
        self._order = event.order
        if not self._lost or self._check is not None:
            return
        self._lost = False
        status = self._status()
        up = {session.number for session in status.sessions if session.state is State.RAISED}
        with self._lock:
            over = {number: raised for number, raised in self._raised.items() if number not in up}
        self._check = _Check(status.time_us, frozenset(session.number for session in status.sessions), over)

    def _settle(self, now_us: int) -> None:
        """Once all events before a check have come, end what it found to be over and none of them ended."""
        check = self._check
        if check is None or now_us <= check.time_us:
            return
        self._check = None
        for number, raised in check.over.items():
            if self._raised.get(number) is raised:
                del self._raised[number]
                raised.span.end(self._ns(check.time_us))
        for number in self._waiting.keys() - check.sessions:
            self._pass_on(number)

    def _called(self, call: CallMade) -> None:
        may_raise = call.code == SUCCESS and call.function != "destroyPowerConfigId" and call.session
        if may_raise and call.session not in self._raised:
            self._waiting.setdefault(call.session, []).append(call)
            return
        self._pass_on(call.session)
        self._child(call)

    def _moved(self, event: Transition) -> None:
        raised = self._raised.get(event.session)
        if event.dest is State.RAISED:
            if event.source is State.RAISED and raised is not None:
                self._add(raised.span, event, str(event.trigger))
            else:
                self._begin(event)
            return
        self._pass_on(event.session)
        if raised is not None:
            del self._raised[event.session]
            self._end(raised.span, event)

    def _begin(self, event: Transition) -> None:
        """Begin the span where its first call began, and give it the calls."""
        calls = self._waiting.get(event.session, [])
        begin_us = min([event.time_us, *(call.time_us - call.duration_us for call in calls)])
        attributes = {**_who(event), "htppower.cause": str(event.cause)}
        if event.phase is not None:
            attributes["htppower.phase"] = str(event.phase)
        stale = self._raised.get(event.session)
        if stale is not None:
            # The event that ended it was lost.
            stale.span.end(self._ns(begin_us))
        span = self._tracer.start_span(
            "htppower raised",
            Context(),
            SpanKind.INTERNAL,
            attributes,
            start_time=self._ns(begin_us),
        )
        self._raised[event.session] = _Raised(span)
        self._pass_on(event.session)

    def _end(self, span: Span, event: Transition) -> None:
        span.set_attribute("htppower.end_cause", str(event.cause))
        if event.late_us is not None:
            span.set_attribute("htppower.late_us", event.late_us)
        if event.trigger is Trigger.LOSE:
            span.set_status(Status(StatusCode.ERROR, str(event.error or event.cause)))
        span.end(self._ns(event.time_us))

    def _note(self, event: Event) -> None:
        """Note on the span what else happens; where none is open, it says nothing of a time that votes are up."""
        raised = self._raised.get(event.session)
        if raised is None:
            # The calls that opened a session are no raise's.
            self._pass_on(event.session)
        elif isinstance(event, CallsSaved):
            # A change of the profile tells of them, too, and the votes stay up.
            raised.inferences_saved += event.inferences
            raised.calls_saved += event.calls
            raised.span.set_attribute("htppower.inferences_saved", raised.inferences_saved)
            raised.span.set_attribute("htppower.calls_saved", raised.calls_saved)
        else:
            self._add(raised.span, event, type(event).__name__)

    def _add(self, span: Span, event: Event, name: str) -> None:
        values = event.degradation if isinstance(event, Degraded) else event
        fields = {
            f"htppower.{field.name}": value if isinstance(value := getattr(values, field.name), int) else str(value)
            for field in attrs.fields(type(values))
            if field.name not in _COMMON and getattr(values, field.name) is not None
        }
        span.add_event(name, fields, self._ns(event.time_us))

    def _pass_on(self, session: int) -> None:
        for call in self._waiting.pop(session, ()):
            self._child(call)

    def _child(self, call: CallMade) -> None:
        parent = self._raised.get(call.session)
        attributes = {**_who(call), "htppower.code": call.code, "htppower.result": code_name(call.code)}
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


def _who(event: Event) -> dict[str, str | int]:
    who: dict[str, str | int] = {"htppower.session": event.session, "htppower.profile": event.profile}
    if event.owner is not None:
        who["htppower.owner"] = str(event.owner)
    return who
