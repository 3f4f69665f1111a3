"""Metrics of a controller in the files of prometheus_client's multi-process mode (``PROMETHEUS_MULTIPROC_DIR``).

In this mode any worker process of a server answers a scrape, from files that all of them write; the collectors of a
registry are not called. Metrics that are counted from events are written as they are counted. Values from ``status()``,
otherwise read at a scrape, are written here periodically.
"""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.workers import start_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.subscribers.snapshot import Sample

_LOGGER = logging.getLogger("htppower")

# Prometheus usually scrapes every 15 s.
REFRESH_S = 5.0


def is_multiprocess() -> bool:
    """Return whether this process runs in multi-process mode."""
    return bool(os.environ.get("PROMETHEUS_MULTIPROC_DIR"))


class StatusFiles:
    """Writes samples into the files of this process: once at the start, and then every 5 s on a separate thread.

    Gauges are summed over the live processes (mode ``livesum``): a server reports an ended process with
    ``prometheus_client.multiprocess.mark_process_dead``.

    Args:
        read: returns the samples; each must have the same labels every time.
    """

    def __init__(self, read: Callable[[], Iterable[Sample]]) -> None:
        self._read = read
        # The registry is a separate one, which is never scraped, so it accepts the metrics of several controllers.
        self._registry = CollectorRegistry()
        self._gauges: dict[str, Gauge] = {}
        self._counters: dict[str, Counter] = {}
        self._counted: dict[tuple[str, tuple[str, ...]], float] = {}
        self._lock = whole_lock()
        self._ended = threading.Event()
        self.refresh()
        start_apart(threading.Thread(target=self._refresh_always, name="htppower-metrics", daemon=True).start)

    def refresh(self) -> None:
        """Write the current samples."""
        with self._lock:
            if not self._ended.is_set():
                self._write(self._read())

    def close(self) -> None:
        """Write the totals a last time, and 0 for every gauge, since the controller is no longer read."""
        with self._lock:
            if self._ended.is_set():
                return
            self._ended.set()
            self._write(self._read(), ended=True)

    def _refresh_always(self) -> None:
        told = False
        while not self._ended.wait(REFRESH_S):
            try:
                self.refresh()
            except (
                Exception
            ):  # such as a full disk or a missing folder: without a retry, the metrics would stop changing
                if not told:
                    _LOGGER.exception("the metrics can't be written; tried again every %g s", REFRESH_S)
                told = True
            else:
                told = False

    def _write(self, samples: Iterable[Sample], *, ended: bool = False) -> None:
        for sample in samples:
            for labels, value in sample.values.items():
                if sample.rises:
                    self._count(sample, labels, value)
                else:
                    self._gauge(sample, labels).set(0 if ended else value)

    def _count(self, sample: Sample, labels: tuple[str, ...], value: float) -> None:
        before = self._counted.get((sample.name, labels), 0.0)
        counter = self._counters.get(sample.name)
        if counter is None:
            counter = Counter(sample.name, sample.meaning, sample.labels, registry=self._registry)
            self._counters[sample.name] = counter
        (counter.labels(*labels) if labels else counter).inc(value - before)
        # This comes last, so that after a failed write the next call counts the difference.
        self._counted[sample.name, labels] = value

    def _gauge(self, sample: Sample, labels: tuple[str, ...]) -> Gauge:
        gauge = self._gauges.get(sample.name)
        if gauge is None:
            gauge = Gauge(
                sample.name, sample.meaning, sample.labels, registry=self._registry, multiprocess_mode="livesum"
            )
            self._gauges[sample.name] = gauge
        return gauge.labels(*labels) if labels else gauge
