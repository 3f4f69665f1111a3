"""The files that lint takes for extension files, and the files that they lead to."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from click.testing import CliRunner
from support.checkout import ROOT
from support.extension_mutations import CHAT_APP
from support.linted_extensions import linted, written

from htppower.tools.cli.main import main

if TYPE_CHECKING:
    from support.command import Command


def test_the_files_of_several_socs_are_found_as_import_finds_them(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a file is not next to the outer file, it is searched in the working folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json"):
        written(tmp_path / name, CHAT_APP)
    (tmp_path / "outer").mkdir()
    outer = {"backend_extensions": {"shared_library_path": "x", "per_soc_config_file_path": ["a.json", "b.json"]}}
    (finding,) = linted(command, written(tmp_path / "outer" / "outer.json", outer))
    assert finding["rule"] == "EXT-40"


def test_a_dialog_is_told_to_be_one(command: Command, tmp_path: Path) -> None:
    """The finding names the command that checks dialogs, and does not ask for a profile here."""
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
    """The only finding names the kind of the file and its use; no hint deletes a key, and no profile is missing."""
    done = command.run("lint", str(written(tmp_path / "htp_mine.json", data)), "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (done.exit_code, finding["rule"]) == (0, "EXT-20")
    assert name in finding["message"]
    assert hint in finding["hint"]


def test_a_file_with_a_key_of_the_format_stays_an_extension_file(command: Command, tmp_path: Path) -> None:
    """Additional keys change nothing, nor do settings under an unknown key, or a misspelt key."""
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
    """The finding at the library names its backend; the inner file is not for the HTP."""
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
    """A library with a custom name is accepted too."""
    written(tmp_path / "in.json", CHAT_APP)
    names = {"shared_library_path": library, "config_file_path": "in.json"}
    assert linted(command, written(tmp_path / "outer.json", {"backend_extensions": names})) == []


@pytest.mark.parametrize("text", ["", "[]", "7", "// nothing yet"])
def test_json_without_an_object_is_told_as_json(command: Command, tmp_path: Path, text: str) -> None:
    """A JSON file given by path without a key of a profile gets no finding about a missing first line."""
    assert [each["rule"] for each in linted(command, written(tmp_path / "htp.json", text))] == ["EXT-10"]


def test_a_broken_profile_in_json_stays_a_profile(command: Command, tmp_path: Path) -> None:
    """JSON is YAML, so a file with a key of a profile is linted as a profile."""
    (finding,) = linted(command, written(tmp_path / "mine.json", '{"profile": "mine", "extends": ['))
    assert finding["rule"].startswith("YAML")


@pytest.mark.parametrize("names", [{"config_file_path": "in.json"}, {"per_soc_config_file_path": ["in.json"]}])
def test_an_inner_file_that_is_missing_is_told(command: Command, tmp_path: Path, names: dict[str, Any]) -> None:
    """The finding at the path remains until the file exists."""
    outer = written(tmp_path / "outer.json", {"backend_extensions": names})
    (finding,) = linted(command, outer)
    assert (finding["rule"], finding["hint"]) == ("EXT-23", "check the path")
    assert "'in.json' is not a file" in finding["message"]
    written(tmp_path / "in.json", CHAT_APP)
    assert linted(command, outer) == []


def test_a_path_that_no_file_can_have_is_told(command: Command, tmp_path: Path) -> None:
    """A path with a NUL, or a too long path, is a missing file and not an internal error."""
    for name in ("a\0b", "a" * 5000):
        outer = written(tmp_path / "outer.json", {"backend_extensions": {"config_file_path": name}})
        assert [finding["rule"] for finding in linted(command, outer)] == ["EXT-23"]


def test_a_folder_gives_its_extension_files_and_leaves_other_json_alone(command: Command, tmp_path: Path) -> None:
    """A file with a top-level key of an extension file is one, even if it is broken; other JSON has no finding."""
    written(tmp_path / "htp.json", CHAT_APP)
    written(tmp_path / "broken.json", '{"devices": [{]}')
    written(tmp_path / "package.json", {"name": "app", "version": "1.0"})
    written(tmp_path / "schema.json", {"$schema": "x", "devices": []})
    found = json.loads(command.run("lint", str(tmp_path), "--format", "json").stdout)
    assert [finding["rule"] for finding in found["findings"]] == ["EXT-10"]
    assert [Path(name).name for name in found["files"]] == ["broken.json", "htp.json"]


def test_a_folder_of_other_json_holds_nothing(command: Command, tmp_path: Path) -> None:
    """A folder without profiles and extension files is an error."""
    written(tmp_path / "package.json", {"name": "app"})
    assert command.run("lint", str(tmp_path)).exit_code == 2


def test_the_standard_input_is_known_by_its_content() -> None:
    """An extension file on the standard input is linted as an extension file."""
    text = '{"devices": [{"cores": [{"perf_profile": "x"}]}]}'
    result = CliRunner().invoke(main, ["lint", "-", "--format", "json"], input=text)
    assert [finding["rule"] for finding in json.loads(result.stdout)["findings"]] == ["EXT-12"]


_NAMES = ["PerfSetting.conf", "PerfSettings8Mb.py", "settings", "htp.json.old", "htp.yaml", "htp.json"]


@pytest.mark.parametrize("name", _NAMES)
def test_an_extension_file_is_known_by_its_content_whatever_its_name(
    command: Command, tmp_path: Path, name: str
) -> None:
    """A file given by path, in a folder, or named by an outer file is recognized."""
    broken = {"devices": [{"cores": [{"perf_profile": "BURST"}]}]}
    folder = tmp_path / "folder"
    folder.mkdir()
    file = written(folder / name, broken)
    assert [each["rule"] for each in linted(command, file)] == ["EXT-12"]
    assert [each["rule"] for each in linted(command, folder)] == ["EXT-12"]
    names = {"config_file_path": name}
    for outer in ("outer.conf", "zz.json"):
        (finding,) = linted(command, written(folder / outer, {"backend_extensions": names}))
        assert (finding["rule"], finding["path"]) == ("EXT-12", str(file))
    assert [each["rule"] for each in linted(command, folder)] == ["EXT-12"]


def test_a_folder_leaves_files_of_other_names_and_content_alone(command: Command, tmp_path: Path) -> None:
    """Code, logs of JSON lines, large and binary files, broken links and pipes are skipped; a pipe is not read."""
    written(tmp_path / "htp.conf", CHAT_APP)
    written(tmp_path / "host.py", 'config = {"devices": [{"cores": []}]}\n')
    written(tmp_path / "events.jsonl", '{"devices": []}\n{"devices": []}\n')
    written(tmp_path / "large.bin", '{"devices": [' + " " * 1024 * 1024 + "]}")
    (tmp_path / "binary").write_bytes(b"{\0\xff")
    (tmp_path / "nowhere").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    found = json.loads(command.run("lint", str(tmp_path), "--format", "json").stdout)
    assert found["findings"] == []
    assert [Path(name).name for name in found["files"]] == ["htp.conf"]


def test_lint_follows_an_outer_file_to_what_it_names_in_its_folder(command: Command, tmp_path: Path) -> None:
    """Each file of several SoCs is linted once; excluded files and files outside of the folder, or links, are not."""
    folder = tmp_path / "app"
    (folder / "sub").mkdir(parents=True)
    broken = {"devices": [{"cores": [{"perf_profile": "BURST"}]}]}
    for file in (tmp_path / "out.json", folder / "a.json", folder / "sub" / "b.json"):
        written(file, broken)
    (folder / "link.json").symlink_to(tmp_path / "out.json")
    several = {"per_soc_config_file_path": ["a.json", "sub/b.json", "./a.json", "../out.json", "link.json"]}
    outer = written(folder / "outer.json", {"backend_extensions": several})
    found = [each["path"] for each in linted(command, outer) if each["rule"] == "EXT-12"]
    assert found == [str(folder / "a.json"), str(folder / "sub" / "b.json")]
    left = [each["path"] for each in linted(command, outer, "--exclude", "sub") if each["rule"] == "EXT-12"]
    assert left == [str(folder / "a.json")]
    chain = written(folder / "chain.json", {"backend_extensions": {"config_file_path": "outer.json"}})
    assert "is an outer file, too" in next(each["message"] for each in linted(command, chain))


@pytest.mark.parametrize("name", ["a.conf", "a.py", "a"])
def test_diff_knows_an_extension_file_by_its_content(command: Command, tmp_path: Path, name: str) -> None:
    """Lint and import use the same check."""
    file = written(tmp_path / name, _DEVICES)
    assert "nothing differs" in command.output("diff", "burst", str(file))
    command.output("diff", "balanced", str(file), exit_code=1)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("cfg/htp_config.json", True),
        ("htp_backend_ext_config.json.template", True),
        ("my_backend_extensions.json", True),
        ("PerfSetting.conf", True),
        ("dlc2bin/extensions.conf", True),
        ("QAIRT/htp_sc8380xp.json", True),
        ("host/htp.py", False),
        ("package.json", False),
    ],
)
def test_the_pattern_of_the_hook_for_extension_files(name: str, wanted: bool) -> None:
    """The pattern has the names of the vendor's examples; a recipe of Olive, which some match, passes lint."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (pattern,) = [hook["files"] for hook in hooks if hook["id"] == "htppower-lint-extensions"]
    assert (re.search(pattern, name) is not None) is wanted


