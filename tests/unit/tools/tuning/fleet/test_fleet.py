"""A fleet is read file by file, continues after a stop, and leaves out unreadable files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.fleets import write_fleet

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.fleet.files import trace_files
from htppower.tools.tuning.fleet.fleet import read_fleet
from htppower.tools.tuning.fleet.reading import read_chunk
from htppower.tools.tuning.fleet.records import FileGaps, FleetError, Question

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from htppower.tools.tuning.fleet.chunks import Chunks
    from htppower.tools.tuning.fleet.reading import Reader
    from htppower.tools.tuning.fleet.records import ReadChunk, TraceFile

_QUESTION = Question(100_000, (Adaptive(100_000),))
_FILES = 12


@pytest.fixture
def files(tmp_path: Path) -> tuple[TraceFile, ...]:
    """Return the files of a fleet."""
    write_fleet(tmp_path / "traces", _FILES, 20)
    return trace_files(tmp_path / "traces")


def one_by_one(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
    """Yield each file as a chunk of its own."""
    while files := chunks.next():
        for file in files:
            yield read_chunk([file], question)


def stopped_after(number: int) -> Reader:
    """Return a reader that stops with Ctrl-C after this many files."""

    def read(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
        for done, each in enumerate(one_by_one(chunks, question)):
            if done == number:
                raise KeyboardInterrupt
            yield each

    return read


def test_every_file_is_read_once(files: tuple[TraceFile, ...]) -> None:
    """The answers are sorted by path in any case, and the progress adds up to the number of files."""
    done: list[int] = []
    fleet = read_fleet(files, _QUESTION, progress=done.append)
    assert [each.file for each in fleet.answers] == list(files)
    assert fleet.unread == ()
    assert sum(done) == _FILES
    assert read_fleet(files, _QUESTION, read=one_by_one) == fleet


def test_a_run_that_was_stopped_is_gone_on_with(files: tuple[TraceFile, ...], tmp_path: Path) -> None:
    """After Ctrl-C only the remaining files are read, and the answers equal a run without a stop."""
    results = tmp_path / "results.jsonl"
    with pytest.raises(KeyboardInterrupt):
        read_fleet(files, _QUESTION, read=stopped_after(5), results=results)
    seen: list[str] = []
    done: list[int] = []

    def read(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
        for each in one_by_one(chunks, question):
            seen.extend(answer.file.path for answer in each.answers if isinstance(answer, FileGaps))
            yield each

    fleet = read_fleet(files, _QUESTION, read=read, results=results, progress=done.append)
    assert len(seen) == _FILES - 5
    assert (fleet.kept, sum(done)) == (5, _FILES)
    assert fleet.answers == read_fleet(files, _QUESTION).answers
    assert read_fleet(files, _QUESTION, read=stopped_after(0), results=results).kept == _FILES


def test_a_file_that_has_changed_is_read_again(files: tuple[TraceFile, ...], tmp_path: Path) -> None:
    """A change of size or time counts; the other files are not read again."""
    results = tmp_path / "results.jsonl"
    read_fleet(files, _QUESTION, results=results)
    with open(files[3].path, "a", encoding="utf-8") as file:  # noqa: PTH123 - a text
        file.write("\n")
    changed = trace_files(tmp_path / "traces")
    fleet = read_fleet(changed, _QUESTION, results=results)
    assert fleet.kept == _FILES - 1
    assert [each.file for each in fleet.answers] == list(changed)


def test_what_can_not_be_read_is_left_out_and_tried_again(files: tuple[TraceFile, ...], tmp_path: Path) -> None:
    """The error is named, and not kept, since the cause may go away without a change of the file."""
    (tmp_path / "traces" / "bad.csv").write_text("nothing", encoding="utf-8")
    every, results = trace_files(tmp_path / "traces"), tmp_path / "results.jsonl"
    for _ in range(2):
        fleet = read_fleet(every, _QUESTION, results=results)
        assert [each.file for each in fleet.answers] == list(files)
        (unread,) = fleet.unread
        assert unread.path.endswith("bad.csv")
        assert "no column" in unread.why


def test_where_none_can_be_read_that_is_an_error(tmp_path: Path) -> None:
    """The error names the first files and the number of the others."""
    for number in range(5):
        (tmp_path / f"bad{number}").write_text("nothing", encoding="utf-8")
    with pytest.raises(FleetError, match=r"none of 5 files can be read:\n.*bad0.*\n.*bad1.*\n.*bad2.*\nand 2 more"):
        read_fleet(trace_files(tmp_path), _QUESTION)


def test_what_reads_is_closed_when_it_fails(files: tuple[TraceFile, ...], tmp_path: Path) -> None:
    """If a run stops while an answer is kept, its reader is closed at once, and so is a cluster."""
    ended: list[bool] = []

    def read(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
        try:
            yield from one_by_one(chunks, question)
        finally:
            ended.append(True)

    def stop(_: int) -> None:
        if stopping:
            raise KeyboardInterrupt
        stopping.append(True)

    def kept(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
        held.append(read(chunks, question))
        return held[0]

    stopping: list[bool] = []
    held: list[Generator[ReadChunk, None, None]] = []
    with pytest.raises(KeyboardInterrupt):
        read_fleet(files, _QUESTION, read=kept, progress=stop)
    # At once, not only when the generator is collected.
    assert held
    assert ended == [True]
