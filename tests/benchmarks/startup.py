"""The start-up of the command as a whole process, beside that of Python and of the libraries alone."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = (
    ("htppower profile burst --dry-run", ("-m", "htppower", "profile", "burst", "--dry-run"), 200),
    ("htppower list", ("-m", "htppower", "list"), 120),
    ("htppower show burst", ("-m", "htppower", "show", "burst"), None),
    ("importing click, yaml and attrs alone", ("-c", "import click, yaml, attrs"), None),
    ("Python alone", ("-c", "pass"), None),
)


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the median of each command, run in turn."""
    runs = 1 if smoke else 15
    # As installed: with bytecode, which the first, uncounted run of an editable install writes.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name, _, _ in COMMANDS}
    for _ in range(runs + 1):
        for name, arguments, _ in COMMANDS:
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
            times[name].append(time.perf_counter() - start)
    for name, _, budget in COMMANDS:
        counted = times[name][1:]
        detail = f"median of {runs}, smallest {min(counted) * 1000:.0f} ms"
        yield Figure(f"{name}, whole process", statistics.median(counted) * 1000, budget, "ms", detail)