@pytest.mark.parametrize(
    ("data", "name"),
    [({"passes": {}}, "a recipe of Olive"), ({"name": "app", "version": "1"}, "a package.json"), ({"answer": 42}, "")],
)
def test_diff_refuses_a_file_of_another_kind(command: Command, tmp_path: Path, data: dict[str, Any], name: str) -> None:
    """As with import, a file without a profile is not taken for high_performance."""
    done = command.run("diff", "burst", str(written(tmp_path / "other.json", data)))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no key here belongs to an extension file" in " ".join(done.stderr.split())
    assert name in done.stderr


def test_a_profile_in_an_unknown_key_is_no_option_of_a_runtime(command: Command, tmp_path: Path) -> None:
    """The vendor's parser finds the profile by name, as import does, also next to a control latency."""
    core = {"perf_profile": "burst", "rpc_control_latency": 100}
    data = {"compile": {"htp": {"devices": [{"cores": [core]}]}}}
    (finding,) = linted(command, written(tmp_path / "htp.json", data))
    assert finding["rule"] == "EXT-24"
    assert "perf_profile" in finding["message"]


@pytest.mark.parametrize(
    "data",
    [
        {"devices": [{"name": "Pixel 8", "os": "android"}]},
        {"graphs": [{"title": "a day", "score": [1, 2]}]},
        {"devices": [{"device_id": 1, "profiling_level": "high", "type": "sensor"}]},
    ],
)
def test_lists_of_other_devices_and_graphs_in_a_folder_are_left_alone(
    command: Command, tmp_path: Path, data: dict[str, Any]
) -> None:
    """Other tools have such files too; a file with a misspelt key of the HTP is an extension file."""
    written(tmp_path / "other.json", data)
    written(tmp_path / "htp.json", {"devices": [{"cores": [{"perfprofile": "burst"}]}]})
    assert {Path(finding["path"]).name for finding in linted(command, tmp_path)} == {"htp.json"}


@pytest.mark.parametrize("named", ["/data/local/tmp/run/htp.json", "/storage/htp.json"])
def test_a_path_of_the_device_leads_to_the_file_beside_the_outer_one(
    command: Command, tmp_path: Path, named: str
) -> None:
    """As from a dialog of Genie: lint follows the path, and import reads the file."""
    library = "libQnnHtpNetRunExtensions.so"
    outer = written(
        tmp_path / "outer.json",
        {"backend_extensions": {"shared_library_path": library, "config_file_path": named}},
    )
    assert [finding["rule"] for finding in linted(command, outer)] == ["EXT-23"]
    written(tmp_path / "htp.json", {"devices": [{"cores": [{"perf_profile": "turbo"}]}]})
    assert [finding["rule"] for finding in linted(command, outer)] == ["EXT-12"]
    written(tmp_path / "htp.json", {"devices": [{"cores": [{"perf_profile": "balanced"}]}]})
    assert "extends: balanced" in command.output("import", str(outer))
