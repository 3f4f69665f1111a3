"""The inferences of a controller as metrics of OpenTelemetry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from htppower.subscribers.opentelemetry import subscribe
from htppower.votes.native_codes import SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from support.bench import Bench


def collected(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    """Return the data points of a collection, by the name of their metric."""
    data = reader.get_metrics_data()
    resources = [] if data is None else data.resource_metrics
    metrics = (metric for each in resources for scope in each.scope_metrics for metric in scope.metrics)
    return {metric.name: list(metric.data.data_points) for metric in metrics}


def test_inferences_cold_starts_and_waits(bench: Bench) -> None:
    """Each open session has its counts, and all waits are one histogram in seconds; closing ends them."""
    reader = InMemoryMetricReader()
    end = subscribe(bench.controller, meter_provider=MeterProvider([reader], shutdown_on_exit=False))
    bench.simulated.delay_calls(2_000, "setPowerConfig")
    session, other = bench.controller.session("burst", owner="camera"), bench.controller.session("burst")
    for _ in range(3):
        bench.infer(session)
    points = collected(reader)
    counts = {name: [point.value for point in points[name]] for name in ("htppower.inferences", "htppower.cold_starts")}
    assert counts == {"htppower.inferences": [3, 0], "htppower.cold_starts": [1, 0]}
    named = dict(points["htppower.inferences"][0].attributes)
    assert named == {"htppower.controller": 1, "htppower.session": 1, "htppower.owner": "camera"}
    (waits,) = points["htppower.cold_start.wait"]
    assert (waits.count, waits.sum) == (1, 0.004)
    other.close()
    assert len(collected(reader)["htppower.inferences"]) == 1
    end()
    assert not collected(reader).get("htppower.inferences")  # Older versions keep the metric without a point.


def test_the_state_of_the_link_and_its_losses(bench: Bench) -> None:
    """The state of the link has the value 1, the others 0; each loss is counted by its kind."""
    reader = InMemoryMetricReader()
    end = subscribe(bench.controller, meter_provider=MeterProvider([reader], shutdown_on_exit=False))
    session = bench.controller.session("burst")
    with session.inference():
        bench.controller.link_lost(SYSTEM_COMMUNICATION)
        bench.simulated.fail_next(SYSTEM_COMMUNICATION_FATAL, "renew")
        bench.controller.link_lost(SYSTEM_COMMUNICATION_FATAL)
        points = collected(reader)
        states = {point.attributes["htppower.link.state"]: point.value for point in points["htppower.link"]}
        assert states == {"WELL": 0, "LOST": 0, "SUSPECT": 0, "DEAD": 1, "HELD": 0}
        losses = {point.attributes["htppower.link.state"]: point.value for point in points["htppower.link.losses"]}
        assert losses == {"LOST": 1, "DEAD": 1}
    end()
