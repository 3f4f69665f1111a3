"""The measured clock as gauges of Prometheus and OpenTelemetry, only with a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from support.clocks import ScriptedClock

from htppower import ClockReader
from htppower.subscribers.opentelemetry import subscribe

if TYPE_CHECKING:
    from support.bench import Bench
    from support.scraped import Scraped

NAMES = ("clock_hertz", "q6_use_ratio", "hvx_use_ratio", "hmx_use_ratio", "power_watts")


def scraped_clocks(scraped: Scraped, source: str) -> list[float | None]:
    """Return the gauges of a source; None for those that do not exist."""
    return [scraped(f"htppower_{name}", source=source) for name in NAMES]


def test_each_value_has_a_gauge_in_its_base_unit(bench: Bench, scraped: Scraped) -> None:
    """Hz, shares and watts, by source; a value that a source lacks has no series."""
    assert not any(name.startswith(tuple(f"htppower_{each}" for each in NAMES)) for name, _ in scraped.samples())
    clock = ScriptedClock("dsp", clock_khz=1_401_000, q6_use_percent=43.0, hvx_use_percent=0.0)
    power = ScriptedClock("rail", power_mw=2310.5)
    with ClockReader(bench.controller, clock), ClockReader(bench.controller, power):
        assert scraped_clocks(scraped, "dsp") == [1_401_000_000, pytest.approx(0.43), 0, None, None]
        assert scraped_clocks(scraped, "rail") == [None, None, None, None, pytest.approx(2.3105)]
        clock.failing = ("read", OSError("gone"))
        bench.time.advance_us(2_000_000)
        assert scraped_clocks(scraped, "dsp") == [None] * 5
    assert scraped_clocks(scraped, "rail") == [None] * 5


def test_opentelemetry_has_the_same(bench: Bench) -> None:
    """The gauges have the controller and the source as attributes, and end with the reader."""
    reader = InMemoryMetricReader()
    end = subscribe(bench.controller, meter_provider=MeterProvider([reader], shutdown_on_exit=False))

    def collected() -> dict[str, list[tuple[Any, dict[str, object]]]]:
        data = reader.get_metrics_data()
        resources = [] if data is None else data.resource_metrics
        metrics: Any = (metric for each in resources for scope in each.scope_metrics for metric in scope.metrics)
        return {
            metric.name: [(point.value, dict(point.attributes or {})) for point in metric.data.data_points]
            for metric in metrics
            if metric.data.data_points
        }

    assert "htppower.clock" not in collected()
    with ClockReader(bench.controller, ScriptedClock("dsp", clock_khz=1_401_000, hmx_use_percent=80.0)):
        found = collected()
        attributes = {"htppower.controller": 1, "htppower.source": "dsp"}
        assert found["htppower.clock"] == [(1_401_000_000, attributes)]
        assert found["htppower.hmx_use"] == [(pytest.approx(0.8), attributes)]
        assert not {"htppower.power", "htppower.q6_use"} & set(found)
    assert "htppower.clock" not in collected()
    end()
