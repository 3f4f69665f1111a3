"""How much memory is in use, as far as it can be told honestly.

Under load it says more of what is in flight than of what is kept. So the threads are stopped for a moment, what was
broken is mended, events are flushed and garbage is collected. What functions have computed and remember is forgotten:
it is bounded, but grows as long as the chaos finds new combinations of votes and new ids. Then two figures are taken,
each the median of five. One is what Python has allocated since just before the controller was made, the modules loaded
since included: some 3 MB, in which a leak of a few bytes an inference shows. That one is checked. The other is the
resident set of the process. It is only shown: it holds what the allocator keeps for later and the accounts of
``tracemalloc`` itself, and grows in the first minute by more than 5 % without anything being kept.

Without the interpreter's lock each thread weighs some 60 KiB, so those that have nothing to do are let end before. From
CPython 3.14 on it has its own copy of the bytecode that it runs, too, which stays: all copies together are bounded, but
grow by 20 % and more as long as the chaos starts more threads. Then the growth is only shown; with ``-X tlbc=0``, which
leaves the copies out, it is checked.
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
    """What was in use at one time.

    Attributes:
        traced_bytes: what Python has allocated since it was first asked to keep count.
        resident_kib: the resident set; 0 where the system does not tell.
    """

    traced_bytes: int
    resident_kib: int

    def growth_from(self, first: Memory) -> float:
        """Return by what part what Python has allocated has grown."""
        return self.traced_bytes / first.traced_bytes - 1


def threads_weigh() -> bool:
    """Return whether this Python runs without the interpreter's lock."""
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


def is_checked() -> bool:
    """Return whether growth is a leak: not where each thread has its own copy of the bytecode."""
    copies = sys.version_info >= (3, 14) and "0" not in (sys._xoptions.get("tlbc"), os.environ.get("PYTHON_TLBC"))
    return not (threads_weigh() and copies)


def in_use() -> Memory:
    """Return what is in use now, the median of five samples 10 ms apart."""
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
