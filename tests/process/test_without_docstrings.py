"""The command under ``python -OO``, which strips docstrings and assertions: both are for readers only."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.shipped import shipped_folder

from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

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


# All in one process: one process each would be slow.
ALL = """
import json, sys
from click.testing import CliRunner
from htppower.tools.cli.main import main
assert False, "assertions are stripped"
for arguments in json.load(sys.stdin):
    done = CliRunner(env={"COLUMNS": "80"}).invoke(main, arguments, prog_name="htppower")
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
"""


def run(*arguments: str, **given: Any) -> subprocess.CompletedProcess[str]:
    """Run Python without docstrings and assertions."""
    return subprocess.run(
        [sys.executable, "-OO", *arguments], capture_output=True, text=True, check=False, timeout=120, **given
    )


def timeless(text: str) -> str:
    """Return a text without its ages."""
    return re.sub(r"[\d.]+ m?s ago", "just now", text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a status file and a wrong profile."""
    made = tmp_path_factory.mktemp("without_docstrings")
    bad = "# htppower: disable=RPC-6 until=2099-01-01 because=a\nprofile: bad\nextends: balanced\nvote: {}\n"
    (made / "bad.yaml").write_text(bad, encoding="utf-8")
    with VoteController(SimulatedHtp(arch=75)) as controller:
        controller.serve_status(made / "status.json")
    return made


@pytest.fixture(scope="module")
def said(folder: Path) -> dict[tuple[str, ...], tuple[int, str, str]]:
    """Return the exit code and the output, by command."""
    done = run("-c", ALL, input=json.dumps([*COMMANDS.values()]), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip(COMMANDS.values(), map(tuple, answers), strict=True))


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_every_command_says_the_same(
    command: Command,
    said: dict[tuple[str, ...], tuple[int, str, str]],
    folder: Path,
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A command's output and exit code do not depend on docstrings and assertions."""
    monkeypatch.chdir(folder)
    expected = command.run(*arguments)
    code, output, errors = said[arguments]
    assert (code, timeless(output)) == (expected.exit_code, timeless(expected.stdout))
    assert "Traceback" not in errors


def test_the_schemas_are_the_same(tmp_path: Path) -> None:
    """The descriptions in the schemas are data, so they stay."""
    done = run("-m", "htppower", "schema", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    shipped = shipped_folder() / "schemas"
    for path in shipped.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
