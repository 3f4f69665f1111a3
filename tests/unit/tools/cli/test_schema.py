"""``htppower schema`` writes the JSON Schemas, and names the stale ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.shipped import shipped_folder

from htppower.tools.review.json_schema import FILES

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

SCHEMAS = shipped_folder() / "schemas"


def test_the_committed_schemas_are_what_the_code_says(command: Command) -> None:
    """Run the command that writes the schemas after each change of the classes."""
    assert command.output("schema", str(SCHEMAS), "--check") == ""
    assert {file.name for file in SCHEMAS.iterdir()} == {f"{name}.json" for name in FILES}


def test_the_command_writes_a_folder_and_tells_what_is_stale(command: Command, tmp_path: Path) -> None:
    """The command writes and names the files that are missing or differ; --check only names them, with exit code 1."""
    folder = tmp_path / "new" / "schemas"
    missing = command.run("schema", str(folder), "--check")
    assert (missing.exit_code, folder.exists()) == (1, False)
    assert command.output("schema", str(folder)).count("written") == len(FILES)
    assert command.output("schema", str(folder)) == ""
    (folder / "state.json").write_text("{}")
    stale = command.run("schema", str(folder), "--check")
    assert (stale.exit_code, "state.json: out of date" in stale.stderr) == (1, True)
    assert (folder / "state.json").read_text() == "{}"
    assert command.output("schema", str(folder)) == f"{folder / 'state.json'}: written\n"


def test_a_folder_that_can_not_be_written_is_2(command: Command, tmp_path: Path) -> None:
    """The error names a file that has the folder's path, and nothing is left behind."""
    (tmp_path / "file").write_text("mine")
    result = command.run("schema", str(tmp_path / "file" / "schemas"))
    assert (result.exit_code, "can't write" in result.stderr) == (2, True)
    assert (tmp_path / "file").read_text() == "mine"


def test_all_schemas_are_written_or_none(command: Command, tmp_path: Path) -> None:
    """If the last schema can't be written, the first is unchanged, and the error names the last."""
    (tmp_path / "profile.json").write_text("mine")
    (tmp_path / "test.json").mkdir()
    result = command.run("schema", str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"can't write {tmp_path / 'test.json'}: " in result.stderr
    assert (tmp_path / "profile.json").read_text() == "mine"
    assert {file.name for file in tmp_path.iterdir()} == {"profile.json", "test.json"}
