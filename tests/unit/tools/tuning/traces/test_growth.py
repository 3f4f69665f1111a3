"""The work grows linearly with a trace."""

from __future__ import annotations

import io
import itertools
import json
from typing import TYPE_CHECKING

from support.growth import MOST, growth

from htppower.tools.readers.limits import INFERENCES, Room
from htppower.tools.tuning.traces.collected import Inferences, named_apart
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable

ROOM = Room(INFERENCES, "inferences")


def _named(count: int) -> Callable[[], object]:
    sessions = [Inferences("cam", ROOM) for _ in range(count)]
    sessions += [Inferences(f"cam ({number})", ROOM) for number in range(count)]
    return lambda: named_apart(sessions)


def test_sessions_of_one_name_are_numbered_in_linear_time() -> None:
    """Each name gets the next free number, even if other sessions already have numbered names."""
    assert growth(_named, 1_000) < MOST
    names = ["cam", "cam (2)", "x", "cam", "cam", "cam (2)"]
    told = named_apart([Inferences(name, ROOM) for name in names])
    assert told == ["cam (1)", "cam (2) (1)", "x", "cam (3)", "cam (4)", "cam (2) (2)"]


def _asynchronous(begins: range, ends: range, *, ends_first: bool = False) -> bytes:
    def events(kind: str, times: range) -> list[dict[str, object]]:
        return [{"ph": kind, "cat": "c", "id": 1, "name": "infer", "ts": time, "pid": 1} for time in times]

    parts = [events("b", begins), events("e", ends)]
    return json.dumps({"traceEvents": list(itertools.chain(*(reversed(parts) if ends_first else parts)))}).encode()


def test_asynchronous_pairs_of_one_id_nest() -> None:
    """An end belongs to the latest begin before it; if ends are written first, a begin takes the next end."""
    for ends_first in (False, True):
        data = _asynchronous(range(1, 3_001), range(6_000, 3_000, -1), ends_first=ends_first)
        session = read_trace("t.json", stream=io.BytesIO(data)).sessions[0]
        assert session.begins_us.tolist() == list(range(1, 3_001))
        assert sorted(session.ends_us.tolist()) == list(range(3_001, 6_001))
    data = _asynchronous(range(10, 40, 10), range(15, 45, 10))
    session = read_trace("t.json", stream=io.BytesIO(data)).sessions[0]
    assert session.ends_us.tolist() == [15, 25, 35]
