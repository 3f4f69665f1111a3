"""The file of learnt times: written completely or not at all, and used only if it is complete."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench
from support.hanging import until
from support.inside import add_learnt
from support.learnt_files import BREAK_EVEN, entries, kept_by_one, learn, learning, learnt
from support.slashes import WINDOWS, as_said

from htppower.control.learning.learnt import MOST_ENTRIES, PERIOD_US, Entry, Learnt, read_or_put_aside, write
from htppower.control.time.scheduler import SystemTime
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the file."""
    return tmp_path / "learnt.json"


def test_it_is_written_in_the_background(path: Path) -> None:
    """The file is written every ten minutes if something has changed; without sessions that learn, no timer runs."""
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")
    learn(bench, session, 3)
    bench.time.advance_us(PERIOD_US)
    assert [each["state"]["savings"][0] for each in entries(path)] == [3]
    changed_ns = path.stat().st_mtime_ns
    bench.time.advance_us(3 * PERIOD_US)
    assert path.stat().st_mtime_ns == changed_ns
    session.close()
    bench.time.advance_us(PERIOD_US)
    assert bench.time.alarms == 0
    bench.controller.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"format":1', '"format":2'),
        lambda text: text.replace('"break_even_us":100000', '"break_even_us":"100000"'),
        lambda text: text.replace('"break_even_us":100000', '"break_even_us":0.5'),
        lambda text: text.replace('"cold_starts_ppm":null', '"cold_starts_ppm":5'),
        lambda text: text.replace('"counts":[', '"counts":[7,'),
        lambda text: text.replace('"counts":[', '"counts":[-1'),
        lambda text: text.replace('"bank_us":', '"bank_us":9'),
        lambda text: text.replace('"owner":"camera"', '"owner":7'),
        lambda text: text.replace('"further":false', '"further":0'),
        lambda text: text.replace('"entries":[', '"entries":[7,'),
        lambda text: text.replace('"entries":[', '"entries":{}, "others": ['),
        lambda _text: "",
    ],
)
def test_a_damaged_file_is_put_aside(path: Path, change: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A damaged file is renamed, and no entry of it is used; a WARNING has the new name."""
    kept_by_one(path)
    text = path.read_text(encoding="ascii")
    damaged = change(text)
    assert damaged != text
    path.write_text(damaged, encoding="ascii")
    with caplog.at_level(logging.WARNING, "htppower"):
        bench = Bench.make(learnt=path)
    aside = path.with_name("learnt.json.bad")
    assert (aside.read_text(encoding="ascii"), path.exists()) == (damaged, False)
    assert str(aside) in caplog.text
    bench.controller.session(learning(), owner="camera")
    assert learnt(bench)[0][0] == 0
    bench.controller.close()


def test_what_is_no_such_file_is_refused(path: Path) -> None:
    """A missing folder, a folder, a device and a file of another kind are refused by name and left alone."""
    with pytest.raises(FileNotFoundError, match=f"folder is missing.*{as_said(path.parent / 'none' / 'l')}"):
        Bench.make(learnt=path.parent / "none" / "l")
    with pytest.raises(IsADirectoryError, match=as_said(path.parent)):
        Bench.make(learnt=path.parent)
    if not WINDOWS:
        with pytest.raises(ValueError, match="/dev/null is a device: name a file"):
            Bench.make(learnt="/dev/null")
    path.write_text('{"mine": 1}', encoding="ascii")
    with pytest.raises(ValueError, match="something else"):
        Bench.make(learnt=path)
    assert path.read_text(encoding="ascii") == '{"mine": 1}'


def test_a_full_disk_is_told_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If the disk is full, the old file stays, one message is logged, and the write is retried."""
    known = kept_by_one(path)
    before = path.read_text(encoding="ascii")
    bench = Bench.make(learnt=path)
    session = bench.controller.session(learning(), owner="camera")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "htppower"):
        patch.setattr("htppower.control.learning.learnt.write", full)
        learn(bench, session, 1)
        bench.time.advance_us(2 * PERIOD_US)
    assert (len(caplog.records), path.read_text(encoding="ascii")) == (1, before)
    bench.controller.close()
    assert [each["state"]["savings"][0] for each in entries(path)] == [known[0] + 1]


def test_there_are_so_many_entries_at_most(path: Path) -> None:
    """The number of entries is limited; the newest ones are kept."""
    learner = make_learner(BREAK_EVEN)
    learner.learn(1_000_000)
    write(path, (Entry(f"request {n}", "burst", False, BREAK_EVEN, learner.state()) for n in range(MOST_ENTRIES)))
    kept_by_one(path, 1)
    made = [each.owner for each in read_or_put_aside(path)]
    assert (len(made), made[0], made[-1]) == (MOST_ENTRIES, "request 1", "camera")


@pytest.mark.needs("open files")
def test_what_comes_while_the_disk_is_slow_is_written_after_the_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a write hangs, closing gives up after its time limit; the last write is made when the disk answers."""
    monkeypatch.setattr("htppower.control.learning.learnt.LONGEST_WRITE_S", 0.01)
    begun, goes_on = threading.Event(), threading.Event()

    def slow(*given: Any) -> None:
        begun.set()
        assert goes_on.wait(20)
        write(*given)

    monkeypatch.setattr("htppower.control.learning.learnt.write", slow)
    time = SystemTime()
    kept = Learnt(path, time, tuple)
    learner = make_learner(BREAK_EVEN)
    learner.learn(1_000_000, waited=True)
    early, late = (Entry(owner, "burst", False, BREAK_EVEN, learner.state()) for owner in "ab")
    add_learnt(kept, [early])
    kept.flush(0)
    assert begun.wait(20)
    add_learnt(kept, [late])
    kept.close()
    goes_on.set()
    until(lambda: path.exists() and [each["owner"] for each in entries(path)] == ["a", "b"])
    time.close()


def test_it_is_on_the_disk_before_it_is_in_its_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a loss of power, either the old or the new file is complete."""
    kept_by_one(path, 1)
    before = path.read_bytes()
    seen: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda _file: seen.append(path.read_bytes()))
    kept_by_one(path, 2)
    assert (seen, path.read_bytes() == before) == ([before], False)
