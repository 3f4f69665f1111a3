"""The thread that writes metrics in multi-process mode."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, Counter
from support.inside import counted_in, subscription_count

from htppower.subscribers import multiprocess, prometheus
from htppower.subscribers.multiprocess import StatusFiles
from htppower.subscribers.snapshot import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.bench import Bench


def test_a_writing_that_fails_is_not_the_last(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A failing write is logged once, and scrapes are right again when a later write succeeds."""
    monkeypatch.setattr(multiprocess, "REFRESH_S", 0.001)
    reads = 0
    again = threading.Event()

    def read() -> Iterator[Sample]:
        nonlocal reads
        reads += 1
        if 1 < reads < 5:
            raise OSError(28, "No space left on device")
        if reads > 5:
            again.set()
        yield Sample("htppower_test", "A test.", (), {(): 1.0})

    files = StatusFiles(read)
    try:
        assert again.wait(30)
    finally:
        files.close()
    assert [record.message for record in caplog.records] == ["the metrics can't be written; tried again every 0.001 s"]


def test_metrics_that_can_not_be_made_stay_nowhere(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the metrics can't be made, the registry has none of them, so the next metrics are accepted."""

    def full(_read: object) -> None:
        raise OSError(28, "No space left on device")

    registry = CollectorRegistry()
    subscribed = subscription_count(bench.controller)
    with monkeypatch.context() as patched:
        patched.setattr(prometheus, "is_multiprocess", lambda: True)
        patched.setattr(prometheus, "StatusFiles", full)
        with pytest.raises(OSError, match="No space"):
            prometheus.PrometheusMetrics(bench.controller, registry)
    assert subscription_count(bench.controller) == subscribed
    prometheus.PrometheusMetrics(bench.controller, registry).close()


def test_what_could_not_be_counted_is_counted_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """An increase refused by a full disk is part of the next write."""
    total = 5.0
    files = StatusFiles(lambda: [Sample("htppower_test_total", "A test.", (), {(): total})])
    total = 7.0
    with monkeypatch.context() as patched:

        def full(_counter: Counter, _increase: float) -> None:
            raise OSError(28, "No space left on device")

        patched.setattr(Counter, "inc", full)
        with pytest.raises(OSError, match="No space"):
            files.refresh()
    files.close()
    assert counted_in(files, "htppower_test_total") == 7
