"""``htppower settings --check``: findings in a host's own settings, in the forms of lint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

INNER = '{"devices": [{"cores": [{"perf_profile": "burst"}]}]}'
HOST = """options = RunOptions()
options.add_run_config_entry("qnn.perf_mode", "burst")
options.add_run_config_entry("qnn.rpc_control_latency", "soon")
"""


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """Return a host with two mistakes."""
    file = tmp_path / "host.py"
    file.write_text(HOST, encoding="utf-8")
    return file


def test_findings_have_place_line_hint_and_rule(command: Command, host: Path) -> None:
    """A finding is printed as lint prints it, with the line and a marker."""
    told = command.output("settings", "--check", str(host), exit_code=1)
    assert f"{host}:2:31: error SET-1" in in_one_line(told)
    assert '2 | options.add_run_config_entry("qnn.perf_mode", "burst")' in told
    assert "hint: write qnn.htp_perf_mode" in told
    assert "why: htppower explain SET-7" in told
    assert "1 file: 2 errors" in told


@pytest.mark.parametrize("form", ["json", "github", "sarif", "junit"])
def test_the_forms_of_lint(command: Command, host: Path, form: str, tmp_path: Path) -> None:
    """Every form has both findings, also if it is written to a file."""
    told = command.output("settings", "--check", str(host), "--format", form, exit_code=1)
    assert "SET-1" in told
    assert "SET-7" in told
    written = tmp_path / "report"
    command.output("settings", "--check", str(host), "-o", f"{form}={written}", exit_code=1)
    assert "SET-7" in written.read_text(encoding="utf-8")
    if form == "json":
        (finding, _) = json.loads(told)["findings"]
        assert (finding["line"], finding["column"], finding["family"]) == (2, 31, "settings")


def test_warnings_count_where_that_is_asked_for(command: Command, tmp_path: Path) -> None:
    """A run that is not lowered is a warning, which counts with --strict."""
    file = tmp_path / "options.json"
    file.write_text('{"qnn.htp_perf_mode": "burst"}', encoding="utf-8")
    assert "warning SET-11" in command.output("settings", "--check", str(file))
    command.output("settings", "--check", "--strict", str(file), exit_code=1)


def test_a_file_without_settings_is_told(command: Command, tmp_path: Path) -> None:
    """A check of the wrong file must not succeed silently; an extension file has its own check."""
    other, extension = tmp_path / "other.txt", tmp_path / "extension.json"
    other.write_text("nothing\n", encoding="utf-8")
    extension.write_text('{"devices": []}', encoding="utf-8")
    result = command.run("settings", "--check", str(other), str(extension))
    assert result.exit_code == 0
    assert f"{other}: no setting in it that htppower can read\n" in result.stderr
    assert f"{extension}: an extension file: htppower lint checks it" in result.stderr


@pytest.mark.parametrize(
    ("content", "rule"),
    [(b"\xff\xfe", "FILE-3"), (b"x" * 2**20 + b"x", "FILE-2"), (b'{"a": 1,}', "SET-13")],
)
def test_what_can_not_be_read(command: Command, tmp_path: Path, content: bytes, rule: str) -> None:
    """The problem is a finding, at line 1 if it has no place, and never a traceback."""
    file = tmp_path / "options.json"
    file.write_bytes(content)
    told = in_one_line(command.output("settings", "--check", str(file), exit_code=1))
    assert rule in told


def test_a_file_that_is_not_there_is_a_use_of_the_command_that_fails(command: Command, host: Path) -> None:
    """The exit code is 2, and the findings of the other files are still printed."""
    told = command.output("settings", "--check", "nosuch.py", str(host), exit_code=2)
    assert "FILE-1" in told
    assert "SET-7" in told


def test_the_other_extension_file_is_looked_at_where_it_is(command: Command, tmp_path: Path) -> None:
    """One that is not next to the dialog may be on the device, which is a warning; an absolute path is the device's."""
    dialog = tmp_path / "dialog.json"
    backend = {"type": "QnnHtp", "extensions": "outer.json"}
    dialog.write_text(json.dumps({"dialog": {"engine": {"backend": backend}}}), encoding="utf-8")
    told = in_one_line(command.output("settings", "--check", str(dialog)))
    assert "warning SET-10 the extension file 'outer.json' is not next to the dialog" in told
    outer = tmp_path / "outer.json"
    outer.write_text('{"backend_extensions": {"config_file_path": "inner.json"}}', encoding="utf-8")
    assert "hint: name inner.json" in command.output("settings", "--check", str(dialog), exit_code=1)
    outer.write_text("{}", encoding="utf-8")
    assert "EXT-31" in command.output("settings", "--check", str(dialog))
    outer.write_text(INNER, encoding="utf-8")
    assert "no findings" in command.output("settings", "--check", str(dialog))
    outer.unlink()
    dialog.write_text(dialog.read_text(encoding="utf-8").replace("outer.json", "/data/outer.json"), encoding="utf-8")
    assert "no findings" in command.output("settings", "--check", str(dialog))


