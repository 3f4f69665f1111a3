"""Trace files of a fleet, for tests and benchmarks, and answers made by hand."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import numpy as np
from support.trace_files import Ran, own_header, own_line

from htppower.tools.tuning.fleet.gap_histogram import GapHistogram
from htppower.tools.tuning.fleet.records import Cost, FileGaps, TraceFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_INFERENCE_US = 5_000


def recording(gaps_us: Iterable[int], session: str = "camera", pid: int = 4711) -> str:
    """Return a recording of inferences of 5 ms with these gaps between them."""
    line = own_line(Ran(0, _INFERENCE_US, session), pid=pid)
    begins_us = itertools.accumulate((gap + _INFERENCE_US for gap in gaps_us), initial=1_000)
    return own_header(pid) + "".join(line.replace('"ts":0,', f'"ts":{begin},') for begin in begins_us)


def random_gaps(seed: int, inferences: int) -> list[int]:
    """Return the gaps of a device whose mean gap is between 3 ms and 2 s."""
    drawn = random.Random(seed)
    mean_us = 1000 * 10 ** drawn.uniform(0.5, 3.3)
    return [int(drawn.expovariate(1 / mean_us)) for _ in range(inferences - 1)]


def write_fleet(folder: Path, files: int, inferences: int) -> None:
    """Write traces, each of a different device."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        text = recording(random_gaps(number, inferences))
        (folder / f"device{number:05}.json").write_text(text, encoding="utf-8")


def answer(
    path: str, gaps_us: Sequence[int], *, learnt: Sequence[Cost] = (), break_even_us: int = 100_000, size: int = 1
) -> FileGaps:
    """Return the answer of a file with these gaps."""
    gaps = np.array(gaps_us, dtype=np.int64)
    clairvoyant_us = int(np.minimum(gaps, break_even_us).sum())
    counted = GapHistogram.of(gaps)
    return FileGaps(TraceFile(path, size, 1), 1, len(gaps_us) + 1, counted, clairvoyant_us, tuple(learnt))
