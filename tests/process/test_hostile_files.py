"""Files and folders that need a real disk, device or process: nothing is damaged, and no file fills the memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.costly_files import packed, take

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.command import Command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="names, files and processes of POSIX")
_MOST_MB = 150


def test_nothing_is_written_where_a_device_is_full(command: Command, tmp_path: Path) -> None:
    """A full device is noticed before any file is put in place; a long name is accepted."""
    mine, long = tmp_path / "mine.yaml", tmp_path / ("n" * 250)
    mine.write_text("profile: mine\nextends: burst\n", encoding="utf-8")
    outputs = ("--output", f"json={long}", "--output", "text=/dev/full")
    if os.path.exists("/dev/full"):  # noqa: PTH110 - a device
        assert command.run("lint", str(mine), *outputs).exit_code == 2
        assert not long.exists()
    assert command.run("lint", str(mine), *outputs[:2]).exit_code == 0
    done = subprocess.run(
        [sys.executable, "-m", "htppower", "lint", str(mine), "--output", "json=/dev/stdout"],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b'"format_version": 1' in done.stdout) == (0, True)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110 - a device
def test_a_full_device_is_named(command: Command) -> None:
    """If one of several outputs can't be written, the error names it."""
    done = command.run("diff", "burst", "balanced", "--output", "text=/dev/null", "--output", "json=/dev/full")
    assert (done.exit_code, done.stderr) == (2, "htppower: can't write /dev/full: No space left on device\n")


def test_a_file_that_gets_no_room_is_named(tmp_path: Path) -> None:
    """If the file can't be written completely, the error names the output, not its temporary file."""
    command = f"ulimit -f 0; exec {sys.executable} -m htppower diff burst balanced --output json=here.json"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S607
    assert done.returncode == 2
    assert done.stderr == f"htppower: can't write {tmp_path / 'here.json'}: File too large\n"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """Yield nested folders, deeper than Python's recursion limit; remove them at the end."""
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(1100):
            os.mkdir("d")  # noqa: PTH102 - the path would be too long
            os.chdir("d")
        Path("mine.yaml").write_text("profile: [", encoding="utf-8")
        os.chdir(here)
        yield tmp_path
    finally:
        os.chdir(here)
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)  # noqa: S607


def test_a_very_deep_folder_is_walked(command: Command, deep: Path) -> None:
    """The walk does not recurse, so depth does not matter."""
    assert command.run("lint", str(deep)).exit_code in {0, 1}
    assert command.run("diff", str(deep), str(deep)).exit_code in {0, 2}


@pytest.mark.parametrize("command", ["advise", "status", "tune"])
def test_a_small_file_that_is_large_in_memory_is_refused(tmp_path: Path, command: str) -> None:
    """16 MB of JSON would take 400 MB; a compressed file is refused as soon as its content is too large."""
    path = tmp_path / "values.json"
    path.write_bytes(b'{"components":[' + b"{}," * 5_400_000 + b"{}]}")
    if command == "tune":
        path = packed(tmp_path / "rows.csv.gz", (b"begin_us,end_us\n", *[b"1,2" + b" " * 50_000 + b"\n"] * 4_000))
    taken = take(command, str(path))
    assert taken.code == 2
    assert "set HTPPOWER_READ_MORE=10 to read ten times as much" in taken.said
    assert taken.most_mb < _MOST_MB
