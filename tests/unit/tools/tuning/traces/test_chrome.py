"""Chrome trace events of any tool: the inferences among them, their sessions, and the forms of an array."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from support.trace_files import compact

from htppower.errors import TraceError
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.tuning.traces.trace import Trace


def event(kind: str, name: str, ts: float, tid: int = 1, **more: Any) -> dict[str, Any]:
    """Return an event."""
    return {"ph": kind, "name": name, "ts": ts, "pid": 1, "tid": tid, **more}


def read(events: list[dict[str, Any]] | str, **how: Any) -> Trace:
    """Return the trace from some events."""
    text = events if isinstance(events, str) else json.dumps(events)
    return read_trace("trace", stream=io.BytesIO(text.encode()), **how)


def told(trace: Trace) -> dict[str, list[tuple[int, int]]]:
    """Return begin and end of the inferences of each session."""
    return {
        each.name: list(zip(each.begins_us.tolist(), each.ends_us.tolist(), strict=True)) for each in trace.sessions
    }


def test_pairs_nest_on_their_thread() -> None:
    """An end belongs to the latest begin of its thread, whatever other threads do; fractions are rounded."""
    events = [
        event("B", "infer", 10.4),
        event("B", "infer", 15, tid=2),
        event("B", "op", 11),
        event("E", "", 12),
        event("E", "", 20.6),
        event("E", "", 25, tid=2),
        event("M", "thread_name", 0, tid=2, args={"name": "camera"}),
    ]
    trace = read(events, name="infer")
    assert told(trace) == {"thread 1": [(10, 21)], "camera": [(15, 25)]}
    assert trace.notes == ("each of 2 threads counts as a session",)


@pytest.mark.parametrize(("begins", "ends"), [("b", "e"), ("S", "F")])
def test_asynchronous_pairs_belong_together_by_their_id(begins: str, ends: str) -> None:
    """Such pairs may overlap, and may end on another thread."""
    events = [
        event(begins, "infer", 10, id=1),
        event(begins, "infer", 12, id=2),
        event(ends, "infer", 30, tid=5, id=1),
        event(ends, "infer", 20, tid=6, id=2),
    ]
    assert told(read(events)) == {"process 1": [(10, 30), (12, 20)]}


def test_asynchronous_pairs_of_one_id_nest() -> None:
    """An end belongs to the latest begin before it; a begin without an end is counted."""
    events = [event(kind, "infer", ts, id=1) for kind, ts in [("b", 10), ("b", 12), ("e", 15), ("e", 20), ("b", 30)]]
    trace = read([*events, event("b", "infer", 40, id=1), event("e", "infer", 50, id=1)])
    assert told(trace) == {"process 1": [(10, 20), (12, 15), (40, 50)]}
    assert trace.notes == ("1 event has no end, and was left out",)


def test_an_asynchronous_end_may_stand_before_its_begin() -> None:
    """Chrome writes thread by thread; an end finds its begin by time, and an end from before the trace has none."""
    ends = [event("e", "infer", ts, tid=1, id=1) for ts in (5, 20, 40)]
    begins = [event("b", "infer", ts, tid=2, id=1) for ts in (30, 10)]
    for events in ([*ends, *begins], [*begins, *ends]):
        trace = read(events)
        assert told(trace) == {"process 1": [(10, 20), (30, 40)]}
        assert trace.notes == ("1 event has no beginning, and was left out",)


def test_what_an_event_says_of_its_session_counts() -> None:
    """A session or a model in ``args`` names the session, on any thread."""
    events = [
        event("X", "infer", 10, tid=1, dur=5, args={"session": "camera"}),
        event("X", "infer", 20, tid=2, dur=5, args={"session": "camera"}),
        event("X", "infer", 30, tid=2, dur=5, args={"model": "detector"}),
    ]
    assert told(read(events)) == {"camera": [(10, 15), (20, 25)], "detector": [(30, 35)]}


def test_a_name_or_a_category_picks_the_inferences() -> None:
    """``name`` is the name or a category of the events; an unknown name is refused."""
    events = [
        event("X", "a", 10, dur=5, cat="npu,graph"),
        event("X", "b", 20, dur=5, cat="npu"),
        event("X", "c", 30, dur=5, cat="cpu"),
    ]
    assert told(read(events, name="b")) == {"thread 1": [(20, 25)]}
    assert told(read(events, name="npu")) == {"thread 1": [(10, 15), (20, 25)]}
    with pytest.raises(TraceError, match="no event or category is called 'gpu'"):
        read(events, name="gpu")


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["load", "QnnGraphExecute", "op", "QnnGraphExecute", "op"], "QnnGraphExecute"),
        (["model_run", "runtime", "runtime"], "model_run"),
        (["INFERENCE", "infer_later", "execute"], "INFERENCE"),
        (["frame", "frame", "op", "op"], "frame"),
        (["main", "op", "op"], "op"),
    ],
)
def test_the_most_plausible_name_is_taken_and_said(names: list[str], chosen: str) -> None:
    """A name that suggests inferences comes first, then repeated events by total time; a note lists the others."""
    long = {"main": 10_000, "frame": 50}
    trace = read([event("X", name, 100 * place, dur=long.get(name, 5)) for place, name in enumerate(names)])
    assert sum(map(len, told(trace).values())) == names.count(chosen)
    assert trace.notes[0].startswith(
        f"'{chosen}' ({names.count(chosen)}) is taken for the inferences; --name picks another:"
    )


def test_what_htppower_draws_of_states_is_no_inference() -> None:
    """The subscriber for Chrome's format writes states and calls; a dry run writes phases too."""
    states = [event("X", "RAISED", 10, dur=90, cat="htppower"), event("X", "setPowerConfig", 10, dur=1, cat="htppower")]
    with pytest.raises(TraceError, match="has no inferences"):
        read(states)
    assert told(read([*states, event("X", "INFERENCE", 20, dur=5, cat="htppower")])) == {"thread 1": [(20, 25)]}
    assert told(read(states, name="RAISED")) == {"thread 1": [(10, 100)]}


