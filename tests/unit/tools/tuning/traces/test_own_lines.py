"""Lines of a recording are read in batches, with the same result as one by one."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from htppower.errors import TraceError
from htppower.tools.tuning.traces.read import read_trace
from htppower.tools.tuning.traces.readers.own_lines import UsualLines

HEAD = {"name": "htppower", "ph": "M", "pid": 7, "tid": 0, "args": {"version": 1, "wall_ns": 1, "clock_us": 0}}

NAMES = ("camera", "cam1", "1cam", "c1am", "cam01", "cam10", "a1b2", "a12b", '"},\\', "ä", "12345678901234567890")
names = st.sampled_from(NAMES)
times_us = st.integers(0, 10**6) | st.just(2**53)
inferences = st.builds(
    lambda tid, ts, dur, session, profile, cold: {
        "name": "inference", "ph": "X", "pid": 7, "tid": tid, "ts": ts, "dur": dur,
        "args": {"session": session, "profile": profile, "cold": cold},
    },
    st.integers(0, 12), times_us, st.integers(0, 10**4), names, names, st.booleans() | st.none(),
)  # fmt: skip
lost = st.builds(lambda count: {"name": "lost", "ph": "i", "ts": 5, "args": {"inferences": count}}, st.integers(1, 3))
odd = st.sampled_from([{"name": "inference", "ph": "X", "tid": 1, "ts": 1.5, "dur": 2, "args": []}, {"name": "x"}])


def lines(events: list[dict[str, Any]], *, spaced: bool) -> bytes:
    """Return a recording as written, or with a space in each line, so that no line has the usual form."""
    separators = (", " if spaced else ",", ":")
    text = "".join(json.dumps(event, separators=separators) + ",\n" for event in (HEAD, *events))
    return f"[\n{text}".encode()


def told(content: bytes) -> object:
    """Return the data read from a recording, or the text of its error."""
    try:
        trace = read_trace("trace.json", stream=io.BytesIO(content))
    except TraceError as error:
        return str(error)
    sessions = [
        (each.name, each.profile, each.begins_us.tolist(), each.ends_us.tolist(), np.array(each.cold).tolist())
        for each in trace.sessions
    ]
    return sessions, trace.notes


@given(st.lists(inferences | lost | odd, max_size=40), st.integers(1, 40))
@example([], 1)
def test_lines_mean_the_same_together_and_one_by_one(events: list[dict[str, Any]], times: int) -> None:
    """The data is the same for any names, and for any other lines between."""
    many = events * times
    assert told(lines(many, spaced=False)) == told(lines(many, spaced=True))


def test_the_usual_lines_are_read_together() -> None:
    """A batch is read as a whole, and gives each session its inferences in order."""
    batch = b"".join(
        b'{"name":"inference","ph":"X","pid":7,"tid":%d,"ts":%d,"dur":5,"args":{"session":"cam%d","cold":false}},\n'
        % (number % 2, 10 * number, number % 2)
        for number in range(6)
    )
    found = UsualLines().read(batch)
    assert found is not None
    named = [(number, args["session"]) for number, args in (found.different[kind] for kind in found.kinds.tolist())]
    assert named == [(0, "cam0"), (1, "cam1")] * 3
    assert found.begins_us.tolist() == [0, 10, 20, 30, 40, 50]
    assert (found.ends_us - found.begins_us == 5).all()


@pytest.mark.parametrize(
    "line",
    [
        b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":-1,"dur":5,"args":{}},\n',
        b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":1.5,"dur":5,"args":{}},\n',
        b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":9007199254740993,"dur":5,"args":{}},\n',
        b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":9007199254740992,"dur":5,"args":{}},\n',
        b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":1,"dur":5,"args":{"a":}},\n',
        b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":1,"dur":5,"args":{"a":"1234567890123456789"}},\n',
        b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":1,"dur":5,"args":{}}',
        b'{"name":"lost","ph":"i","s":"p","pid":7,"tid":0,"ts":1,"args":{"inferences":1}},\n',
        b"\n",
    ],
)
def test_a_line_that_looks_different_is_left_to_the_caller(line: bytes) -> None:
    """An unusual line is left to the caller, even between usual lines."""
    usual = b'{"name":"inference","ph":"X","pid":7,"tid":1,"ts":1,"dur":5,"args":{}},\n'
    assert UsualLines().read(usual) is not None
    assert UsualLines().read(usual + line) is None
