"""Large inputs: how much longer four times as much takes, which is four times for linear work and sixteen for other."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure
from support.growth import growth

from htppower.tools.readers.limits import INFERENCES, Room
from htppower.tools.review.advice.measurement import Event, Measurement
from htppower.tools.review.advice.rows import Collector, Row
from htppower.tools.review.advice.run import advise
from htppower.tools.review.diff.export import Listing, export
from htppower.tools.tuning.traces.collected import Inferences, named_apart
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[int], Callable[[], object]]

# Linear work has room for caches and the garbage collector.
_BUDGET = 8.0
# A smoke run divides each size by this.
_SMOKE = 20


def _sessions(count: int) -> Callable[[], object]:
    sessions = [Inferences("camera", Room(INFERENCES, "inferences")) for _ in range(count)]
    return lambda: named_apart(sessions)


def _rows(count: int) -> Callable[[], object]:
    def work() -> None:
        collector = Collector()
        for number in range(count):
            collector.add(Row(Event.RPC, 2_000.0, graph=f"graph {number}"))
        collector.finish()

    return work


def _advice(count: int) -> Callable[[], object]:
    columns = {Event.RPC: (2_000.0,), Event.ACCELERATOR: (1_000.0,)}
    units = {Event.RPC: "us", Event.ACCELERATOR: "us"}
    measurements = [Measurement("file", "form", columns, units, f"graph {number}") for number in range(count)]
    return lambda: advise(measurements)


def _spans(count: int) -> Callable[[], object]:
    """Return the work on asynchronous begins in falling order, with as many ends behind them."""
    times = [*(("b", time) for time in range(count, 0, -1)), *(("e", time) for time in range(count + 1, 2 * count + 1))]
    events = [{"ph": kind, "cat": "c", "id": 1, "name": "infer", "ts": time, "pid": 1} for kind, time in times]
    data = json.dumps({"traceEvents": events}).encode()
    return lambda: read_trace("trace.json", stream=io.BytesIO(data))


def _revision(count: int) -> Callable[[], object]:
    """Return the export of a revision with so many profiles in one folder."""
    listing = Listing({f"p{number}.yaml": f"profile: p{number}\nextends: burst\n" for number in range(count)}, {}, ())

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            export(listing, [""], Path(folder), "/top", lambda blobs: [blob.encode() for blob in blobs])

    return work


_PARTS: tuple[tuple[str, Make, int], ...] = (
    ("sessions of one name, told apart", _sessions, 20_000),
    ("rows of a measurement, a graph each", _rows, 16_000),
    ("advice, a measurement a graph", _advice, 4_000),
    ("asynchronous spans, begins in falling order", _spans, 100_000),
    ("profiles of a revision in one folder", _revision, 500),
)


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield how many times as long four times the size takes."""
    for what, make, size in _PARTS:
        used = size // _SMOKE if smoke else size
        grown = growth(make, used)
        yield Figure(f"{what}, 4 times {used:,}", grown, None if smoke else _BUDGET, "x", "4 if linear, 16 if square")
