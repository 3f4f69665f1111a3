"""No file fills the memory: unpacked bytes, inferences, numbers and JSON values are bounded."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from support.inside import patch_private

from htppower.errors import HtpPowerError, TraceError
from htppower.errors.root import UnreadableFile
from htppower.tools.cli.status.document import StatusUnreadable, read_status
from htppower.tools.readers import limits
from htppower.tools.readers.limits import VARIABLE, Room, TooMuch, check_json, raised
from htppower.tools.review.advice import rows
from htppower.tools.review.advice.readers.recognise import read_measurements
from htppower.tools.tuning.traces.read import read_trace
from htppower.tools.tuning.traces.readers import source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ROW = b"1,2" + b" " * 60_000 + b"\n"


def packed_rows(path: Path, rows: int) -> str:
    """Write a table of ``rows`` wide rows, packed a thousandfold by gzip, and return its path."""
    path.write_bytes(gzip.compress(b"begin_us,end_us\n" + _ROW * rows))
    return str(path)


def test_what_unpacks_to_far_more_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the limit and the variable that raises it; a small unpacked size is always allowed."""
    path = packed_rows(tmp_path / "bomb.csv.gz", 400)
    with pytest.raises(TraceError, match=r"bomb\.csv\.gz: is packed .* more than 100 times its size .*READ_MORE=10"):
        read_trace(path)
    with pytest.raises(UnreadableFile, match=r"more than 100 times its size .*READ_MORE=10"):
        read_measurements(path)
    assert len(read_trace(packed_rows(tmp_path / "small.csv.gz", 60)).sessions[0].begins_us) == 60
    monkeypatch.setenv(VARIABLE, "100")
    assert len(read_trace(path).sessions[0].begins_us) == 400


def test_a_periodic_recording_is_read_packed(tmp_path: Path) -> None:
    """Equal inferences at equal steps pack best of normal recordings: to a twentieth."""
    lines = (
        f'{{"name":"run","ph":"X","ts":{number * 33_000},"dur":5000,"pid":1,"tid":1}},\n' for number in range(90_000)
    )
    path = tmp_path / "periodic.json.gz"
    path.write_bytes(gzip.compress(("[\n" + "".join(lines)).encode(), 9))
    assert len(read_trace(path).sessions[0].begins_us) == 90_000


def own_events(names: str, count: int) -> str:
    """Return events with different names, threads or profiles."""
    event = '{{"name":"{name}","ph":"{ph}","ts":{at},"dur":1,"pid":1,"tid":{tid},"id":{at}}}'
    said = {
        "sessions": lambda at: event.format(name="run", ph="X", at=at, tid=at),
        "begins": lambda at: event.format(name="run", ph="B", at=at, tid=1),
        "asynchronous begins": lambda at: event.format(name="run", ph="b", at=at, tid=1),
        "asynchronous ends": lambda at: event.format(name="run", ph="e", at=at, tid=1),
        "inferences": lambda at: event.format(name="run", ph="X", at=at, tid=1),
    }[names]
    return "[" + ",\n".join(map(said, range(count))) + "]"


@pytest.mark.parametrize(
    ("what", "count"),
    [
        ("inferences", 2_100),
        ("sessions", 30),
        ("begins", 150),
        ("asynchronous begins", 150),
        ("asynchronous ends", 150),
    ],
)
def test_a_trace_of_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, count: int) -> None:
    """Inferences count, and so do all other values that are kept until the end."""
    monkeypatch.setattr(source, "INFERENCES", 2_000)
    path = tmp_path / "trace.json"
    path.write_text(own_events(what, count), encoding="utf-8")
    with pytest.raises(TraceError, match=r"trace\.json: holds more than 2000 inferences .*HTPPOWER_READ_MORE=10"):
        read_trace(path)
    monkeypatch.setenv(VARIABLE, "3")
    if what in ("inferences", "sessions"):
        assert sum(each.begins_us.size for each in read_trace(path).sessions) == count


