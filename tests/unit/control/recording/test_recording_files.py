"""The files of a recording: when they are written, rotation, lost inferences, full disks, other writers."""

from __future__ import annotations

import errno
import logging
import os
from typing import TYPE_CHECKING, Any

import pytest

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
from pathlib import Path

from support.bench import Bench
from support.recordings import events, inferences, lost

from htppower.control.files import new_file
from htppower.control.recording import trace_files
from htppower.control.recording.recorder import PERIOD_US
from htppower.profiles.regular_file import read_regular_file

if TYPE_CHECKING:
    from io import FileIO

SECOND_US = 1_000_000


def test_it_is_written_a_second_after_the_first(bench: Bench, path: Path) -> None:
    """Inferences that end within a second are written together; if there are none, no timer runs."""
    session = bench.controller.session("burst")
    bench.controller.record(path)
    bench.time.advance_us(10 * SECOND_US)
    assert bench.time.alarms == 0
    for _ in range(3):
        bench.infer(session)
    bench.time.advance_us(0)
    bench.time.advance_us(PERIOD_US - 3_001)
    assert inferences(path) == []
    bench.time.advance_us(3_001)
    assert (len(inferences(path)), bench.time.alarms) == (3, 0)
    changed_ns = path.stat().st_mtime_ns
    bench.time.advance_us(10 * SECOND_US)
    assert path.stat().st_mtime_ns == changed_ns


def test_beyond_the_bound_the_oldest_are_lost(bench: Bench, path: Path) -> None:
    """The next written line says how many inferences were lost and where; the handle and the status count them, too."""
    session = bench.controller.session("system_settings")
    recording = bench.controller.record(path, most_pending=4)
    for count in (3, 10, 1):
        for _ in range(count):
            bench.infer(session)
        assert recording.flush()
        bench.time.advance_us(PERIOD_US)
    assert [event["name"] for event in events(path)[1:]] == ["inference"] * 3 + ["lost"] + ["inference"] * 5
    assert (lost(path), recording.lost) == (6, 6)
    (told,) = [event for event in events(path) if event["name"] == "lost"]
    assert (told["ph"], told["tid"], told["ts"]) == ("i", 0, PERIOD_US + 3000 + 7000)
    status = bench.controller.status().recording
    assert status is not None
    assert (status.path, status.written, status.pending, status.lost, status.error) == (str(path), 8, 0, 6, None)


def test_a_full_file_is_renamed(bench: Bench, path: Path) -> None:
    """No file exceeds its size, each begins with a header, no line is cut, and the oldest file is removed."""
    session = bench.controller.session("system_settings")
    bench.controller.record(path, most_bytes=4096, files=3)
    for _ in range(5):
        for _ in range(30):
            bench.infer(session)
        bench.time.advance_us(PERIOD_US)
    made = [path.with_name(f"trace.json{end}") for end in (".2", ".1", "")]
    assert sorted(path.parent.iterdir()) == sorted(made)
    assert all(events(file)[0]["name"] == "htppower" and file.stat().st_size <= 4096 for file in made)
    begins = [begin for file in made for _, begin, _ in inferences(file)]
    everything = [batch * (30_000 + PERIOD_US) + 1000 * each for batch in range(5) for each in range(30)]
    assert begins == everything[-len(begins) :]
    assert len(begins) < 150


def test_one_file_is_begun_anew(bench: Bench, path: Path) -> None:
    """If only one file is kept, a full file is replaced."""
    session = bench.controller.session("system_settings", owner="x" * 5_000)
    bench.controller.record(path, most_bytes=4096, files=1)
    for _ in range(3):
        bench.infer(session)
    bench.controller.close()
    assert (list(path.parent.iterdir()), inferences(path)) == ([path], [(1, 2000, 3000)])


class FullDisk:
    """A disk with room for a number of bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        for module in (trace_files, new_file):
            monkeypatch.setattr(module, "write_all", self._write)

    def _write(self, file: FileIO, data: bytes) -> None:
        taken = data[: self.room]
        self.room -= file.write(taken)
        if len(taken) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_logged_once_and_retried(
    bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If the disk is full, the host continues, the file has only complete lines, and a later retry succeeds."""
    session = bench.controller.session("system_settings")
    bench.controller.record(path)
    bench.infer(session)
    disk = FullDisk(monkeypatch, 20)
    with caplog.at_level(logging.WARNING, "htppower"):
        for _ in range(3):
            bench.infer(session)
            bench.time.advance_us(PERIOD_US)
            assert inferences(path) == []
    assert (len(caplog.records), str(path) in caplog.text, "No space left" in caplog.text) == (1, True, True)
    status = bench.controller.status().recording
    assert status is not None
    assert (inferences(path), status.written, status.pending) == ([], 0, 4)
    assert "No space left" in str(status.error)
    disk.room = 1 << 20
    bench.time.advance_us(PERIOD_US)
    status = bench.controller.status().recording
    assert status is not None
    assert (len(inferences(path)), status.error, status.lost, bench.time.alarms) == (4, None, 0, 0)