def test_what_has_no_begin_or_no_end_is_left_out_and_counted() -> None:
    """A trace may begin and end in the middle of an inference."""
    events = [
        event("E", "", 1),
        event("e", "infer", 2, id=1),
        event("X", "infer", 10, dur=5),
        event("B", "infer", 20),
        event("b", "infer", 30, id=2),
        event("X", "infer", 40),
    ]
    trace = read(events)
    assert told(trace) == {"thread 1": [(10, 15)]}
    assert trace.notes == ("3 events have no end, and were left out", "2 events have no beginning, and were left out")


@pytest.mark.parametrize("key", ["ph", "name", "cat", "pid", "tid", "id", "args"])
@pytest.mark.parametrize("value", [{}, [], None, 5, True])
def test_an_event_of_another_shape_does_no_harm(key: str, value: object) -> None:
    """A value of an unexpected type makes the event another kind, or invalid."""
    whole = [event(kind, "infer", 10 * place, dur=5, id=1, cat="c", args={}) for place, kind in enumerate("XbeBE")]
    odd = [{**each, key: value} for each in whole]
    trace = read([*whole, *odd])
    assert sum(map(len, told(trace).values())) in range(3, 7)


@pytest.mark.parametrize("dur", [-1, -1.0, -0.001])
def test_a_duration_of_minus_one_is_no_end(dur: float) -> None:
    """Perfetto writes -1 for events still running at the end of the trace."""
    trace = read([event("X", "infer", 10, dur=5), event("X", "infer", 20, dur=dur)])
    assert told(trace) == {"thread 1": [(10, 15)]}
    assert trace.notes == ("1 event has no end, and was left out",)
    with pytest.raises(TraceError, match="has no inferences: 1 event has no end, and was left out"):
        read([event("X", "infer", 20, dur=dur)], name="infer")


