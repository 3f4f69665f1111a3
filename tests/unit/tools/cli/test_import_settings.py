"""``htppower import`` of settings of runtimes and of Genie's dialogs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

from htppower import load_profile

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

EXTENSIONS = {"devices": [{"cores": [{"perf_profile": "balanced", "rpc_control_latency": 70}]}]}


def dialog(**backend: object) -> str:
    """Return a dialog of Genie with a backend."""
    return json.dumps({"dialog": {"engine": {"backend": {"type": "QnnHtp", **backend}}}})


def test_settings_are_profiles_that_vote_as_their_runtime(command: Command, tmp_path: Path) -> None:
    """The files load and pass lint; the votes after a run become a power state."""
    made, folder = tmp_path / "genai_config.json", tmp_path / "profiles"
    command.output("settings", "burst", "--for", "genai", "-o", str(made))
    assert command.output("import", str(made), "-o", str(folder)) == f"{folder / 'decoder.yaml'}\n"
    profile = load_profile(folder / "decoder.yaml")
    assert profile.votes.hvx == load_profile("onnxruntime:burst").votes.hvx
    assert profile.votes.rpc_control_latency_us == 100
    runs = tmp_path / "options.json"
    runs.write_text('{"qnn.htp_perf_mode": "burst", "qnn.htp_perf_mode_post_run": "power_saver"}', encoding="utf-8")
    told = command.output("import", str(runs), "-o", str(folder))
    assert str(folder / "states" / "options_after_run.yaml") in told.splitlines()
    assert " error " not in command.output("lint", str(folder))


def test_a_dialog_of_genie_leads_to_its_extension_file(command: Command, tmp_path: Path) -> None:
    """The inner file in the dialog's folder gives the same profile as by its own name."""
    (tmp_path / "inner.json").write_text(json.dumps(EXTENSIONS), encoding="utf-8")
    file = tmp_path / "dialog.json"
    file.write_text(dialog(extensions="inner.json"), encoding="utf-8")
    assert command.output("import", str(file)) == command.output("import", str(tmp_path / "inner.json"))
    assert "rpc_control_latency_us: 70" in command.output("import", str(file))


@pytest.mark.parametrize("key", ["text-generator", "image-encoder", "audio-encoder", "standalone-engine", "embedding"])
def test_a_node_of_genie_leads_to_its_extension_file(command: Command, tmp_path: Path, key: str) -> None:
    """A node gives the same profile as a dialog."""
    (tmp_path / "inner.json").write_text(json.dumps(EXTENSIONS), encoding="utf-8")
    file = tmp_path / "node.json"
    file.write_text(dialog(extensions="inner.json").replace('"dialog"', f'"{key}"'), encoding="utf-8")
    assert "rpc_control_latency_us: 70" in command.output("import", str(file))


@pytest.mark.parametrize("named", ["/storage/emulated/0/inner.json", "{{MODEL_DIR}}/inner.json", "C:\\app\\inner.json"])
def test_a_path_of_the_device_leads_to_the_file_beside_the_dialog(command: Command, tmp_path: Path, named: str) -> None:
    """The file is found by its name. If it is missing, the error at the path reports this."""
    file = tmp_path / "dialog.json"
    file.write_text(dialog(extensions=named), encoding="utf-8")
    told = command.run("import", str(file))
    assert told.exit_code == 2
    assert f"{file}:1:" in told.stderr
    assert "is not here (copy it from the device into the dialog" in in_one_line(told.stderr)
    (tmp_path / "inner.json").write_text(json.dumps(EXTENSIONS), encoding="utf-8")
    assert "rpc_control_latency_us: 70" in command.output("import", str(file))


@pytest.mark.parametrize(
    ("outer", "voted"), [({}, "high_performance"), ({"devices": [{"cores": [{"perf_profile": "burst"}]}]}, "burst")]
)
def test_an_outer_file_in_a_dialog_is_imported_as_genie_reads_it(
    command: Command, tmp_path: Path, outer: dict[str, object], voted: str
) -> None:
    """Genie does not follow it to the inner file (measured); this is a message, and an error with --strict."""
    (tmp_path / "inner.json").write_text(json.dumps(EXTENSIONS), encoding="utf-8")
    whole = {"backend_extensions": {"config_file_path": "inner.json"}, **outer}
    (tmp_path / "outer.json").write_text(json.dumps(whole), encoding="utf-8")
    file = tmp_path / "dialog.json"
    file.write_text(dialog(extensions="outer.json"), encoding="utf-8")
    told = command.run("import", str(file))
    assert told.exit_code == 0
    assert f"extends: {voted}\n" in told.stdout
    said = in_one_line(told.stderr)
    assert f"SET-9: outer.json is an outer file, and Genie does not read its inner file: it votes {voted}" in said
    assert "(name inner.json)" in said
    assert command.run("import", str(file), "--strict").exit_code == 1


@pytest.mark.parametrize(
    "text", ["import onnxruntime\n", "profile: mine\nextends: burst\n", "# a = 1\nb = 2\n", "--flag"]
)
def test_a_text_without_settings_that_vote(command: Command, tmp_path: Path, text: str) -> None:
    """The error is about missing settings, not about the first word that is not JSON."""
    file = tmp_path / "host.py"
    file.write_text(text, encoding="utf-8")
    told = command.run("import", str(file))
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.startswith(f"{file}: JSON-1: no setting that htppower can read, and not JSON")


def test_of_two_extension_files_genie_takes_the_last(command: Command, tmp_path: Path) -> None:
    """Genie's JSON reader takes the last of two equal keys."""
    (tmp_path / "inner.json").write_text(json.dumps(EXTENSIONS), encoding="utf-8")
    file = tmp_path / "dialog.json"
    twice = '"extensions": "none.json", "extensions": "inner.json"'
    file.write_text(dialog(extensions="one").replace('"extensions": "one"', twice), encoding="utf-8")
    assert "rpc_control_latency_us: 70" in command.output("import", str(file))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (dialog(), "SET-10"),
        (dialog(extensions=1), "SET-10"),
        (dialog(extensions="inner.json", QnnHtp={"perf-profile": "burst"}), "SET-8"),
        (dialog(extensions="none.json"), "FILE-1"),
        (dialog(type="QnnGpu"), "SET-10"),
        ('{"dialog": {"engine": []}}', "SET-10"),
        ('{"htp_performance_mode": "turbo"}', "SET-2"),
        ("{", "JSON-1"),
    ],
)
def test_what_votes_nothing_is_refused(command: Command, tmp_path: Path, text: str, said: str) -> None:
    """The error has a place and exit code 2."""
    file = tmp_path / "file.json"
    file.write_text(text, encoding="utf-8")
    result = command.run("import", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_the_options_of_extension_files_are_no_options_of_settings(command: Command, tmp_path: Path) -> None:
    """The options for a core and a name do not apply to settings."""
    file = tmp_path / "options.json"
    file.write_text('{"htp_performance_mode": "burst"}', encoding="utf-8")
    for option in (("--core", "0"), ("--name", "mine")):
        assert command.run("import", str(file), *option).exit_code == 2
    assert command.run("import", str(tmp_path / "none.json")).exit_code == 2
