"""Which files lint takes for extension files, and which others it is led to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from extension_mutations import CHAT_APP
from linted_extensions import linted, written

from htppower.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command


def test_the_files_of_several_socs_are_found_as_import_finds_them(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where none is beside the outer file, from the working folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json"):
        written(tmp_path / name, CHAT_APP)
    (tmp_path / "outer").mkdir()
    outer = {"backend_extensions": {"shared_library_path": "x", "per_soc_config_file_path": ["a.json", "b.json"]}}
    (finding,) = linted(command, written(tmp_path / "outer" / "outer.json", outer))
    assert finding["rule"] == "EXT-40"


def test_a_dialog_is_told_to_be_one(command: Command, tmp_path: Path) -> None:
    """A dialog of Genie is sent to the command that checks it, and not told to name a profile here."""
    data = {"dialog": {"version": 1, "engine": {"backend": {"type": "QnnHtp", "extensions": "htp.json"}}}}
    (finding,) = linted(command, written(tmp_path / "dialog.json", data))
    assert (finding["rule"], finding["hint"]) == ("EXT-20", "check it with htppower settings --check")
    assert "dialog of Genie" in finding["message"]
    both = {**CHAT_APP, **data}
    (finding,) = linted(command, written(tmp_path / "both.json", both))
    assert (finding["rule"], finding["hint"]) == ("EXT-20", "delete it")


@pytest.mark.parametrize("text", ["", "[]", "7", "// nothing yet"])
def test_json_without_an_object_is_told_as_json(command: Command, tmp_path: Path, text: str) -> None:
    """A named JSON file that says nothing of a profile is no profile that lacks its first line."""
    assert [each["rule"] for each in linted(command, written(tmp_path / "htp.json", text))] == ["EXT-10"]


def test_a_broken_profile_in_json_stays_a_profile(command: Command, tmp_path: Path) -> None:
    """JSON is YAML: what has a key of a profile is told as one."""
    (finding,) = linted(command, written(tmp_path / "mine.json", '{"profile": "mine", "extends": ['))
    assert finding["rule"].startswith("YAML")


@pytest.mark.parametrize("names", [{"config_file_path": "in.json"}, {"per_soc_config_file_path": ["in.json"]}])
def test_an_inner_file_that_is_missing_is_told(command: Command, tmp_path: Path, names: dict[str, Any]) -> None:
    """An outer file that leads nowhere says so at the path, until the file is there."""
    outer = written(tmp_path / "outer.json", {"backend_extensions": names})
    (finding,) = linted(command, outer)
    assert (finding["rule"], finding["hint"]) == ("EXT-23", "check the path")
    assert "'in.json' is no file" in finding["message"]
    written(tmp_path / "in.json", CHAT_APP)
    assert linted(command, outer) == []


def test_a_path_that_no_file_can_have_is_told(command: Command, tmp_path: Path) -> None:
    """A path with a NUL, or longer than the system takes, is a missing file, and no error of ours."""
    for name in ("a\0b", "a" * 5000):
        outer = written(tmp_path / "outer.json", {"backend_extensions": {"config_file_path": name}})
        assert [finding["rule"] for finding in linted(command, outer)] == ["EXT-23"]


def test_a_folder_gives_its_extension_files_and_leaves_other_json_alone(command: Command, tmp_path: Path) -> None:
    """What has a key of an extension file at its top is one, a broken one too; other JSON says nothing."""
    written(tmp_path / "htp.json", CHAT_APP)
    written(tmp_path / "broken.json", '{"devices": [{]}')
    written(tmp_path / "package.json", {"name": "app", "version": "1.0"})
    written(tmp_path / "schema.json", {"$schema": "x", "devices": []})
    found = json.loads(command.run("lint", str(tmp_path), "--format", "json").stdout)
    assert [finding["rule"] for finding in found["findings"]] == ["EXT-10"]
    assert [name.rpartition("/")[2] for name in found["files"]] == ["broken.json", "htp.json"]


def test_a_folder_of_other_json_holds_nothing(command: Command, tmp_path: Path) -> None:
    """A folder without profiles and extension files is the wrong folder."""
    written(tmp_path / "package.json", {"name": "app"})
    assert command.run("lint", str(tmp_path)).exit_code == 2


def test_the_standard_input_is_known_by_its_content() -> None:
    """An extension file on the standard input is linted as one."""
    text = '{"devices": [{"cores": [{"perf_profile": "x"}]}]}'
    result = CliRunner().invoke(main, ["lint", "-", "--format", "json"], input=text)
    assert [finding["rule"] for finding in json.loads(result.stdout)["findings"]] == ["EXT-12"]