def dialog_naming(folder: Path, named: str, key: str = "dialog") -> str:
    """Write a dialog or a node of Genie that names an extension file, and return its path."""
    backend = {"type": "QnnHtp", "extensions": named}
    file = folder / "dialog.json"
    file.write_text(json.dumps({key: {"engine": {"backend": backend}}}), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("named", ["inner.json", "inner.conf", "sub/inner.json", "/storage/app/inner.json"])
@pytest.mark.parametrize("key", ["dialog", "image-encoder", "text-encoder", "lut-encoder", "standalone-engine"])
def test_the_extension_file_of_a_dialog_is_checked(command: Command, tmp_path: Path, named: str, key: str) -> None:
    """The file is found by its path; for a path on the device, the file of that name next to the dialog is checked."""
    inner = tmp_path / (named if not named.startswith("/") else "inner.json")
    inner.parent.mkdir(exist_ok=True)
    inner.write_text(INNER.replace("burst", "BURST"), encoding="utf-8")
    told = command.output("settings", "--check", dialog_naming(tmp_path, named, key), exit_code=1)
    assert f"{inner}:1:42: error EXT-12" in in_one_line(told)
    inner.write_text(INNER, encoding="utf-8")
    assert "no findings" in command.output("settings", "--check", dialog_naming(tmp_path, named, key))


def test_the_extension_file_of_a_dialog_is_not_read_outside_of_its_folder(command: Command, tmp_path: Path) -> None:
    """Neither a path nor a link may lead out of the folder; a warning says that the file was not checked."""
    (tmp_path / "secret.json").write_text(INNER.replace("burst", "BURST"), encoding="utf-8")
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    for named in ("../secret.json", "link.json"):
        told = command.output("settings", "--check", dialog_naming(folder, named))
        assert "SET-10" in told
        assert "BURST" not in told


def test_a_suppression_in_the_extension_file_of_a_dialog_holds(command: Command, tmp_path: Path) -> None:
    """The suppression has the same effect as when lint reads the file."""
    lifted = {"disable": "EXT-31", "until": "2999-01-01", "because": "it is the default"}
    (tmp_path / "inner.json").write_text(json.dumps({"devices": [], "htppower": [lifted]}), encoding="utf-8")
    assert "no findings" in command.output("settings", "--check", dialog_naming(tmp_path, "inner.json"))


@pytest.mark.parametrize(
    ("outer", "voted"),
    [
        ({}, "votes high_performance"),
        ({"devices": [{"cores": [{"perf_profile": "power_saver"}]}]}, "votes power_saver"),
        ({"devices": [{"cores": [{"perf_profile": "turbo"}]}]}, "refuses it and votes nothing"),
    ],
)
def test_what_genie_votes_for_an_outer_file_is_told(
    command: Command, tmp_path: Path, outer: dict[str, object], voted: str
) -> None:
    """Genie reads the outer file as an inner one, and does not follow it (measured)."""
    whole = {"backend_extensions": {"config_file_path": "inner.json"}, **outer}
    (tmp_path / "outer.json").write_text(json.dumps(whole), encoding="utf-8")
    told = in_one_line(command.output("settings", "--check", dialog_naming(tmp_path, "outer.json"), exit_code=1))
    assert f"SET-9 outer.json is an outer file, and Genie does not read its inner file: it {voted}" in told


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("host.py", '\nopts["htp_performance_mode"] = mode\n'),
        ("host.kt", '\nval o = mapOf("htp_performance_mode" to mode)\n'),
        ("serve.yaml", "\nhtp_performance_mode: '{{ mode }}'\n"),
        ("options.json", '{\n"htp_performance_mode": "${MODE}"}'),
    ],
)
def test_what_is_no_literal_is_told_as_unread(command: Command, tmp_path: Path, name: str, text: str) -> None:
    """A value that is not a literal gives a message and not a finding, and import makes no profile of it."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    told = f"{file}: no setting in it that htppower can read; the value of htp_performance_mode in line 2 is not"
    assert told in in_one_line(command.run("settings", "--check", str(file)).stderr)
    refused = command.run("import", str(file))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "the value of htp_performance_mode in line 2 is not a literal" in in_one_line(refused.stderr)


@pytest.mark.parametrize(
    ("name", "text", "is_told"),
    [
        ("a.py", 's = InferenceSession(m, providers=[("QNNExecutionProvider", {"backend_path": "x"})])\n', True),
        ("a.py", 's = InferenceSession(m, providers=[("QNNExecutionProvider", {**options})])\n', False),
        ("a.py", 's = InferenceSession(m, providers=[("QNNExecutionProvider", options)])\n', False),
        ("a.py", 'mode(performance_mode)\np = [("QNNExecutionProvider", {"backend_path": "x"})]\n', False),
        ("a.cc", 'so.AppendExecutionProvider("QNN", {{"backend_path", "QnnHtp.dll"}});\n', True),
        ("a.cc", 'so.AppendExecutionProvider("QNN", options);\n', False),
        (
            "genai_config.json",
            '{"model": {"decoder": {"session_options": {"provider_options": [{"qnn": {"soc_model": "60"}}]}}}}',
            True,
        ),
    ],
)
def test_a_provider_without_a_mode_is_told(
    command: Command, tmp_path: Path, name: str, text: str, *, is_told: bool
) -> None:
    """A message names a provider whose options are all visible, if the file has no mode; it is not a finding."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    result = command.run("settings", "--check", str(file))
    assert result.exit_code == 0
    assert ("the QNN provider has no htp_performance_mode here" in result.stderr) is is_told


def test_yaml_that_can_not_be_read_is_told(command: Command, tmp_path: Path) -> None:
    """A template is not YAML, and must not pass as a file without settings."""
    file = tmp_path / "serve.yaml"
    file.write_text("a: 1\n{% if fast %}\nhtp_performance_mode: burst\n{% endif %}\n", encoding="utf-8")
    told = in_one_line(command.output("settings", "--check", str(file), exit_code=1))
    assert f"{file}:2:2: error YAML-1 not read as YAML" in told
    assert "YAML-1" in command.run("import", str(file)).stderr
