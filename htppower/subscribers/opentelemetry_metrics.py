"""Metrics for OpenTelemetry: inferences, waits for native calls and their length, and the link to the DSP.

``subscribers.opentelemetry.subscribe`` creates them together with the spans. Without a meter provider they go nowhere.
Only values that are read at each collection have a session as an attribute, so such a series ends with its session.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from opentelemetry import metrics

from htppower._version import __version__
from htppower.events import ColdStart, LinkChanged, LinkState
from htppower.subscribers.snapshot import CLOCKS, encodable, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation

    from htppower.control.controller import VoteController
    from htppower.control.status.controller_status import ControllerStatus, SessionStatus
    from htppower.events import Event

_US = 1_000_000


def measure(
    controller: VoteController, meter_provider: MeterProvider | None
) -> tuple[Callable[[Event], None], Callable[[], None]]:
    """Measure the inferences and the link of a controller; return an event subscriber, and a function that ends it."""
    meter = metrics.get_meter("htppower", __version__, meter_provider)
    # The list is emptied at the end, since the API can't unregister a callback.
    read = [controller]

    def observed(value: Callable[[SessionStatus], int]) -> Callable[[CallbackOptions], Iterator[Observation]]:
        def observe(_options: CallbackOptions) -> Iterator[Observation]:
            for each in read:
                status = each.status()
                for session in status.sessions:
                    yield metrics.Observation(value(session), _attributes(status.number, session))

        return observe

    def observe_link(_options: CallbackOptions) -> Iterator[Observation]:
        for each in read:
            yield from _link(each.status())

    meter.create_observable_counter(
        "htppower.inferences",
        [observed(lambda session: session.inferences)],
        unit="{inference}",
        description="Inferences of an open session that have begun.",
    )
    meter.create_observable_counter(
        "htppower.cold_starts",
        [observed(lambda session: session.cold_starts.count)],
        unit="{inference}",
        description="Inferences of an open session that waited for a native call.",
    )
    waits = meter.create_histogram(
        "htppower.cold_start.wait", unit="s", description="How long inferences waited for a native call."
    )
    meter.create_observable_gauge(
        "htppower.link", [observe_link], description="1 for the state of the link to the DSP, 0 for the others."
    )
    _measure_clocks(meter, read)
    losses = meter.create_counter("htppower.link.losses", unit="{loss}", description="Losses of the link to the DSP.")

    def note(event: Event) -> None:
        if isinstance(event, ColdStart):
            waits.record(event.wait_us / _US)
        elif isinstance(event, LinkChanged) and event.dest in (LinkState.LOST, LinkState.DEAD):
            losses.add(1, {"htppower.link.state": str(event.dest)})

    return note, read.clear


def _measure_clocks(meter: Meter, read: list[VoteController]) -> None:
    def observe(field: str, factor: float, _options: CallbackOptions) -> Iterator[Observation]:
        for each in read:
            status = each.status()
            for (source,), value in measured(status, field, factor).items():
                attributes: dict[str, str | int] = {"htppower.controller": status.number}
                yield metrics.Observation(value, {**attributes, "htppower.source": encodable(source)})

    for name, _, unit, description, field, factor in CLOCKS:
        callback = functools.partial(observe, field, factor)
        meter.create_observable_gauge(f"htppower.{name}", [callback], unit=unit, description=description)


def _link(status: ControllerStatus) -> Iterator[Observation]:
    for state in LinkState:
        attributes: dict[str, str | int] = {"htppower.controller": status.number, "htppower.link.state": str(state)}
        yield metrics.Observation(int(status.link is state), attributes)


def _attributes(controller: int, session: SessionStatus) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {"htppower.controller": controller, "htppower.session": session.number}
    if session.owner is not None:
        attributes["htppower.owner"] = encodable(str(session.owner))
    return attributes
