"""Files that are small on disk and large in memory, and the cost of a command that reads one."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Taken(NamedTuple):
    """The cost of a command: its time in s, its memory in MB, its exit code, and what it printed as errors."""

    took_s: float
    most_mb: float
    code: int
    said: str


def packed(path: Path, parts: Iterable[bytes]) -> Path:
    """Write parts into a file that is packed with gzip."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        for part in parts:
            file.write(part)
    return path


# Linux counts the memory of the parent for a new process, so a small process starts the command.
_MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)
"""


def take(*arguments: str) -> Taken:
    """Run ``htppower`` with arguments, and return its cost."""
    began_s = time.monotonic()
    command = [sys.executable, "-S", "-c", _MEASURE, sys.executable, "-m", "htppower", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, most = map(int, done.stdout.split())
    per_mb = 2**20 if sys.platform == "darwin" else 2**10
    return Taken(time.monotonic() - began_s, most / per_mb, code, done.stderr)
