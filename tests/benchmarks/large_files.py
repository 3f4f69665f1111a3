"""The memory and time to read files that are made to take much, and a normal recording of millions of inferences."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure
from support.costly_files import packed, take

if TYPE_CHECKING:
    from collections.abc import Iterator

# Budgets for files of 50 MB, in MB and s.
MOST_MB = 1_000
MOST_S = 60
# The number of inferences of an ordinary recording that is tuned.
INFERENCES = 2_000_000
_STEP = 2**20


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield memory and time of a command on each file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command, path in _files(folder, 0.02 if smoke else 1.0):
            taken = take(command, str(path))
            detail = f"{taken.took_s:.1f} s of {MOST_S} s, code {taken.code}; {path.stat().st_size / 1e6:.1f} MB"
            yield Figure(f"memory of {command} {path.name}", taken.most_mb, MOST_MB, "MB", detail)
            path.unlink()


def _files(folder: Path, scale: float) -> Iterator[tuple[str, Path]]:
    """Yield commands, each with a file for it."""
    head = b"begin_us,end_us\n1,2\n"
    times = max(1, int(48 * scale))
    yield "trace", packed(folder / "rows.csv.gz", (head, *[b"1,2\n" * _STEP] * times))
    yield "trace", packed(folder / "empty.csv.gz", (head, *[b"\n" * _STEP] * times))
    yield "advise", packed(folder / "lists.json.gz", (b'{"components":[', *[b"[]," * _STEP] * times, b"[]]}"))
    for command in ("advise", "status"):
        yield command, _written(folder / "objects.json", b'{"components":[', b"{},", int(16_000_000 * scale), b"{}]}")
    yield "trace", _written(folder / "rows.csv", head, b"1,2\n", int(12_500_000 * scale), b"")
    queries = b'{"type":"GenieDialog_query","duration":1},'
    genie = b'{"header":{"artifact_type":"GENIE_PROFILE"},"components":[{"name":"a","events":['
    yield "advise", _written(folder / "genie.json", genie, queries, int(600_000 * scale), b"{}]}]}")
    hub = b'{"execution_summary":{"all_inference_times":['
    yield "advise", _written(folder / "ai_hub.json", hub, b"1.5,", int(4_900_000 * scale), b"1.5]}}")
    qairt = b'{"messages":[{"method":"BACKEND_EXECUTE","profilingEvents":['
    event = b'{"identifier":"RPC (execute) time","value":1,"unit":"us"},'
    yield "advise", _written(folder / "qairt.json", qairt, event, int(700_000 * scale), event[:-1] + b"]}]}")
    yield "tune", _honest(folder / "honest.csv", int(INFERENCES * scale))


def _written(path: Path, begin: bytes, part: bytes, times: int, end: bytes) -> Path:
    path.write_bytes(begin + part * times + end)
    return path


def _honest(path: Path, inferences: int) -> Path:
    """Write a table of inferences with random times and gaps."""
    drawn = random.Random(1)
    time_us = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("begin_us,end_us\n")
        for _ in range(inferences):
            end_us = time_us + drawn.randint(3_000, 6_000)
            file.write(f"{time_us},{end_us}\n")
            time_us = end_us + int(drawn.expovariate(1 / 30_000))
    return path
