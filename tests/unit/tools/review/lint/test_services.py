"""Lint of the file of a service: the same findings as at its start, but for users that only its machine knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("service: x\nusers: [{user: default, cap: brst}]\n", "mine.yaml:2:30: error NAME-1 no profile 'brst'"),
        ("service: x\nmost_connections: 0\n", "mine.yaml:2:19: error VALUE-1 most_connections is 0"),
        ("service: x\nusers: [{usr: default}]\n", "error KEY-1 unknown key 'usr'"),
        # A profile beside the file is not one of the service's folders.
        ("service: x\nusers: [{user: default, cap: beside}]\n", "error NAME-1 no profile 'beside'"),
    ],
)
def test_a_fault_has_its_place(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    """The exit code is 1, and the finding names line, column and rule."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.yaml").write_text("profile: beside\nextends: burst\n")
    (tmp_path / "mine.yaml").write_text(text)
    assert said in command.output("lint", "mine.yaml", exit_code=1)


def test_users_of_another_machine_are_accepted(command: Command, tmp_path: Path) -> None:
    """A reviewer's machine knows other users; profiles of the named folders are known."""
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "camera.yaml").write_text("profile: camera\nextends: burst\n")
    (tmp_path / "mine.yaml").write_text("service: x\nusers: [{user: nobody-has-this-name, cap: camera}]\n")
    said = command.output("lint", str(tmp_path / "mine.yaml"), "--profiles", str(tmp_path / "profiles"))
    assert "no findings" in said


def test_the_file_of_another_tool_is_left_alone(command: Command, tmp_path: Path) -> None:
    """A file with a key ``service`` and none of the others is no file of a service."""
    (tmp_path / "mine.yaml").write_text("profile: mine\nextends: burst\n")
    (tmp_path / "other.yaml").write_text("service: web\nimage: nginx\n")
    assert "1 file: no findings; left out: 1 that hold neither" in command.output("lint", str(tmp_path))
