"""``htppower import``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

AS_BURST = 'profile: chat\nextends: burst\nsummary: "burst as in chat.json."\n'


def test_a_file_becomes_a_profile(command: Command, chat: Path) -> None:
    """The profile is printed; comments list the defaults that the file does not state."""
    output = command.output("import", str(chat))
    assert output.startswith("# Imported from chat.json, device 0, core 0: burst.\n# Settings of the host,")
    assert output.endswith(AS_BURST)


def test_the_outer_file_is_followed(command: Command, chat: Path) -> None:
    """The path in the outer file is resolved in the folder of that file."""
    outer = chat.with_name("outer.json")
    outer.write_text('{"backend_extensions": {"config_file_path": "chat.json"}}')
    assert command.output("import", str(outer)) == command.output("import", str(chat))


def test_each_soc_has_a_folder(command: Command, chat: Path, tmp_path: Path) -> None:
    """Each SoC of an outer file gets its own folder; two folders with the same name are numbered."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "chat.json").write_text('{"devices": [{"cores": [{"perf_profile": "default"}]}]}')
    outer = tmp_path / "outer.json"
    outer.write_text('{"backend_extensions": {"per_soc_config_file_path": ["chat.json", "b/chat.json"]}}')
    folder = tmp_path / "out"
    written = command.output("import", str(outer), "-o", str(folder)).split()
    assert written == [str(folder / "chat" / "chat.yaml"), str(folder / "chat_1" / "chat.yaml")]
    assert (folder / "chat" / "chat.yaml").read_text().partition("# As htppower wrote it")[0].endswith(AS_BURST)
    assert "# --- chat_1/chat.yaml\n" in command.output("import", str(outer))


def test_what_is_imported_is_valid(command: Command, chat: Path, tmp_path: Path) -> None:
    """Lint finds no error, and the power states are in the folder where profiles look for them."""
    exported = command.output("export", "balanced")
    custom = tmp_path / "mine.json"
    custom.write_text(exported.replace("VCORNER_SVS2", "VCORNER_MIN_VOLTAGE_CORNER"))
    folder = tmp_path / "profiles"
    for file in (chat, custom):
        command.output("import", str(file), "-o", str(folder))
    assert sorted(path.name for path in folder.rglob("*.yaml")) == ["chat.yaml", "mine.yaml", "mine_relaxed.yaml"]
    assert "no findings" in command.output("lint", "--strict", str(folder))
    assert "MIN_VOLTAGE_CORNER" in command.output("show", str(folder / "states" / "mine_relaxed.yaml"))


