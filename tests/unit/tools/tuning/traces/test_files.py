"""Traces in several files: parts of a split file, and older files of a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import trace_files
from support.trace_files import Ran

from htppower.errors import TraceError
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

SOME = [Ran(10_000 * place, 10_000 * place + 1_000) for place in range(1, 40)]


def spans(path: Path) -> list[tuple[int, int]]:
    """Return begin and end of all inferences of a file."""
    sessions = read_trace(path).sessions
    return [
        (begin_us, end_us)
        for each in sessions
        for begin_us, end_us in zip(each.begins_us.tolist(), each.ends_us.tolist(), strict=True)
    ]


def split(folder: Path, content: bytes, suffixes: list[str]) -> list[Path]:
    """Write a content in parts, cut at any byte."""
    size = -(-len(content) // len(suffixes))
    paths = [folder / f"mlperf_log_trace.json{suffix}" for suffix in suffixes]
    for place, path in enumerate(paths):
        path.write_bytes(content[place * size : (place + 1) * size])
    return paths


@pytest.mark.parametrize("suffixes", [["aa", "ab", "ac"], ["00", "01"], ["aaa", "aab"]])
def test_any_part_names_all_of_them(tmp_path: Path, suffixes: list[str]) -> None:
    """The parts are read in order as one file, under the name of any part or of the whole."""
    paths = split(tmp_path, trace_files.loadgen(SOME).encode(), suffixes)
    for path in (*paths, tmp_path / "mlperf_log_trace.json"):
        assert spans(path) == [each[:2] for each in SOME]
    # If the whole file exists as well, its name means that file alone.
    (tmp_path / "mlperf_log_trace.json").write_text(trace_files.loadgen(SOME[:2]))
    assert len(spans(tmp_path / "mlperf_log_trace.json")) == 2
    assert len(spans(paths[1])) == len(SOME)


@pytest.mark.parametrize("gone", [0, 1])
def test_a_part_that_is_missing_is_named(tmp_path: Path, gone: int) -> None:
    """Without the first or a middle part, nothing is read; a second part alone reports the missing first."""
    paths = split(tmp_path, trace_files.loadgen(SOME).encode(), ["aa", "ab", "ac"])
    paths[gone].unlink()
    with pytest.raises(TraceError, match=rf"{paths[gone].name}: is missing"):
        read_trace(paths[2])
    if gone == 0:
        paths[2].unlink()
        with pytest.raises(TraceError, match=r"jsonaa: is missing"):
            read_trace(paths[1])


def test_a_name_may_end_as_a_part_does(tmp_path: Path) -> None:
    """A file that only looks like a part is read by itself."""
    path = tmp_path / "trace.jsonld"
    path.write_text(trace_files.own(SOME))
    assert spans(path) == [each[:2] for each in SOME]


def test_older_files_of_a_recording_are_read_with_it(tmp_path: Path) -> None:
    """``trace.json.1`` is older than ``trace.json``, and a session continues over both; it can be read alone."""
    for name, ran in (("trace.json.2", SOME[:10]), ("trace.json.1", SOME[10:20]), ("trace.json", SOME[20:])):
        (tmp_path / name).write_text(trace_files.own(ran, clock_us=ran[0].begin_us))
    trace = read_trace(tmp_path / "trace.json")
    assert spans(tmp_path / "trace.json") == [each[:2] for each in SOME]
    assert trace.notes == ("2 older files of it were read as well",)
    assert spans(tmp_path / "trace.json.1") == [each[:2] for each in SOME[10:20]]


@pytest.mark.parametrize(
    ("older", "newer"), [((1, 0), (2, 500_000)), ((1, 900_000), (1, 100_000))], ids=["another process", "a restart"]
)
def test_a_file_of_another_run_is_left_out(tmp_path: Path, older: tuple[int, int], newer: tuple[int, int]) -> None:
    """The recorder keeps a file of an earlier run as an older one, but its clock differs, so it is not read."""
    (tmp_path / "trace.json.1").write_text(trace_files.own(SOME[:10], *older))
    (tmp_path / "trace.json").write_text(trace_files.own(SOME[10:], *newer))
    trace = read_trace(tmp_path / "trace.json")
    assert spans(tmp_path / "trace.json") == [each[:2] for each in SOME[10:]]
    assert trace.notes == ("trace.json.1 is of another run, and was left out",)


def test_recordings_that_were_put_together_are_read(tmp_path: Path) -> None:
    """Files of one run continue their sessions; files of another run have their own sessions."""
    parts = [trace_files.own(SOME[:10]), trace_files.own(SOME[10:20], clock_us=100_000), trace_files.own(SOME[20:], 9)]
    (tmp_path / "all.json").write_text("".join(parts))
    trace = read_trace(tmp_path / "all.json")
    assert [len(each.begins_us) for each in trace.sessions] == [20, 19]
    assert trace.notes == ("it has 2 runs, each with its own clock",)


@pytest.mark.parametrize("cut", [1, 5, 40, 100])
def test_a_recording_that_was_cut_off_is_read_up_to_its_last_whole_line(tmp_path: Path, cut: int) -> None:
    """A crash may cut the last line: it is left out, and a note names it."""
    path = tmp_path / "trace.json"
    content = trace_files.own(SOME)
    path.write_text(content[: -cut - 2])
    trace = read_trace(path)
    assert spans(path) == [each[:2] for each in SOME[:-1]]
    assert trace.notes == (f"line {len(SOME) + 2} is cut off, and was left out",)


@pytest.mark.parametrize("between", ["", "\n"])
def test_a_recording_after_one_that_was_cut_off_is_read(tmp_path: Path, between: str) -> None:
    """A second recording in the same file is read, even directly after a cut line."""
    path = tmp_path / "trace.json"
    path.write_text(trace_files.own(SOME)[:-30] + between + trace_files.own(SOME, 9))
    trace = read_trace(path)
    assert [len(each.begins_us) for each in trace.sessions] == [len(SOME) - 1, len(SOME)]
    assert trace.notes[0] == f"line {len(SOME) + 2} is cut off, and was left out"


def test_what_was_lost_while_recording_is_told(tmp_path: Path) -> None:
    """A line has the number of inferences that the recorder dropped."""
    path = tmp_path / "trace.json"
    lost = '{"name":"lost","ph":"i","pid":4711,"tid":0,"ts":5,"args":{"inferences":17}},\n'
    path.write_text(trace_files.own(SOME) + lost)
    told = ("17 inferences were lost during the recording: too many waited to be written",)
    assert read_trace(path).notes == told
    for digits in (20, 4_299):
        path.write_text(trace_files.own(SOME) + lost + 2 * lost.replace("17", "9" * digits))
        assert read_trace(path).notes[: len(told)] == told
