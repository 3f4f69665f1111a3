"""The path of a status file: links are not followed, other files are kept, files of a killed process are replaced."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from support.bench import Bench
from support.slashes import WINDOWS, as_said
from support.status_files import read

if TYPE_CHECKING:
    from pathlib import Path

SECOND_US = 1_000_000


def test_what_can_not_be_written_is_refused(bench: Bench, path: Path) -> None:
    """A missing folder, a folder and a device are refused by name, and nothing is served or left behind."""
    with pytest.raises(FileNotFoundError, match="its folder is missing: make that first") as missing:
        bench.controller.serve_status(path.parent / "none" / "s")
    assert missing.value.filename == str(path.parent / "none" / "s")
    with pytest.raises(IsADirectoryError, match=as_said(path.parent)):
        bench.controller.serve_status(path.parent)
    if not WINDOWS:
        with pytest.raises(ValueError, match="/dev/null is a device: name a file for the status"):
            bench.controller.serve_status("/dev/null")
    bench.controller.session("burst")
    bench.time.advance_us(SECOND_US)
    assert (list(path.parent.iterdir()), bench.time.alarms) == ([], 0)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_not_followed(bench: Bench, path: Path, there: bool) -> None:
    """A link at the path, also a later one, is replaced: in a shared folder it may lead anywhere."""
    victim = path.parent / "victim"
    if there:
        victim.write_text("kept", encoding="ascii")
    session = bench.controller.session("high_performance")
    for _ in range(2):
        path.unlink(missing_ok=True)
        path.symlink_to(victim)
        with bench.controller.serve_status(path):
            path.unlink()
            path.symlink_to(victim)
            bench.infer(session)
            bench.time.advance_us(SECOND_US)
        assert not path.is_symlink()
        assert read(path)["pid"] == os.getpid()
    assert victim.read_text(encoding="ascii") == "kept" if there else not victim.exists()


def test_a_folder_that_is_a_link_is_followed_once(bench: Bench, path: Path) -> None:
    """The status is in the folder that the link leads to when serving begins."""
    real, link = path.parent / "real", path.parent / "link"
    real.mkdir()
    link.symlink_to(real)
    bench.controller.serve_status(link / "status.json")
    assert read(real / "status.json")["pid"] == os.getpid()


def test_what_a_killed_process_left_behind_goes(bench: Bench, path: Path) -> None:
    """A half-written file of a killed process is removed, and a link with its name is not followed."""
    other = path.parent / "other"
    other.write_text("kept", encoding="ascii")
    (path.parent / ".status.json.new").symlink_to(other)
    bench.controller.serve_status(path)
    assert sorted(file.name for file in path.parent.iterdir()) == ["other", "status.json"]
    assert other.read_text(encoding="ascii") == "kept"


def test_a_file_that_holds_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    """A file with other content is refused and kept; an old status or an empty file is replaced."""
    bench = Bench.make()
    notes = tmp_path / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="something else"):
        bench.controller.serve_status(notes)
    assert notes.read_text(encoding="utf-8") == "mine"
    notes.write_text("", encoding="utf-8")
    bench.controller.serve_status(notes).close()
    bench.controller.serve_status(notes).close()