def test_an_edited_profile_is_not_overwritten(command: Command, chat: Path, tmp_path: Path) -> None:
    """If one file differs, nothing is written. Equal files are written again, and --force overwrites."""
    folder = tmp_path / "profiles"
    again = ("import", str(chat), "-o", str(folder))
    written = command.output(*again)
    assert command.output(*again) == written
    profile = folder / "chat.yaml"
    made = profile.read_text()
    profile.write_text(f"{made}# By hand.\n")
    done = command.run(*again)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{profile} exists and differs" in in_one_line(done.stderr)
    assert profile.read_text() == f"{made}# By hand.\n"
    assert command.output(*again, "--force") == written
    assert profile.read_text() == made
    assert command.run("import", str(chat), "--force").exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"devices": [{"cores": [\n{"perf_profile": "BURST"}]}]}', ":2:18: EXT-12: perf_profile has no word 'BURST'"),
        ("{\n  // no\n}", ":2:3: JSON-1: a comment (JSON has none: delete it)"),
        ('{"backend_extensions": {"config_file_path": "none.json"}}', ":1:45: FILE-1: 'none.json' can't be read:"),
        ('{"backend_extensions": {"config_file_path": "chat.json"}}', ":1:45: TYPE-1: 'chat.json' is an outer file"),
        ('{"backend_extensions": {"config_file_path": 1}}', ":1:45: TYPE-1: an integer, where a path is needed"),
        ('{"backend_extensions": {}}', ":1:24: KEY-2: no config_file_path: no settings are read"),
        ('{"backend_extensions": 1}', ":1:24: TYPE-1: backend_extensions is an integer"),
        (
            '{"backend_extensions": {"config_file_path": "a", "per_soc_config_file_path": []}}',
            ":1:78: KEY-1: config_file_path and per_soc_config_file_path exclude each other",
        ),
        ('{"backend_extensions": {"per_soc_config_file_path": []}}', ":1:53: TYPE-1: a list, where a list of paths"),
        ("[" * 2000, ":1:101: JSON-1: nested deeper than 100 levels"),
    ],
)
def test_what_is_refused_has_a_place(command: Command, chat: Path, text: str, said: str) -> None:
    """The error gives file, line, column and the command that explains the rule; nothing is printed or written."""
    chat.write_text(text)
    done = command.run("import", str(chat), "-o", str(chat.parent / "out"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{chat}{said}")
    assert "why: htppower explain" in done.stderr
    assert not (chat.parent / "out").exists()


def test_one_core_can_be_chosen(command: Command, chat: Path) -> None:
    """If the core does not exist, the error names the cores of the file."""
    assert command.output("import", str(chat), "--core", "0", "--name", "mine").splitlines()[-3] == "profile: mine"
    assert "no core 3 (it has 0)" in command.run("import", str(chat), "--core", "3").stderr


MISSPELT = {
    "devices": [{"soc_modle": 69, "cores": [{"perf_profile": "burst", "my_perf_profile": "balanced"}]}],
    "devics": [],
}


def test_keys_that_nothing_reads_are_told(command: Command, chat: Path) -> None:
    """Standard error and the profile name unknown keys; with --strict they are errors and nothing is written."""
    chat.write_text(json.dumps(MISSPELT))
    told = command.run("import", str(chat))
    assert told.exit_code == 0
    assert [line.split(": ")[1:4:2] for line in told.stderr.splitlines()] == [
        ["warning", "EXT-20"],
        ["warning", "EXT-20"],
        ["warning", "EXT-24"],
    ]
    assert "did you mean soc_model?" in told.stderr
    comments = " ".join(line.removeprefix("#").strip() for line in told.stdout.splitlines() if line.startswith("#"))
    assert "'devics' in the file is silently ignored" in comments
    assert "'my_perf_profile' in devices[].cores[] is read as perf_profile" in comments
    assert "extends: balanced" in told.stdout
    strict = command.run("import", str(chat), "--strict", "-o", str(chat.parent / "out"))
    assert (strict.exit_code, strict.stdout) == (1, "")
    assert strict.stderr.count("error:") == 3
    assert not (chat.parent / "out").exists()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('{"name": "app", "version": "1.0"}', "an extension file has graphs or devices"),
        ('{"devics": [{"cores": []}]}', "did you mean devices?"),
        ('{"model": {"decoder": {"session_options": {"provider_options": []}}}}', "an extension file has"),
        ('{"rpc_control_latency": "100"}', "an extension file has"),
    ],
)
def test_a_json_file_of_another_kind_is_refused(command: Command, chat: Path, text: str, hint: str) -> None:
    """If htppower reads no key of a file, import makes no profile of it, also for runtime settings without a mode."""
    chat.write_text(text)
    told = command.run("import", str(chat), "-o", str(chat.parent / "out"))
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.startswith(f"{chat}:1:2: KEY-1: no key here belongs to an extension file")
    assert hint in told.stderr
    assert not (chat.parent / "out").exists()


@pytest.mark.parametrize("text", ["{}", '{"htppower": {}}', '{"xdevices": [{"cores": [{"perf_profile": "burst"}]}]}'])
def test_a_file_that_the_vendors_parser_reads_is_imported(command: Command, chat: Path, text: str) -> None:
    """An empty file, suppressions alone, and keys that are read as other keys are imported."""
    chat.write_text(text)
    assert command.run("import", str(chat)).exit_code == 0


def test_settings_that_nobody_reads_are_told(command: Command, tmp_path: Path) -> None:
    """A misspelt option of a runtime is named even if the settings also hold a vote."""
    file = tmp_path / "genai_config.json"
    options = {"htp_performance_mode": "burst", "htp_performance_mod": "balanced"}
    provider = {"provider_options": [{"qnn": options}]}
    file.write_text(json.dumps({"model": {"decoder": {"session_options": provider}}}))
    told = command.run("import", str(file))
    assert (told.exit_code, told.stderr.count("SET-1")) == (0, 1)
    assert command.run("import", str(file), "--strict").exit_code == 1


def test_a_clean_file_is_taken_strictly(command: Command, chat: Path) -> None:
    """Settings that are not about votes are known keys, so --strict accepts them."""
    done = command.run("import", str(chat), "--strict")
    assert (done.exit_code, done.stderr) == (0, "")
