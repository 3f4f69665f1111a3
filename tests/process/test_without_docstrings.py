"""The command under ``python -OO``, which strips docstrings and assertions: both are for readers, and no data."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.profiles.discovery import shipped_folder

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

PROFILES = str(shipped_folder())
COMMANDS = {
    "list": ("list",),
    "list --format json": ("list", "--format", "json"),
    "show": ("show", "burst"),
    "explain": ("explain", "burst"),
    "explain a field": ("explain", "burst", "core"),
    "explain a rule": ("explain", "RPC-6", "--format", "json"),
    "lint": ("lint", PROFILES, "--notes", "--format", "sarif"),
    "lint of what is wrong": ("lint", "bad.yaml"),
    "diff": ("diff", f"{PROFILES}/burst.yaml", f"{PROFILES}/balanced.yaml", "--timeline"),
    "test": ("test", PROFILES),
    "dry run": ("profile", "burst", "--dry-run"),
    "dry run as a page": ("profile", "burst", "--dry-run", "--format", "html"),
    "dry run as a trace": ("profile", "burst", "--dry-run", "--format", "trace"),
    "status": ("status", "status.json"),
    "doctor": ("doctor", "--library", "none.so"),
    "a wrong command": ("lnit",),
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command without docstrings and assertions."""
    return subprocess.run(
        [sys.executable, "-OO", "-m", "htppower", *arguments], capture_output=True, text=True, check=False, timeout=120
    )


def timeless(text: str) -> str:
    """Return a text without how long ago something was."""
    return re.sub(r"[\d.]+ m?s ago", "just now", text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a status file and a profile that is wrong in it."""
    monkeypatch.chdir(tmp_path)
    bad = "# htppower: disable=RPC-6 until=2099-01-01 because=a\nprofile: bad\nextends: balanced\nvote: {}\n"
    (tmp_path / "bad.yaml").write_text(bad, encoding="utf-8")
    with VoteController(SimulatedHtp(arch=75)) as controller:
        controller.serve_status(tmp_path / "status.json")
    return tmp_path


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.usefixtures("folder")
def test_every_command_says_the_same(command: Command, arguments: tuple[str, ...]) -> None:
    """What a command prints, and its exit code, do not hang on docstrings and assertions."""
    expected = command.run(*arguments)
    done = run(*arguments)
    assert (done.returncode, timeless(done.stdout)) == (expected.exit_code, timeless(expected.stdout))
    assert "Traceback" not in done.stderr


def test_the_schemas_are_the_same(folder: Path) -> None:
    """The descriptions in the schemas are data."""
    done = run("schema", str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    shipped = shipped_folder() / "schemas"
    for path in shipped.iterdir():
        assert (folder / path.name).read_bytes() == path.read_bytes()
