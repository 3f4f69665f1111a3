"""Tables of inferences: columns by name, their units, and refusals."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

import pytest

from htppower.errors import TraceError
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.tuning.traces.trace import Trace


def read(text: str, unit: str | None = None) -> Trace:
    """Return the trace from a table."""
    return read_trace("table.csv", stream=io.BytesIO(text.encode()), unit=unit)


def spans(trace: Trace) -> list[tuple[int, int]]:
    """Return begin and end of each inference of the first session."""
    session = trace.sessions[0]
    return list(zip(session.begins_us.tolist(), session.ends_us.tolist(), strict=True))


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("begin_us,end_us", "1500000,1502500"),
        ("begin_s,duration_ms", "1.5,2.5"),
        ("Start (ms);End (ms)", "1500;1502.5"),
        ("start [s]\tlatency [us]", "1.5\t2500"),
        ("duration_ns,extra,begin_ns", "2500000,x,1500000000"),
        ('"begin_ms","session","end_ms"', '"1500","a, b","1502.5"'),
        ("timestamp ms,elapsed ms", "15e2,2.5"),
        ("begin_seconds,took_milliseconds", "1.5,2.5"),
        ("begin_us,end_us", " 1500000.4 , 1502500.4 "),
        ("begin_us,end_us", "1500000,1502500,"),
    ],
)
def test_columns_are_known_by_their_names(head: str, row: str) -> None:
    """Begin and end, or begin and duration, are in any order, each with the unit after its name."""
    assert spans(read(f"# a comment\n{head}\n\n{row}\n")) == [(1_500_000, 1_502_500)]


def test_a_unit_may_be_said_for_all() -> None:
    """``unit`` applies to columns without a unit; without it, the error says where to put one."""
    assert spans(read("begin,end,duration_s\n1,2,9\n", "ms")) == [(1000, 2000)]
    with pytest.raises(TraceError, match=r"table\.csv:2: the unit of begin is not known"):
        read("begin,end\n1,2\n")


def test_arrivals_alone_are_allowed() -> None:
    """Arrivals last 0 us, and a note says this; a column without a name holds arrivals."""
    trace = read("arrival_ms\n10\n30\n20\n")
    assert spans(trace) == [(10_000, 10_000), (20_000, 20_000), (30_000, 30_000)]
    assert trace.notes == ("it has only begins of inferences: each is taken to last 0 us",)
    assert spans(read("0.5\n2\n", "s")) == [(500_000, 500_000), (2_000_000, 2_000_000)]
    with pytest.raises(TraceError, match="the unit of 'the only column' is not known"):
        read("0.5\n2\n")


def test_dates_are_times() -> None:
    """A date has any number of decimals and any zone; without a zone it is UTC."""
    said = [
        "2023-11-16 18:17:03.9799600",
        "2023-11-16T19:17:04+01:00",
        "2023-11-16 18:17:05Z",
        "2023-11-16 19:17:06+01",
    ]
    (session,) = read("TIMESTAMP,ContextTokens\n" + "".join(f"{each},5\n" for each in said)).sessions
    assert (session.begins_us - 1_700_158_623_000_000).tolist() == [979_960, 1_000_000, 2_000_000, 3_000_000]


def test_a_large_number_is_exact() -> None:
    """Times since 1970 in ns have more digits than a float."""
    rows = "1700158623979960123,1700158623979961623\n1700158623.5,1700158624\n"
    assert spans(read(f"begin_ns,end_ns\n{rows.partition(chr(10))[0]}\n")) == [(1700158623979960, 1700158623979962)]


@pytest.mark.parametrize("head", ["timestamp_s,start_ms,end_ms", "TS [s],arrival_ms,end_ms", "time_s,begin_ms,end_ms"])
def test_of_two_columns_for_the_begin_the_more_exact_name_counts(head: str) -> None:
    """A log also has the time of each line, by another clock; a note names the ignored column."""
    trace = read(f"{head}\n1,1500,1700\n")
    assert spans(trace) == [(1_500_000, 1_700_000)]
    first, second, _ = head.split(",")
    assert trace.notes == (f"column {first!r} was left out: {second!r} is the begin",)


def test_sessions_profiles_and_cold_starts_may_be_said() -> None:
    """Optional columns are found by name; an empty session cell means the default session."""
    trace = read("begin_us,end_us,session,profile,cold\n5,6,b,burst,no\n1,2,a,,TRUE\n7,8,b,balanced,1\n9,9,,,0\n")
    assert [each.name for each in trace.sessions] == ["b", "a", "inferences"]
    assert [each.profile for each in trace.sessions] == ["burst", None, None]
    cold = [None if each.cold is None else each.cold.tolist() for each in trace.sessions]
    assert cold == [[False, True], [True], [False]]


@pytest.mark.parametrize(
    "cut", ["30", "30,", "30,2", "30,40", "30,40,b,burst", '30,40,"b', "30,40,b,burst,ye", "30,4x", "30,40,\xfc"]
)
def test_a_table_that_was_cut_off_is_read_up_to_its_last_whole_line(cut: str) -> None:
    """An invalid last row without a line end is left out, and a note names it."""
    text = "begin_us,end_us,session,profile,cold\n1,2,b,burst,no\n5,6,b,burst,yes\n"
    trace = read_trace("table.csv", stream=io.BytesIO((text + cut).encode("latin-1")))
    assert spans(trace) == [(1, 2), (5, 6)]
    assert trace.notes == ("line 4 is cut off, and was left out",)


def test_a_duration_of_minus_one_is_no_end() -> None:
    """A table of Perfetto has it for events still running at the end of the trace."""
    trace = read('"ts","dur"\n1000,5000\n9000,-1\n', "ns")
    assert spans(trace) == [(1, 6)]
    assert trace.notes == ("1 row has a duration of -1, so no end, and was left out",)
    with pytest.raises(TraceError, match="has no inferences: 2 rows have a duration of -1, so no end"):
        read("ts,dur\n9,-1\n9,-1\n", "ns")


def test_a_row_without_a_line_end_counts_and_is_named() -> None:
    """A handwritten table often lacks the last line end, but in a cut file the number may be incomplete."""
    trace = read("begin_us,end_us\n1,2\n3,4")
    assert spans(trace) == [(1, 2), (3, 4)]
    assert trace.notes == ("line 3 has no line end: if the file was cut off, a number of this line may be wrong",)


def test_a_packed_table_that_was_cut_off_is_read_up_to_its_last_whole_line() -> None:
    """A cut packed file is recognized, so its incomplete last number is not used."""
    rows = "".join(f"{1000 * place},{1000 * place + 100 + place % 7 * 37}\n" for place in range(500))
    packed = gzip.compress(f"begin_us,end_us\n{rows}".encode())
    for cut in (1, 9, 100, 1000):
        trace = read_trace("table.csv.gz", stream=io.BytesIO(packed[:-cut]))
        found = spans(trace)
        assert found == [(1000 * place, 1000 * place + 100 + place % 7 * 37) for place in range(len(found))]
        assert len(found) > (499 if cut < 9 else 5)
        assert trace.notes == ("the packed file is cut off: it was read as far as it goes",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello\n", r"table\.csv:1: no column is the begin of an inference: the first line has 1 column, of 5 ch"),
        ("a,b\n1,2\n", r"table\.csv:1: no column is the begin"),
        ("1,2\n3,4\n", r"table\.csv:1: no column is the begin"),
        ("begin_us,end_us\n1,2\n3\n", r"table\.csv:3: has 1 column, not 2"),
        ("begin_us,end_us\n1,2\n5,3\n", r"table\.csv:3: ends 2 us before it begins"),
        ("begin_ms\n1,5\n", r"table\.csv:2: has 2 columns, but the first line has 1"),
        ("begin_ms,end_ms\n1,5,2,5\n", r"table\.csv:2: has 4 columns, but the first line has 2"),
        ("begin_us,duration_us\n1,-2\n", r"table\.csv:2: duration is -2"),
        ("begin_us\n-1\n", r"table\.csv:2: begin is -1"),
        ("begin_us\n1e300\n", r"table\.csv:2: begin is '1e300'"),
        ("begin_us\n1700158623979960123\n", r"is its unit right"),
        ("begin_us\nnan\n", r"table\.csv:2: begin is 'nan'"),
        ("begin_us\ninf\n", r"table\.csv:2: begin is 'inf'"),
        ("begin_us\n1_000\n", r"table\.csv:2: begin is '1_000'"),
        ("begin_us\n\n\nx\n", r"table\.csv:4: begin is 'x'"),
        ("begin\n2023-13-16 18:17:03\n", r"is not a date"),
        ("begin\n1823-11-16 18:17:03\n", r"is before 1970"),
        ("begin_us,cold\n1,maybe\n", r"table\.csv:2: cold is 'maybe'"),
        ('begin_us,session\n1,"a\n', r"table\.csv:2: is not CSV"),
        ("begin_us\n" + "1" * 100_000, r"table\.csv:2: a row is longer"),
        ("begin_us\n", r"table\.csv: has no inferences \("),
        ("begin_us,end_us", r"table\.csv: has no inferences \("),
        ("begin_us,end_us\r1,2\r3,4\r", r"table\.csv:1: has lines that end with only a CR"),
        ("# nothing\n", r"table\.csv: has no rows"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_its_line(text: str, says: str) -> None:
    """The error has the line, the problem and the fix."""
    with pytest.raises(TraceError, match=says) as caught:
        read(text)
    assert caught.value.hint


def test_a_long_heading_is_refused_with_its_column() -> None:
    """If the first line is not a row of headings, the error comes at once, however long the line is."""
    for heading in (f"x({' ' * 60_000}!", "_" * 60_000, "x" * 101):
        with pytest.raises(TraceError, match=rf"table\.csv:1: the heading of column 2 has {len(heading)} characters"):
            read(f"begin_us,{heading}\n1,2\n")
    assert spans(read(f"begin_us,end_us,{'x' * 100}\n1,2,\n")) == [(1, 2)]


@pytest.mark.parametrize("head", ["Start ( ms )", "start  [ms]", "START__ms", "start_(ms)"])
def test_a_heading_may_have_its_unit_in_many_ways(head: str) -> None:
    """Spaces and underscores between the name and the unit, or within the brackets, make no difference."""
    assert spans(read(f"{head},end_ms\n1,2\n")) == [(1_000, 2_000)]


@pytest.mark.parametrize("row", ["0,5;2,5", "1;2,5", "-0,5;1"])
def test_a_decimal_comma_is_told(tmp_path: Path, row: str) -> None:
    """The hint has the number in the right form."""
    (tmp_path / "t.csv").write_text(f"start_ms;duration_ms\n{row}\n", encoding="utf-8")
    with pytest.raises(TraceError, match=r"write -?\d\.\d: the decimal mark is a point"):
        read_trace(tmp_path / "t.csv")
