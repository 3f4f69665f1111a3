"""Measures the memory in use.

Memory under load depends on the work in flight. So the threads are stopped for a moment, faults are cleared, events are
flushed and garbage is collected. Caches of functions are cleared: they are bounded, but grow as long as the chaos finds
new combinations of votes and new ids. Then two values are measured, each the median of five. The first is the memory
that Python has allocated since just before the controller was made, including modules: about 3 MB, so that a leak of a
few bytes for each inference is visible. This value is checked. The second is the resident set of the process, which is
only shown: it includes free memory of the allocator and the data of ``tracemalloc``, and grows in the first minute by
more than 5 % without a leak.

On a free-threaded Python each thread needs about 60 KiB, so idle threads are ended first. From CPython 3.14, each
thread also has its own copy of the bytecode, which is kept. All copies together are bounded, but grow by 20 % and more
as long as the chaos starts more threads. Then the growth is only shown. With ``-X tlbc=0``, which avoids the copies, it
is checked.
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
import time
import tracemalloc
from pathlib import Path

import attrs

from htppower.control.core.engine import WORKER_IDLE_S

MOST_GROWTH = 0.05
PACKAGE = "htppower."
_SAMPLES = 5
_STATM = Path("/proc/self/statm")
_PAGE_KIB = 4


@attrs.frozen
class Memory:
    """The memory in use at one time.

    Attributes:
        traced_bytes: the memory that Python has allocated since counting was switched on.
        resident_kib: the resident set; 0 if the system does not report it.
    """

    traced_bytes: int
    resident_kib: int

    def growth_from(self, first: Memory) -> float:
        """Return the growth of Python's allocations, as a share."""
        return self.traced_bytes / first.traced_bytes - 1


def threads_weigh() -> bool:
    """Return whether this Python runs without the interpreter's lock."""
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


def is_checked() -> bool:
    """Return whether growth is a leak; it may not be if each thread has its own copy of the bytecode."""
    copies = sys.version_info >= (3, 14) and "0" not in (sys._xoptions.get("tlbc"), os.environ.get("PYTHON_TLBC"))  # noqa: SLF001 - documented
    return not (threads_weigh() and copies)


def in_use() -> Memory:
    """Return the memory in use, the median of five samples 10 ms apart."""
    if threads_weigh():
        time.sleep(WORKER_IDLE_S + 1)
    for name, module in tuple(sys.modules.items()):
        if name.startswith(PACKAGE):
            for made in tuple(vars(module).values()):
                if hasattr(made, "cache_clear"):
                    made.cache_clear()
    samples = []
    for _ in range(_SAMPLES):
        gc.collect()
        samples.append((tracemalloc.get_traced_memory()[0], _resident_kib()))
        time.sleep(0.01)
    traced, resident = zip(*samples, strict=True)
    return Memory(int(statistics.median(traced)), int(statistics.median(resident)))


def _resident_kib() -> int:
    return int(_STATM.read_text(encoding="ascii").split()[1]) * _PAGE_KIB if _STATM.exists() else 0
