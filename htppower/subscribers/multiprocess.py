"""Metrics of a controller in the files of prometheus_client's multi-process mode (``PROMETHEUS_MULTIPROC_DIR``).

There any worker of a server answers a scrape, out of files that all of them write, and no collector is asked. What is
counted from events is written as it is counted. What a scrape would read from ``status()`` is written here, again and
again.
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

# A scrape every 15 s is the custom.
REFRESH_S = 5.0


def is_multiprocess() -> bool:
    """Return whether this process runs in multi-process mode."""
    return bool(os.environ.get("PROMETHEUS_MULTIPROC_DIR"))


class StatusFiles:
    """Writes samples into the files of this process, at once and every 5 s, on a thread of its own.

    Gauges are summed over the processes that live (mode ``livesum``): a server tells of one that has ended by
    ``prometheus_client.multiprocess.mark_process_dead``.

    Args:
        read: returns the samples; each has the same labels every time.
    """

    def __init__(self, read: Callable[[], Iterable[Sample]]) -> None:
        self._read = read
        # A registry of its own: nobody scrapes it, and it refuses no second controller.
        self._registry = CollectorRegistry()
        self._gauges: dict[str, Gauge] = {}
        self._counters: dict[str, Counter] = {}
        self._counted: dict[tuple[str, tuple[str, ...]], float] = {}
        self._lock = whole_lock()
        self._ended = threading.Event()
        self.refresh()
        start_apart(threading.Thread(target=self._refresh_always, name="htppower-metrics", daemon=True).start)

    def refresh(self) -> None:
        """Write the samples as they are now."""
        with self._lock:
            if not self._ended.is_set():
                self._write(self._read())

    def close(self) -> None:
        """Write the totals a last time, and 0 for every gauge: the controller is not looked at any more."""
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
            except Exception:  # a full disk, or a folder that is gone: what is scraped would stand still for good
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
        # Last: what could not be written is counted by the next.
        self._counted[sample.name, labels] = value

    def _gauge(self, sample: Sample, labels: tuple[str, ...]) -> Gauge:
        gauge = self._gauges.get(sample.name)
        if gauge is None:
            gauge = Gauge(
                sample.name, sample.meaning, sample.labels, registry=self._registry, multiprocess_mode="livesum"
            )
            self._gauges[sample.name] = gauge
        return gauge.labels(*labels) if labels else gauge
