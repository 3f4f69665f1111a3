"""The thread that writes metrics in multi-process mode."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from htppower.subscribers import multiprocess
from htppower.subscribers.multiprocess import StatusFiles
from htppower.subscribers.snapshot import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


def test_a_writing_that_fails_is_not_the_last(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged once, however often it fails, and what is scraped goes on when it works again."""
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
