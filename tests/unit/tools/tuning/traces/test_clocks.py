"""The measured clock in a recording, as it is read: by whole lines and one by one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("numpy")

from htppower.errors import TraceError
from htppower.tools.tuning.traces.clocks import ClockPoint, ClockTrace, CornerClock, by_corner
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

HEAD = {"name": "htppower", "ph": "M", "pid": 1, "tid": 0, "args": {"version": 1, "wall_ns": 1, "clock_us": 0}}


def clock(time_us: object, khz: object, voted: object = 160, source: str = "dsp") -> dict[str, Any]:
    """Return the event of a reading."""
    args = {"voted_corner": voted, "clock_khz": khz}
    return {"name": "clock", "ph": "C", "pid": 1, "tid": 0, "ts": time_us, "id": source, "args": args}


def inference(begin_us: int) -> dict[str, Any]:
    """Return the event of an inference of 10 us."""
    args = {"session": "camera", "profile": "burst", "cold": False}
    return {"name": "inference", "ph": "X", "pid": 1, "tid": 1, "ts": begin_us, "dur": 10, "args": args}


def write(path: Path, made: list[dict[str, Any]], separators: tuple[str, str] = (",", ":")) -> Path:
    """Write a recording."""
    text = "".join(f"{json.dumps(each, separators=separators)},\n" for each in (HEAD, *made))
    path.write_text(f"[\n{text}", encoding="ascii")
    return path


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["as it is recorded", "rewritten"])
def test_all_readings_and_all_inferences_are_read(tmp_path: Path, separators: tuple[str, str]) -> None:
    """A reading between inferences hides none of them, and each is read once, in whatever way lines are read."""
    made = [
        event
        for number in range(2000)
        for event in (inference(100 * number), *([clock(100 * number, 1000 + number)] if number % 7 == 0 else ()))
    ]
    trace = read_trace(write(tmp_path / "t.json", made, separators))
    (session,), (found,) = trace.sessions, trace.clocks
    assert session.begins_us.tolist() == [100 * number for number in range(2000)]
    assert [(point.time_us, point.khz) for point in found.points] == [
        (100 * number, 1000 + number) for number in range(0, 2000, 7)
    ]
    assert trace.notes == ()


def test_a_line_that_is_read_alone_does_not_double_the_readings(tmp_path: Path) -> None:
    """If a batch has a line of another form, its readings are still read once."""
    made: list[dict[str, Any]] = [inference(10 * number) for number in range(2000)]
    lost = {"name": "lost", "ph": "i", "pid": 1, "tid": 0, "ts": 5, "args": {"inferences": 2}}
    made[1500:1500] = [clock(7, 300_000), lost, clock(8, 400_000)]
    trace = read_trace(write(tmp_path / "t.json", made))
    assert [len(each.points) for each in trace.clocks] == [2]
    assert trace.sessions[0].begins_us.size == 2000


def test_readings_alone_are_no_trace(tmp_path: Path) -> None:
    """A recording without an inference is refused as before."""
    with pytest.raises(TraceError, match="has no inferences"):
        read_trace(write(tmp_path / "t.json", [clock(time_us, 1) for time_us in range(10)]))


@pytest.mark.parametrize(
    "event",
    [
        clock("soon", 5),
        clock(-1, 5),
        clock(2**60, 5),
        clock(True, 5),
        clock(5, None),
        clock(5, "fast"),
        clock(5, -1),
        clock(5, 10**400),
        {"name": "clock", "args": []},
        {"name": "clock"},
        {"name": "other", "args": {"name": "clock", "ts": 5}},
    ],
    ids=str,
)
def test_an_event_that_is_not_a_reading_is_ignored(tmp_path: Path, event: dict[str, Any]) -> None:
    """A wrong value, or the event of another program, is neither a reading nor an error."""
    trace = read_trace(write(tmp_path / "t.json", [inference(1), event, inference(50)]))
    assert (trace.clocks, trace.sessions[0].begins_us.tolist()) == ((), [1, 50])


def test_the_corners_have_their_names_and_spreads(tmp_path: Path) -> None:
    """Readings are grouped by the voted corner of either kind; DISABLE and a missing corner are no vote."""
    made = [
        clock(1, 10),
        clock(2, 30),
        clock(3, 20),
        clock(4, 5, 16),
        clock(5, 7, None),
        clock(6, 9, 512),
        clock(7, 1, 3),
    ]
    (found,) = read_trace(write(tmp_path / "t.json", [inference(1), *made])).clocks
    assert by_corner(found) == [
        CornerClock("corner 3", 1, 1, 1, 1),
        CornerClock("no vote", 2, 5, 6, 7),
        CornerClock("NOM", 1, 9, 9, 9),
        CornerClock("MAX_VOLTAGE_CORNER", 3, 10, 20, 30),
    ]
    assert found.since(2).points[0] == ClockPoint(-1, 10, "MAX_VOLTAGE_CORNER")


def test_sources_are_apart(tmp_path: Path) -> None:
    """Each source has its own readings, sorted by time."""
    made = [clock(9, 1, source="b"), clock(3, 2, source="b"), clock(5, 3, source="a"), inference(1)]
    found = read_trace(write(tmp_path / "t.json", made)).clocks
    assert found == (
        ClockTrace("b", (ClockPoint(3, 2, "MAX_VOLTAGE_CORNER"), ClockPoint(9, 1, "MAX_VOLTAGE_CORNER"))),
        ClockTrace("a", (ClockPoint(5, 3, "MAX_VOLTAGE_CORNER"),)),
    )
