"""Files that are small where they lie, and large in memory, and what reading one takes a command."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Taken(NamedTuple):
    """What a command took: its time in s, its memory in MB, its exit code, and what it printed as errors."""

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


def take(*arguments: str) -> Taken:
    """Run ``htppower`` with arguments, and return what it took."""
    began_s = time.monotonic()
    command = [sys.executable, "-m", "htppower", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    per_mb = 2**20 if sys.platform == "darwin" else 2**10
    return Taken(time.monotonic() - began_s, usage.ru_maxrss / per_mb, process.returncode, said)
