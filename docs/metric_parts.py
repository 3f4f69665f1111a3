"""The tables of metrics, from a scrape of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from prometheus_client import CollectorRegistry, Counter, Histogram

import htppower
from htppower.control.clock.reading import ClockReading
from htppower.profiles.sustain import Adaptive
from htppower.subscribers.prometheus import PrometheusMetrics
from htppower.subscribers.snapshot import CLOCKS, clock_samples, controller_samples, session_samples
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import Metric

    from htppower import Profile
    from htppower.control.status.controller_status import ControllerStatus

_OF_A_SESSION = "htppower_session_"
_OF_A_CLOCK = tuple(f"htppower_{name}_" for name, *_ in CLOCKS)


class _Everything:
    """A source of readings with every value."""

    name = "libqcnpuperf"

    def open(self) -> None:
        """Do nothing."""

    def read(self, now_ns: int) -> ClockReading:
        """Return a reading."""
        return ClockReading(self.name, now_ns, 1_401_000, 43.2, 12.0, 80.0, 2310.0)

    def close(self) -> None:
        """Do nothing."""


def _part_of(name: str) -> str:
    """Return the part of the page that a metric belongs to."""
    kinds = {_OF_A_SESSION: "session", **dict.fromkeys(_OF_A_CLOCK, "clock")}
    return next((part for begin, part in kinds.items() if name.startswith(begin)), "all")


def _families(part: str) -> str:
    """Return a row for each metric: its name, its type, its labels and its help."""
    registry = CollectorRegistry()
    with htppower.VoteController("simulated", time=VirtualTime(), handle_sigterm=False) as controller:
        controller.session(_learning())
        htppower.ClockReader(controller, _Everything())
        metrics = PrometheusMetrics(controller, registry)
        labels = _labels(metrics, controller.status())
        families = [(_name(family), family.type, family.documentation) for family in registry.collect()]
        metrics.close()
    rows = (
        f"| `{name}` | {kind} | {', '.join(f'`{label}`' for label in labels[name])} | {said} |"
        for name, kind, said in families
        if _part_of(name) == part
    )
    return "\n".join(("| Metric | Type | Labels | What |", "| --- | --- | --- | --- |", *rows))


def _learning() -> Profile:
    """Return a profile whose sustain time is learnt: only its sessions have the metrics of that."""
    burst = htppower.load_profile("burst")
    sustain = Adaptive(break_even_us=100_000)
    return attrs.evolve(burst, relax=burst.relax and attrs.evolve(burst.relax, after_inference_us=sustain))


def _name(family: Metric) -> str:
    """Return the name of a metric in queries."""
    return f"{family.name}_total" if family.type == "counter" else str(family.name)


def _labels(metrics: PrometheusMetrics, status: ControllerStatus) -> dict[str, tuple[str, ...]]:
    """Return the labels of each metric, by its name."""
    counted = vars(metrics._counted).values()  # noqa: SLF001 - a metric without a value has its labels only here
    labels = {
        _name(next(iter(each.describe()))): tuple(each._labelnames)  # noqa: SLF001 - the same
        for each in counted
        if isinstance(each, (Counter, Histogram))
    }
    samples = (*controller_samples(status), *session_samples(status), *clock_samples(status))
    return {"htppower_state_seconds_total": ("state",), "htppower_calls_saved_total": (), **labels} | {
        each.name: each.labels for each in samples
    }


PARTS: dict[str, Callable[[], str]] = {
    "metrics-of-all": lambda: _families("all"),
    "metrics-of-a-session": lambda: _families("session"),
    "metrics-of-a-clock": lambda: _families("clock"),
}
