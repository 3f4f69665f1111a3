"""Completion in the real shells, installed by the documented line; skipped if a shell is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.terminal import Terminal

from docs.man_pages import man_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

BASH = """\
eval "$(htppower completion bash)"
COMP_WORDS=(htppower "$@"); COMP_CWORD=$#
_htppower_completion htppower; echo "${COMPREPLY[@]}"
"""
FISH = 'htppower completion fish | source; complete -C "htppower $argv"'


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Return an environment with this checkout as ``htppower``."""
    script = tmp_path / "bin" / "htppower"
    script.parent.mkdir()
    package = Path(__file__).parents[2]
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{package}" exec "{sys.executable}" -m htppower "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(home), "TERM": "xterm", "COLUMNS": "120"}


def needs(shell: str) -> str:
    """Return the path of a shell; skip the test if it is missing."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"no {shell} here")
    return found


def run(command: list[str], environment: Mapping[str, str]) -> str:
    """Return the output of a command."""
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_bash(environment: Mapping[str, str]) -> None:
    """With the line for ~/.bashrc, bash completes rules and profiles."""
    bash = needs("bash")
    assert run([bash, "-c", BASH, "bash", "explain", "SUS-"], environment).split() == [
        f"SUS-{number}" for number in range(1, 10)
    ]
    assert run([bash, "-c", BASH, "bash", "profile", "bur"], environment).split() == ["burst"]


def test_fish(environment: Mapping[str, str]) -> None:
    """With the generated file, fish completes SoCs."""
    fish = needs("fish")
    said = run([fish, "--no-config", "-c", FISH, "profile burst --soc SM87"], environment)
    assert [line.split()[0] for line in said.splitlines()] == ["SM8735", "SM8750"]


def test_zsh(environment: Mapping[str, str], tmp_path: Path) -> None:
    """With the line for ~/.zshrc, after compinit, zsh completes a rule when the key is pressed."""
    zsh = needs("zsh")
    dump = tmp_path / "dump"
    rc = f'autoload -Uz compinit; compinit -u -d "{dump}"\neval "$(htppower completion zsh)"\nPS1=ready\\>\n'
    (Path(environment["HOME"]) / ".zshrc").write_text(rc, encoding="utf-8")
    terminal = Terminal([zsh, "-i"], environment)
    terminal.until(lambda: b"ready>" in terminal.read())
    terminal.press(b"htppower explain SUP\t")
    terminal.until(lambda: b"SUP-" in terminal.read())
    terminal.press(b"\t")
    terminal.until(lambda: b"SUP-3" in terminal.read())
    terminal.hang_up()
    os.waitpid(terminal.shell, 0)


@pytest.mark.parametrize("name", ["htppower.1", "htppower-profile.1"])
def test_a_man_page_is_well_formed(tmp_path: Path, name: str) -> None:
    """A reader of man pages reports no mistake, and shows options as they are typed."""
    mandoc = needs("mandoc")
    page = tmp_path / name
    page.write_text(man_pages()[name], encoding="utf-8")
    found = subprocess.run([mandoc, "-T", "lint", "-W", "warning", page], capture_output=True, text=True, check=False)
    assert [line for line in found.stdout.splitlines() if "missing date" not in line and "TH" not in line] == []
    said = subprocess.run([mandoc, "-T", "utf8", page], capture_output=True, text=True, check=True).stdout
    plain = "".join(said[place] for place in range(len(said)) if "\b" not in said[place : place + 2])
    assert "htppower profile" in plain
    if name == "htppower-profile.1":
        assert "--dry-run" in plain
