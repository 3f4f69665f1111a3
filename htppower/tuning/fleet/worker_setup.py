"""What Dask runs first in each worker process that is started on this machine (its option ``preload``)."""

from __future__ import annotations

import signal


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C to the process that started the worker: a terminal sends it to both, and that one ends the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
