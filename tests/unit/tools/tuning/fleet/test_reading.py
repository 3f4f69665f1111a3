"""A worker's answer for a file, and for an unreadable file."""

from __future__ import annotations

import itertools
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from htppower import __version__
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner
from htppower.tools.tuning.fleet import reading
from htppower.tools.tuning.fleet.gap_histogram import GapHistogram
from htppower.tools.tuning.fleet.reading import read_chunk, read_file
from htppower.tools.tuning.fleet.records import Cost, FileGaps, Question, TraceFile, Unread

if TYPE_CHECKING:
    from pathlib import Path

_LEARNT = (Adaptive(100_000), Adaptive(cold_starts_ppm=100_000))
_CSV = (
    "session,begin_us,end_us\ncamera,0,10\ncamera,40,50\nmic,45,60\ncamera,50,80\nmic,1060,1070\ncamera,100080,100090\n"
)


@pytest.fixture
def file(tmp_path: Path) -> TraceFile:
    """Return a file of two sessions."""
    (tmp_path / "a.csv").write_text(_CSV, encoding="utf-8")
    return TraceFile.at(str(tmp_path / "a.csv"))


def test_gaps_are_those_of_each_session(file: TraceFile) -> None:
    """Other sessions do not shorten a gap; touching inferences have a gap of 0."""
    answer = read_file(file, Question(500))
    assert answer == FileGaps(
        file, 2, 6, GapHistogram.of(np.array([30, 0, 100_000, 1_000])), clairvoyant_us=30 + 0 + 500 + 500
    )


def test_a_session_can_be_asked_for(file: TraceFile) -> None:
    """With a session given, other sessions do not count, and a file without it is named."""
    answer = read_file(file, Question(500, sessions=("mic",)))
    assert isinstance(answer, FileGaps)
    assert (answer.sessions, answer.inferences, answer.gaps.gaps) == (1, 2, 1)
    assert read_file(file, Question(500, sessions=("gps", "fix"))) == Unread(
        file.path, f"{file.path}: has no inferences of a session 'gps' or 'fix'"
    )


def test_learners_run_gap_by_gap(tmp_path: Path) -> None:
    """Each session has its own learner; a gap as long as its time-out is a cold start."""
    drawn = np.random.default_rng(7)
    gaps_us = [drawn.lognormal(11, 2, 400).astype(np.int64).tolist(), [100_000, 100_000, 99_999]]
    lines = ["session,begin_us,end_us"]
    for number, gaps in enumerate(gaps_us):
        begins_us = itertools.accumulate((gap + 5 for gap in gaps), initial=0)
        lines += (f"{number},{begin_us},{begin_us + 5}" for begin_us in begins_us)
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    expected = []
    for sustain in _LEARNT:
        cost_us = cold = 0
        for gaps in gaps_us:
            learner = make_learner(sustain)
            for gap in gaps:
                warm = gap < learner.time_out_us
                cost_us += gap if warm else learner.time_out_us + 70_000
                cold += not warm
                learner.learn(gap)
        expected.append(Cost(cost_us, cold))
    found = read_file(TraceFile.at(str(tmp_path / "a.csv")), Question(70_000, _LEARNT))
    assert isinstance(found, FileGaps)
    assert found.learnt == tuple(expected)


def test_a_chunk_says_how_long_it_took_and_who_read_it(file: TraceFile) -> None:
    """The answers are in the order of the files, and the result can be pickled."""
    gone = TraceFile(f"{file.path}.gone", 0, 0)
    read = read_chunk([gone, file, gone], Question(500, _LEARNT))
    assert [type(each) for each in read.answers] == [Unread, FileGaps, Unread]
    assert read.took_s > 0
    assert read.version == __version__
    assert pickle.loads(pickle.dumps(read)) == read  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is empty"), (b"hello", "no column"), (b"{}", "no trace events"), (b"\0" * 99, "is not a text")],
)
def test_what_is_no_trace_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    """The reader's error names the file and the problem."""
    (tmp_path / "x").write_bytes(content)
    found = read_file(TraceFile.at(str(tmp_path / "x")), Question(500))
    assert isinstance(found, Unread)
    assert found.path == str(tmp_path / "x")
    assert str(tmp_path / "x") in found.why
    assert said in found.why


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
def test_a_pipe_is_named_and_not_waited_for(tmp_path: Path) -> None:
    """A pipe may never get any data, so it is not read."""
    os.mkfifo(tmp_path / "pipe")
    found = read_file(TraceFile.at(str(tmp_path / "pipe")), Question(500))
    assert isinstance(found, Unread)
    assert "is a pipe" in found.why


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (MemoryError(), "MemoryError"),
        (RuntimeError("x"), "x"),
    ],
)
def test_whatever_goes_wrong_stops_no_other_file(
    file: TraceFile, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    """An unexpected error also names the file."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(reading, "read_trace", fail)
    found = read_file(file, Question(500))
    assert isinstance(found, Unread)
    assert found.why.startswith(f"{file.path}: ")
    assert said in found.why


def test_a_file_that_takes_too_long_ends_off_the_main_thread_too(tmp_path: Path) -> None:
    """Without signals, such as on a worker of Dask, reading ends at the next part."""
    path = tmp_path / "slow.csv"
    path.write_text("begin_us\n" + "1\n" * 100_000, encoding="utf-8")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(read_file, TraceFile.at(str(path)), Question(100_000), 1e-6).result()
    assert read == Unread(str(path), f"{path}: takes longer than 1e-06 s; --file-timeout gives each file more time")
