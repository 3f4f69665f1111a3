"""Patterns in PATH arguments of lint, diff and test: on Windows the command replaces them, elsewhere the shell does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from htppower.tools.cli import globbing

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

BURST = "profile: {name}\nsummary: Mine.\nextends: burst\n"


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder with files the current one, with a shell that leaves patterns to the command."""
    for name in ("b.yaml", "a.yaml", "[ab].yml", ".hidden.yaml"):
        (tmp_path / name).write_text(BURST.format(name=name[0]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(globbing, "LEFT_TO_US", True)


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("*.yaml", ("a.yaml", "b.yaml")), ("?.yaml", ("a.yaml", "b.yaml")), ("[ab].yml", ("[ab].yml",)),
        ("a.yaml", ("a.yaml",)), ("main:*.yaml", ("main:*.yaml",)), ("~", ("~",)),
        ("%OS%", ("%OS%",)), ("$OS", ("$OS",)), ("-", ("-",)),
    ],
)  # fmt: skip
def test_a_pattern_is_replaced_by_files(path: str, found: tuple[str, ...]) -> None:
    """The files are sorted; what is there, a file of a revision, variables and the tilde stay."""
    assert globbing.expanded(None, None, ("first", path)) == ("first", *found)


@pytest.mark.usefixtures("windows")
def test_commands_take_patterns(command: Command) -> None:
    """Lint, diff and test replace them; lint leaves the pattern of --exclude alone."""
    assert command.run("lint", "?.yaml", "--exclude", "b*").output.count("no such file") == 0
    assert "2 files" in command.run("lint", "?.yaml").output
    assert command.run("diff", "?.yaml").exit_code == 1
    assert "a.yaml" in command.run("test", "?.yaml").output


@pytest.mark.usefixtures("windows")
@pytest.mark.parametrize("name", ["lint", "diff", "test"])
def test_a_pattern_that_matches_nothing_is_an_error(command: Command, name: str) -> None:
    """The exit code is 2, and the message has the pattern."""
    result = command.run(name, "a.yaml", "none/*.yaml")
    assert (result.exit_code, "no file matches none/*.yaml" in result.output) == (2, True)


@pytest.mark.usefixtures("windows")
def test_a_shell_of_posix_has_replaced_them(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere a pattern that arrives is the name of a file."""
    monkeypatch.setattr(globbing, "LEFT_TO_US", False)
    assert "?.yaml: FILE-1: can't be read" in command.run("lint", "?.yaml").output
