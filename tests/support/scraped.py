"""Metrics of a bench's controller, and the values of a scrape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from htppower.subscribers.prometheus import PrometheusMetrics

if TYPE_CHECKING:
    from support.bench import Bench


class Scraped:
    """A bench with metrics, and the values of a scrape by name and labels."""

    def __init__(self, bench: Bench, **options: Any) -> None:
        self.registry = CollectorRegistry()
        self.metrics = PrometheusMetrics(bench.controller, self.registry, **options)

    def __call__(self, name: str, **labels: str) -> float | None:
        """Return the value of a series; None if it does not exist."""
        return self.registry.get_sample_value(name, labels)

    def samples(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        """Return all of a scrape."""
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if not sample.name.endswith("_created")
        }
