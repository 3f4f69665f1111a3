"""The files of a folder that are traces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.fleets import recording

from htppower.tools.tuning.fleet.files import trace_files
from htppower.tools.tuning.fleet.reading import read_chunk
from htppower.tools.tuning.fleet.records import FileGaps, FleetError, Question, TraceFile


def made(folder: Path, *names: str, text: str = "begin_us,end_us\n1,2\n") -> None:
    """Write files."""
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def names(folder: Path, **options: object) -> list[str]:
    """Return the found files, relative to the folder."""
    found = trace_files(folder, **options)  # type: ignore[arg-type]
    return [Path(each.path).relative_to(folder.absolute()).as_posix() for each in found]


def test_all_files_below_are_found_in_order(tmp_path: Path) -> None:
    """Subfolders are searched, hidden names are skipped, and the paths are sorted."""
    made(tmp_path, "b.csv", "a.json", "deep/c.csv", ".hidden", ".git/d.csv", "deep/.e.csv")
    assert names(tmp_path) == ["a.json", "b.csv", "deep/c.csv"]
    assert names(tmp_path, pattern="*.csv") == ["b.csv", "deep/c.csv"]


def test_what_is_written_is_no_trace(tmp_path: Path) -> None:
    """A profile and its results may be in the folder of the traces, even behind a link."""
    made(tmp_path / "real", "a.csv", "fleet.yaml", "fleet.fleet.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    but = [tmp_path / "link" / "fleet.yaml", tmp_path / "real" / "fleet.fleet.jsonl"]
    assert names(tmp_path / "real", but=but) == ["a.csv"]
    assert names(tmp_path / "link", but=but) == ["a.csv"]


def test_a_file_is_known_by_path_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is absolute for any spelling of the folder, since a worker may be elsewhere."""
    made(tmp_path, "a.csv", text="12345")
    os.utime(tmp_path / "a.csv", ns=(300, 700))
    monkeypatch.chdir(tmp_path)
    assert trace_files(Path()) == (TraceFile(str(tmp_path / "a.csv"), 5, 700),)


def test_a_trace_in_parts_is_one(tmp_path: Path) -> None:
    """The first part of a split file stands for all, with their total bytes and their latest time."""
    made(tmp_path, "log.jsonab", "log.jsonaa", "log.jsonac", text="[]")
    for number, part in enumerate("abc"):
        os.utime(tmp_path / f"log.jsona{part}", ns=(100, 1000 - 100 * number))
    assert trace_files(tmp_path) == (TraceFile(str(tmp_path / "log.jsonaa"), 6, 1000),)


def test_parts_of_which_one_is_missing_are_named_by_their_reader(tmp_path: Path) -> None:
    """Each remaining part is found, so that its reader reports the missing one."""
    made(tmp_path, "log.jsonaa", "log.jsonac", text="[]")
    assert names(tmp_path) == ["log.jsonaa", "log.jsonac"]


def test_a_recording_stands_for_its_older_files(tmp_path: Path) -> None:
    """Older files are read with the recording, so each inference counts once; files of other tools are read alone."""
    made(tmp_path, "camera.json", "camera.json.1", "camera.json.2", text=recording([5]))
    made(tmp_path, "other.csv", "other.csv.1")
    assert names(tmp_path) == ["camera.json", "other.csv", "other.csv.1"]
    assert trace_files(tmp_path)[0].size == 3 * len(recording([5]))


def test_older_files_of_another_run_are_traces_of_their_own(tmp_path: Path) -> None:
    """Older files of another run are not read with the recording, so they are found as traces."""
    made(tmp_path, "camera.json", "camera.json.1", text=recording([5]))
    made(tmp_path, "camera.json.2", "camera.json.3", text=recording([5], pid=2))
    assert names(tmp_path) == ["camera.json", "camera.json.2", "camera.json.3"]
    read = read_chunk(trace_files(tmp_path), Question(1))
    assert sum(each.inferences for each in read.answers if isinstance(each, FileGaps)) == 4 * 2


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    """The reader of the link reports that the file is missing."""
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert trace_files(tmp_path) == (TraceFile(str(tmp_path / "gone"), 0, 0),)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    """A folder without a file of the pattern is refused too, and the error names the pattern."""
    made(tmp_path, ".hidden")
    with pytest.raises(FleetError, match="the folder has no file; give a folder"):
        trace_files(tmp_path)
    made(tmp_path, "a.csv")
    with pytest.raises(FleetError, match=r"has no file with a name like \*\.json"):
        trace_files(tmp_path, "*.json")
