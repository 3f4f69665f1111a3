"""The folder of the status files of a user's controllers."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from support.bench import Bench

from htppower.control.status import runtime_folder
from htppower.control.status.runtime_folder import is_own, reserved_file, runtime_folders

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights and owners of POSIX")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new runtime folder of this user."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def test_a_controller_serves_without_a_path_until_it_is_closed(run: Path) -> None:
    """The file is in a folder that only the user can read, and is removed when its controller is closed."""
    bench = Bench.make()
    first, second = bench.controller.serve_status(), bench.controller.serve_status()
    assert first.path != second.path
    assert first.path.parent == run / "htppower"
    assert stat.S_IMODE(first.path.parent.stat().st_mode) == 0o700
    assert json.loads(first.path.read_text(encoding="ascii"))["pid"] == os.getpid()
    first.close()
    assert not first.path.exists()
    bench.controller.close()
    assert not second.path.exists()
    assert not list(first.path.parent.iterdir())


def test_a_closed_controller_leaves_no_reserved_file(run: Path) -> None:
    """If the status can't be served, no file is left."""
    bench = Bench.make()
    bench.controller.close()
    with pytest.raises(RuntimeError):
        bench.controller.serve_status()
    assert not list(run.rglob("*.json"))


def test_a_folder_of_somebody_else_is_not_used(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that others may write to, a link, or a file, is refused."""
    monkeypatch.setattr(runtime_folder, "runtime_folders", lambda: (run / "htppower",))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    place = run / "htppower"
    for plant in ("folder", "link", "file"):
        if plant == "folder":
            place.mkdir()
            place.chmod(0o777)
        elif plant == "link":
            place.symlink_to(elsewhere)
        else:
            place.write_text("", encoding="ascii")
        with pytest.raises(OSError, match="htppower"):
            reserved_file()
        assert not list(elsewhere.iterdir())
        if plant == "folder":
            place.rmdir()
        else:
            place.unlink()


def test_the_owner_of_a_folder_counts(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of another user is refused, even if this user may write to it."""
    assert is_own(run)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert not is_own(run)
    assert runtime_folders()[-1].name == "htppower-12345"
    assert run / "htppower" not in runtime_folders()


def test_what_killed_processes_left_is_removed_after_a_day(run: Path) -> None:
    """A file of an ended process is removed after a day; a file of a running process stays."""
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
    folder = run / "htppower"
    folder.mkdir(mode=0o700)
    long_ago = time.time() - 2 * 86_400
    files = {
        name: folder / f"{name}.json" for name in (f"{process.pid}-1", f"{process.pid}-2", f"{os.getpid()}-1", "x")
    }
    for path in files.values():
        path.write_text("{}", encoding="ascii")
        os.utime(path, (long_ago, long_ago))
    os.utime(files[f"{process.pid}-2"])
    reserved = reserved_file()
    assert reserved.name == f"{os.getpid()}-2.json"
    assert {path.name for path in folder.iterdir()} == {
        reserved.name,
        f"{process.pid}-2.json",
        f"{os.getpid()}-1.json",
        "x.json",
    }
