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


_QNN = {"provider_options": [{"qnn": {"htp_performance_mode": "burst"}}]}
_DEVICES = {"devices": [{"cores": [{"perf_profile": "burst"}]}]}


@pytest.mark.parametrize(
    ("data", "name", "hint"),
    [
        ({"model": {"type": "phi3", "decoder": {"session_options": _QNN}}}, "genai_config.json", "settings --check"),
        ({"image-encoder": {"engine": {"backend": {"type": "QnnHtp"}}}}, "a dialog of Genie", "settings --check"),
        ({"performance": {"policy": "burst"}}, "a policy of Genie", "settings --check"),
        ({"input_model": {"type": "HfModel"}, "passes": {"q": {"type": "x"}}}, "a recipe of Olive", "settings --check"),
        ({"passes": {"q": {"backend_extensions": _DEVICES}}, "systems": {}}, "a recipe of Olive", "settings --check"),
        ({"header": {"artifact_type": "GENIE_PROFILE"}, "components": []}, "a profile of Genie", "advise"),
        ({"execution_summary": {}, "execution_detail": []}, "a profile of AI Hub", "advise"),
        ({"traceEvents": []}, "a trace", "htppower trace"),
        ({"htp_performance_mode": "burst"}, "an object of a runtime's options", "settings --check"),
        ({"defaults": {}, "params": {}, "op_type": {}}, "a configuration of AIMET", "name the extension file"),
        ({"enable_sequencer_flow_events": True, "htp_json": True}, "qnn-profile-viewer", "name the extension file"),
        ({"name": "app", "version": "1.0", "scripts": {}}, "a package.json", "name the extension file"),
        ({"lpai_backend": {"target_env": "adsp"}}, "the LPAI backend", "nothing on the HTP"),
        ({"answer": 42}, "of another kind", "an extension file has graphs or devices"),
    ],
)
def test_a_file_of_another_kind_is_named(
    command: Command, tmp_path: Path, data: dict[str, Any], name: str, hint: str
) -> None:
    """One finding says which it is and where it belongs; no key of it is to be deleted, and no profile is missing."""
    done = command.run("lint", str(written(tmp_path / "htp_mine.json", data)), "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (done.exit_code, finding["rule"]) == (0, "EXT-20")
    assert name in finding["message"]
    assert hint in finding["hint"]


def test_a_file_with_a_key_of_the_format_stays_an_extension_file(command: Command, tmp_path: Path) -> None:
    """Whatever stands beside it, and where its settings are found under another key, or one that is nearly right."""
    for data, rules in (
        ({**_DEVICES, "name": "app", "version": "1.0"}, {"EXT-20"}),
        ({"context_binary": {"x": _DEVICES}}, {"EXT-24"}),
        ({"device": []}, {"EXT-20", "EXT-31"}),
        ({}, {"EXT-31"}),
    ):
        assert {each["rule"] for each in linted(command, written(tmp_path / "htp.json", data))} == rules


_LIBRARIES = [
    ("libQnnLpaiNetRunExtensions.so", "LPAI"),
    ("libQnnDspV66NetRunExtensions.so", "DSP"),
    ("/vendor/lib64/libQnnGpuNetRunExtensions.so", "GPU"),
    ("QnnHtaNetRunExtensions.dll", "HTA"),
    ("libQnnHtpMcpNetRunExtensions.so", "HTP MCP"),
]


@pytest.mark.parametrize(("library", "backend"), _LIBRARIES)
def test_an_outer_file_of_another_backend_is_told_and_not_imported(
    command: Command, tmp_path: Path, library: str, backend: str
) -> None:
    """Whose it is, at the library; what it names is no file of the HTP."""
    written(tmp_path / "in.json", {"lpai_backend": {}})
    names = {"shared_library_path": library, "config_file_path": "in.json"}
    outer = written(tmp_path / "outer.json", {"backend_extensions": names})
    (finding,) = linted(command, outer, "--notes")
    assert finding["rule"] == "EXT-23"
    assert f"of the {backend} backend" in finding["message"]
    done = command.run("import", str(outer))
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"the outer file of the {backend} backend" in done.stderr


@pytest.mark.parametrize("library", ["libQnnHtpNetRunExtensions.so", "C:\\qnn\\QnnHtpNetRunExtensions.dll", "mine.so"])
def test_an_outer_file_of_the_htp_is_not_told_to_be_anothers(command: Command, tmp_path: Path, library: str) -> None:
    """Nor is one whose library has a name of its own."""
    written(tmp_path / "in.json", CHAT_APP)
    names = {"shared_library_path": library, "config_file_path": "in.json"}
    assert linted(command, written(tmp_path / "outer.json", {"backend_extensions": names})) == []


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