WRONG = {
    "ts": [event("X", "op", -5, dur=5)],
    "dur": [event("X", "op", 5, dur=-5)],
    "no ts": [event("X", "op", 5, dur=5) | {"ts": None}],
    "end": [event("B", "op", 5), event("E", "", 4)],
    "asynchronous": [event("b", "op", -5, id=1), event("e", "op", -1, id=1)],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_event_of_another_name_does_no_harm(wrong: str) -> None:
    """Only the events of the inferences must be valid."""
    infer, odd = event("X", "infer", 10, dur=5), WRONG[wrong]
    assert told(read([*odd, infer])) == told(read([*odd, infer], name="infer")) == {"thread 1": [(10, 15)]}
    for how in ({}, {"name": "op"}):
        with pytest.raises(TraceError, match="trace:1: "):
            read(odd, **how)
    renamed = [{**each, "name": "inference" if each["name"] else ""} for each in odd]
    with pytest.raises(TraceError, match="trace:1: "):
        read([*renamed, infer])


def test_an_end_before_its_begin_is_refused() -> None:
    """The error has the difference and the place."""
    with pytest.raises(TraceError, match="trace:1: 'infer' ends 5 us before it begins"):
        read([event("B", "infer", 10), event("E", "", 5)])


WHOLE = [event("X", "infer", 1000 * place, dur=10, args={"text": 'a "]}[{" b'}) for place in range(50)]
LINES = "\n".join(map(compact, WHOLE))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(WHOLE),
        json.dumps(WHOLE, indent=4),
        f"[\n{LINES.replace(chr(10), f',{chr(10)}')}",
        f"[\r\n{LINES.replace(chr(10), f',{chr(13)}{chr(10)}')}\r\n]",
        LINES,
        json.dumps(WHOLE[:20]) + json.dumps(WHOLE[20:], indent=1),
        json.dumps({"samples": list(range(500)), "traceEvents": WHOLE, "otherData": {"traceEvents": [1]}}),
        json.dumps({"deviceProperties": [{"id": 0}], "traceEvents": WHOLE, "z": 1}, indent=2),
        '{"traceEvents":\n[' + LINES.replace("\n", "\n,") + "]}",
        "\ufeff" + json.dumps(WHOLE),
    ],
    ids=["line", "indented", "open", "crlf", "lines", "two arrays", "key first", "indented object", "comma", "mark"],
)
def test_an_array_is_read_however_it_is_written(text: str) -> None:
    """An array may have one line or many, be in an object or not, and be closed or not."""
    assert told(read(text, format="chrome")) == {"thread 1": [(1000 * place, 1000 * place + 10) for place in range(50)]}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_wrong_event_is_named_by_its_line(indent: int | None) -> None:
    """For an event over several lines the first line counts, in batches of any size."""
    events = [event("X", "infer", 1000 * place, dur=10) for place in range(9000)]
    events[4000]["ts"] = None
    line = 1 if indent is None else 2 + 8 * 4000
    with pytest.raises(TraceError, match=f"trace:{line}: ts is missing"):
        read(json.dumps(events, indent=indent))


def test_of_events_on_one_line_only_the_one_that_is_cut_off_is_left_out() -> None:
    """The note counts one event, and not one line."""
    text = json.dumps([event("X", "infer", 1000 * place, dur=10) for place in range(50)])
    trace = read(text[:-40])
    assert len(told(trace)["thread 1"]) == 49
    assert trace.notes == ("the last event of line 1 is cut off, and was left out",)


def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    """Only a few batches of a 30 MB line are held."""
    op = compact(event("X", "op", 5, dur=1, args={"x": "y" * 2000})).encode() + b","
    with (tmp_path / "trace.json").open("wb") as file:
        file.write(b"[")
        file.writelines([op] * 15_000)
    tracemalloc.start()
    try:
        trace = read_trace(tmp_path / "trace.json", name="op")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(trace.sessions[0].begins_us) == 15_000
    assert most < 8 * 2**20