def test_a_table_of_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, sessions and profiles count."""
    monkeypatch.setattr(source, "INFERENCES", 2_000)
    path = tmp_path / "table.csv"
    for column, count in (("x", 2_001), ("session", 21), ("profile", 21)):
        rows = "".join(f"{number},1,n{number}\n" for number in range(count))
        path.write_text(f"begin_us,duration_us,{column}\n{rows}", encoding="utf-8")
        with pytest.raises(TraceError, match="holds more than 2000 inferences"):
            read_trace(path)


def test_json_of_too_many_values_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A status and a profiler's file with too many values are refused, whatever the values are."""
    monkeypatch.setattr(limits, "JSON_VALUES", 1_000)
    monkeypatch.setattr(json, "loads", None)
    path = tmp_path / "values.json"
    for value in ("{}", "[]", "1", '"a"', '{"a":1}', "[[]]"):
        path.write_text(f'{{"components":[{",".join([value] * 1_001)}]}}', encoding="utf-8")
        with pytest.raises(UnreadableFile, match=r"values\.json: holds more than 1000 values .*READ_MORE=10"):
            read_measurements(str(path))
        with pytest.raises(StatusUnreadable, match=r"holds more than 1000 values; .*READ_MORE=10"):
            read_status(path)


@pytest.mark.parametrize("content", [b"[" + b" " * 5_000, '["\u00e4'.encode() + b" " * 3_000])
def test_json_that_is_large_is_refused(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """With one letter beyond ASCII each letter may take four times as much, so the limit is smaller."""
    monkeypatch.setattr(limits, "WIDE_JSON_BYTES", 2_000)
    check_json(content[:1_500], 4_000)
    with pytest.raises(TooMuch, match="is larger than 0 MiB"):
        check_json(content, 4_000)


def test_lines_of_a_profiler_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines without data take time, too."""
    monkeypatch.setattr("htppower.tools.review.advice.readers.source.LINES", 3_000)
    path = tmp_path / "log.txt"
    path.write_text("x\n" * 3_100, encoding="utf-8")
    with pytest.raises(UnreadableFile, match=r"has more than 3000 lines .*HTPPOWER_READ_MORE=10"):
        read_measurements(str(path))


def test_numbers_and_graphs_of_a_profiler_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers, graphs and rows of one inference are bounded; rows are kept until the inference ends."""
    monkeypatch.setattr("htppower.tools.review.advice.rows.MEASURED", 3_000)
    patch_private(monkeypatch, rows, MOST_PENDING=3_000)
    path = tmp_path / "log.txt"
    line = "[profiler][{graph}]event[0]: RPC (execute) time, duration: 29.409 ms\n"
    op = "[profiler][g]event[0]: op{graph}, count: 1\n"
    several: tuple[tuple[str, Callable[[int], str], str], ...] = (
        (line, lambda _: "g", "numbers and graphs"),
        (line, lambda number: f"g{number}", "numbers and graphs"),
        (op, str, "rows of one inference"),
    )
    for form, graph, said in several:
        path.write_text("".join(form.format(graph=graph(number)) for number in range(3_100)), encoding="utf-8")
        with pytest.raises(UnreadableFile, match=f"more than 3000 {said} .*HTPPOWER_READ_MORE=10"):
            read_measurements(str(path))


def test_room_is_taken_until_there_is_none() -> None:
    """The whole room can be used."""
    room = Room(3, "things")
    room.take(3)
    with pytest.raises(TooMuch, match="holds more than 3 things"):
        room.take(1)


@pytest.mark.parametrize("said", ["0.5", "-1", "many", "nan", "inf", "1e9"])
def test_a_variable_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """The error names the variable and its valid values."""
    monkeypatch.setenv(VARIABLE, said)
    with pytest.raises(HtpPowerError, match=f"HTPPOWER_READ_MORE is '{said}': .* 1 to 1000000"):
        raised(1)
