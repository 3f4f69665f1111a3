"""The page on metrics has exactly the metrics of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry
from support.checkout import ROOT
from support.clocks import ScriptedClock
from support.inside import label_names
from support.learning import learning

from htppower import ClockReader
from htppower.subscribers import opentelemetry, opentelemetry_metrics
from htppower.subscribers.prometheus import PrometheusMetrics
from htppower.subscribers.snapshot import CLOCKS, clock_samples, controller_samples, session_samples

if TYPE_CHECKING:
    from support.bench import Bench

PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")


def test_the_tables_have_every_metric_with_type_and_labels(bench: Bench) -> None:
    """Name, type and labels of a row match the code."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("| `htppower_")
    ]
    said = {row[0].strip("`"): (row[1], tuple(re.findall(r"\w+", row[2]))) for row in rows}
    bench.controller.session(learning(break_even_us=100_000))
    every = ScriptedClock(clock_khz=1, q6_use_percent=1, hvx_use_percent=1, hmx_use_percent=1, power_mw=1)
    ClockReader(bench.controller, every)
    registry = CollectorRegistry()
    metrics = PrometheusMetrics(bench.controller, registry)
    types = {family.name + ("_total" if family.type == "counter" else ""): family.type for family in registry.collect()}
    labels = label_names(metrics)
    status = bench.controller.status()
    for sample in (*controller_samples(status), *session_samples(status), *clock_samples(status)):
        labels[sample.name] = sample.labels
    assert said == {name: (kind, labels[name]) for name, kind in types.items()}
    metrics.close()


def test_the_page_names_every_attribute_of_spans() -> None:
    """The page has exactly the attributes that the code sets on a span."""
    files = (opentelemetry.__file__, opentelemetry_metrics.__file__)
    code = "".join(Path(file).read_text(encoding="utf-8") for file in files if file is not None)
    in_code = {*re.findall(r'"(htppower\.\w+)"', code), *(f"htppower.{name}" for name, *_ in CLOCKS)}
    assert in_code == set(re.findall(r"`(htppower\.[a-z0-9_]+)`", PAGE)) - {"htppower.subscribers"}


@pytest.mark.parametrize("name", ["alerts.yaml", "dashboard.json"])
def test_alerts_and_dashboard_ask_for_metrics_that_there_are(name: str) -> None:
    """Every metric that they use has a row on the page."""
    asked = set(re.findall(r"htppower_\w+", (ROOT / "docs" / "monitoring" / name).read_text(encoding="utf-8")))
    rows = set(re.findall(r"^\| `(htppower_\w+)`", PAGE, re.MULTILINE))
    assert {re.sub(r"_bucket$", "", metric) for metric in asked} <= rows


def test_every_alert_is_on_the_page_and_has_a_test() -> None:
    """The page lists the alerts in order, and promtool tests each."""
    alerts = re.findall(r"- alert: (\w+)", (ROOT / "docs" / "monitoring" / "alerts.yaml").read_text(encoding="utf-8"))
    assert re.findall(r"^\| `(Htp\w+)`", PAGE, re.MULTILINE) == alerts
    tried = (ROOT / "docs" / "monitoring" / "alerts_test.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"alertname: (\w+)", tried)) == set(alerts)