def test_a_full_disk_takes_no_more_memory(bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the disk is full, memory holds only the inferences of the first attempt and some of the latest."""
    session = bench.controller.session("system_settings")
    recording = bench.controller.record(path, most_pending=4)
    disk = FullDisk(monkeypatch, 0)
    for _ in range(10):
        for _ in range(4):
            bench.infer(session)
        bench.time.advance_us(PERIOD_US)
    status = bench.controller.status().recording
    assert status is not None
    assert status.pending == 8
    disk.room = 1 << 20
    assert recording.flush()
    assert [event["name"] for event in events(path)[1:]] == ["inference"] * 4 + ["lost"] + ["inference"] * 4
    assert recording.lost == 32


@pytest.mark.needs("open files")
def test_a_disk_that_fills_as_a_file_begins(bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is left without its header, and once there is room, no inference is missing."""
    session = bench.controller.session("system_settings")
    bench.controller.record(path)
    bench.infer(session)
    bench.time.advance_us(PERIOD_US)
    older = path.rename(path.with_name("trace.json.1"))
    disk = FullDisk(monkeypatch, 100)
    bench.infer(session)
    bench.time.advance_us(PERIOD_US)
    assert not path.exists()
    disk.room = 1 << 20
    bench.time.advance_us(PERIOD_US)
    assert (len(inferences(older)), len(inferences(path))) == (1, 1)


@pytest.mark.needs("open files")
@pytest.mark.parametrize("how", ["removed", "renamed", "emptied"])
def test_a_file_that_is_taken_away_is_begun_anew(bench: Bench, path: Path, how: str) -> None:
    """If the file is moved away, as in a log rotation, a new file with a header is made, and the old one is left."""
    session = bench.controller.session("system_settings")
    bench.controller.record(path)
    bench.infer(session)
    bench.time.advance_us(PERIOD_US)
    if how == "removed":
        path.unlink()
    elif how == "renamed":
        path.rename(path.with_name("mine"))
    else:
        path.write_bytes(b"")
    bench.infer(session)
    bench.time.advance_us(PERIOD_US)
    assert len(inferences(path)) == 1
    if how == "renamed":
        assert len(inferences(path.with_name("mine"))) == 1


@pytest.mark.needs("open files")
def test_a_folder_that_comes_and_goes(bench: Bench, tmp_path: Path) -> None:
    """Without the folder nothing is written; once it is back, no inference is missing."""
    path = tmp_path / "inner" / "trace.json"
    path.parent.mkdir()
    session = bench.controller.session("system_settings")
    bench.controller.record(path)
    path.unlink()
    path.parent.rmdir()
    bench.infer(session)
    bench.time.advance_us(3 * PERIOD_US)
    path.parent.mkdir()
    bench.time.advance_us(PERIOD_US)
    assert len(inferences(path)) == 1


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize("there", [True, pytest.param(False, marks=pytest.mark.needs("open files"))])
def test_another_controller_is_refused_during_a_rotation(
    bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch, there: bool, files: int
) -> None:
    """The path stays reserved while no file is there, and the rotation completes."""
    session = bench.controller.session("burst", owner="x" * 3_000)
    bench.controller.record(path, most_bytes=4096, files=2)
    other, refused, replace = Bench.make(), [], Path.replace

    def interleave(old: Path, new: Path) -> None:
        if path.exists() is there:
            with pytest.raises(ValueError, match="another controller"):
                other.controller.record(path, files=files)
            refused.append(new)
        replace(old, new)

    bench.infer(session)
    bench.time.advance_us(PERIOD_US)
    bench.infer(session)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interleave)
        bench.time.advance_us(PERIOD_US)
    assert refused == [path.with_name("trace.json.1") if there else path]
    assert (len(inferences(path)), len(inferences(path.with_name("trace.json.1")))) == (1, 1)
    assert len(list(path.parent.iterdir())) == 2
    other.controller.close()


def test_a_file_that_a_killed_process_was_beginning_goes(bench: Bench, path: Path) -> None:
    """A file that a killed process left with a temporary name, perhaps with half a header, is removed."""
    path.with_name(".trace.json.new").write_text("[", encoding="ascii")
    bench.controller.record(path)
    assert (list(path.parent.iterdir()), inferences(path)) == ([path], [])


@pytest.mark.parametrize("there", [True, False])
def test_no_link_is_followed(bench: Bench, path: Path, there: bool) -> None:
    """The target of a link at the path is neither written nor created; the link is renamed."""
    victim = path.with_name("victim")
    if there:
        victim.write_text("kept", encoding="ascii")
    path.symlink_to(victim)
    bench.controller.record(path)
    bench.controller.close()
    assert (path.is_symlink(), inferences(path)) == (False, [])
    assert victim.read_text(encoding="ascii") == "kept" if there else not victim.exists()


def test_a_file_may_be_renamed_while_it_is_checked(bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another controller renames the file during the check, the recording still begins."""
    older = path.with_name("trace.json.1")
    older.touch()

    def renamed_meanwhile(place: Path, *arguments: Any, **options: Any) -> bytes:
        if place == older:
            older.rename(path.with_name("trace.json.2"))
        return read_regular_file(place, *arguments, **options)

    monkeypatch.setattr(new_file, "read_regular_file", renamed_meanwhile)
    bench.controller.record(path, files=2)
    assert path.exists()


@pytest.mark.skipif(fcntl is None, reason="Windows locks no file")
@pytest.mark.parametrize("nth", range(3))
def test_the_time_limit_of_a_host_leaves_another_recording_alone(
    bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """A TimeoutError, such as from a signal handler, reaches the caller of ``record``, and no live file is renamed."""
    other = Bench.make()
    live = other.controller.record(path)
    path.with_name(f".{path.name}.new").touch()
    limits = iter([False] * nth + [True])
    lock = fcntl.flock

    def flock(file: Any, operation: int) -> None:
        if next(limits, False):
            raise TimeoutError("the host's limit")
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises((TimeoutError, ValueError)):
        bench.controller.record(path)
    assert not path.with_name(f"{path.name}.1").exists()
    live.close()
    other.controller.close()
