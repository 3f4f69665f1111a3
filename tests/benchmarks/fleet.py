"""The traces of a fleet, read by two processes and by one."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from figures import Figure
from support.fleets import write_fleet

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.fleet.files import trace_files
from htppower.tools.tuning.fleet.fleet import read_fleet
from htppower.tools.tuning.fleet.processes import in_processes
from htppower.tools.tuning.fleet.records import Question
from htppower.tools.tuning.fleet.settle import settle

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from htppower.tools.tuning.fleet.chunks import Chunks
    from htppower.tools.tuning.fleet.records import ReadChunk

# One worker takes 15 s, so that the start of the processes, about 0.5 s, hardly counts.
FILES = 3_000
INFERENCES = 300
# The least ratio of the speed of two workers to one worker. It needs two idle cores.
LEAST_GAIN = 1.7
_QUESTION = Question(100_000, (Adaptive(100_000),))


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the ratio of the speed of two workers to one, measured in turn, from the folder to the advice.

    A smoke run has no budget: most of its time is the start of the processes.
    """
    files, runs = (200, 1) if smoke else (FILES, 3)
    with tempfile.TemporaryDirectory() as folder:
        write_fleet(Path(folder), files, INFERENCES)
        by_one, by_two = zip(*([_run(Path(folder), workers) for workers in (1, 2)] for _ in range(runs)), strict=True)
    gains = [one.took_s / two.took_s for one, two in zip(by_one, by_two, strict=True)]
    one_s, two_s = (statistics.median(each.took_s for each in by) for by in (by_one, by_two))
    busy = statistics.median(each.busy for each in by_two)
    each = ", ".join(f"{gain:.2f}" for gain in gains)
    detail = f"{1 / LEAST_GAIN:.3f} is {LEAST_GAIN} times as fast; in turn {each}; {one_s:.1f} s, {two_s:.1f} s"
    detail += f"; the two read {busy:.0%} of the time; load of the machine {os.getloadavg()[0]:.1f}"
    # What two idle cores allow: one process for the parent's work, and two for the reading.
    own_s, readers_s = (statistics.median(getattr(run, name) for run in by_two) for name in ("own_s", "readers_s"))
    detail += f"; by processor time {(own_s + readers_s) / (own_s + readers_s / 2):.2f}"
    what = f"fleet of {files} traces, time of two workers over one's"
    yield Figure(what, 1 / statistics.median(gains), None if smoke else 1 / LEAST_GAIN, "x", detail)


class _Run(NamedTuple):
    """How long a fleet took, the share of that time that the workers were reading, and processor time.

    Attributes:
        own_s, readers_s: the processor time of this process, and of the workers with their start.
    """

    took_s: float
    busy: float
    own_s: float
    readers_s: float


def _run(folder: Path, workers: int) -> _Run:
    """Return how long a fleet takes, with the start of the processes."""
    reading_s: list[float] = []
    with tempfile.TemporaryDirectory() as kept:

        def read(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
            for chunk in in_processes(workers)(chunks, question):
                reading_s.append(chunk.took_s)
                yield chunk

        began_s, own_s, readers_s = time.perf_counter(), time.process_time(), _children_s()
        fleet = read_fleet(trace_files(folder), _QUESTION, read=read, results=Path(kept, "results.jsonl"))
        settle(fleet.answers, _QUESTION)
        took_s = time.perf_counter() - began_s
        used_s = time.process_time() - own_s, _children_s() - readers_s
        return _Run(took_s, sum(reading_s) / (workers * took_s), *used_s)


def _children_s() -> float:
    """Return the processor time of the ended child processes."""
    found = os.times()
    return found.children_user + found.children_system
