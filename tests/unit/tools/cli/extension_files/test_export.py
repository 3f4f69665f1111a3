"""``htppower export``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def test_a_profile_becomes_a_file(command: Command, tmp_path: Path) -> None:
    """The printed and the written text are equal, and an import gives the same profile again."""
    file = tmp_path / "b.json"
    printed = command.output("export", "burst", "--to", "extensions", "--soc", "SM8750", "--strict")
    assert command.output("export", "burst", "--soc", "69", "-o", str(file)) == ""
    assert file.read_text() == printed
    assert json.loads(printed)["devices"][0]["soc_model"] == 69
    assert command.output("import", str(file)).endswith('profile: b\nextends: burst\nsummary: "custom as in b.json."\n')


def test_a_profile_is_put_into_a_file(command: Command, chat: Path) -> None:
    """The file changes in place, or --output names another file; keys that are not about votes stay."""
    before = chat.read_bytes()
    other = chat.with_name("other.json")
    command.output("export", "system_settings", "--into", str(chat), "-o", str(other))
    assert chat.read_bytes() == before
    command.output("export", "system_settings", "--into", str(chat))
    assert chat.read_bytes() == other.read_bytes()
    assert chat.read_bytes() == before.replace(b'"burst"', b'"system_settings"').replace(b": 100", b": 0")


def test_a_file_that_is_refused_is_not_written(command: Command, chat: Path) -> None:
    """A file with a mistake is unchanged, and the mistake is reported."""
    chat.write_text("{,}")
    done = command.run("export", "burst", "--into", str(chat))
    assert (done.exit_code, chat.read_text()) == (2, "{,}")
    assert done.stderr.startswith(f"{chat}:1:2: JSON-1")


def test_what_is_lost_is_told(command: Command, tmp_path: Path) -> None:
    """Losses go to standard error; with --strict they are an error and nothing is written. --notes adds the notes."""
    mine = tmp_path / "mine.yaml"
    mine.write_text("profile: mine\nextends: burst\nrelax: {after_init_us: 30000}\n")
    told = command.run("export", str(mine))
    lost = "relax.after_init_us: 30000 us; the votes are lowered as soon as INIT has ended"
    assert (told.exit_code, told.stderr) == (0, f"htppower: {mine}: warning: {lost}\n")
    file = tmp_path / "mine.json"
    strict = command.run("export", str(mine), "--strict", "-o", str(file))
    assert (strict.exit_code, strict.stdout, strict.stderr) == (1, "", f"htppower: {mine}: error: {lost}\n")
    assert not file.exists()
    assert "note: relax.to.rpc_polling_time_us" in command.run("export", str(mine), "--notes").stderr


def test_a_profile_is_not_put_beside_a_key_that_would_count_instead(command: Command, chat: Path) -> None:
    """An unknown key that the vendor reads as perf_profile would override the profile, so the export is refused."""
    text = json.dumps({"devices": [{"cores": [{"perf_profile": "burst", "my_perf_profile": "balanced"}]}]})
    chat.write_text(text)
    done = command.run("export", "burst", "--into", str(chat))
    assert done.exit_code == 2
    assert "EXT-24" in done.stderr
    assert chat.read_text() == text


def test_an_unknown_soc_is_refused(command: Command) -> None:
    """The error suggests the nearest name."""
    done = command.run("export", "burst", "--soc", "SM8751")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "did you mean SM8750?" in done.stderr


@pytest.mark.parametrize(
    ("profile", "soc", "fields"),
    [
        ("llm_decode_burst", "SM8750", ["votes.ddr_perf_mode"]),
        ("llm_decode_burst", "SM8850", []),
        ("llm_decode_balanced", "SM8550", ["votes.hmx_v2", "votes.ceng"]),
        ("burst", "SM8550", []),
    ],
)
def test_votes_that_the_soc_lacks_are_left_out_and_told(
    command: Command, chat: Path, profile: str, soc: str, fields: list[str]
) -> None:
    """A lost vote is a warning, or an error with --strict; --soc or the file names the SoC. A zero vote is a note."""
    done = command.run("export", profile, "--soc", soc)
    assert [line.split(": ")[2:4] for line in done.stderr.splitlines()] == [["warning", field] for field in fields]
    words = {"votes.ddr_perf_mode": "ddr_perf_mode", "votes.hmx_v2": "hmxControl", "votes.ceng": "cengControl"}
    assert not [words[field] for field in fields if words[field] in done.stdout]
    strict = command.run("export", profile, "--soc", soc, "--strict")
    assert (strict.exit_code, bool(strict.stdout)) == ((1, False) if fields else (0, True))
    device = json.loads(done.stdout)["devices"][0]
    chat.write_text(json.dumps({"devices": [{"soc_model": device["soc_model"]}]}))
    into = command.run("export", profile, "--into", str(chat))
    assert into.stderr == done.stderr
    assert json.loads(chat.read_text())["devices"][0]["cores"] == device["cores"]


@pytest.mark.parametrize(
    ("settings", "said", "hint"),
    [
        ({"dialog": {"engine": {"backend": {"type": "QnnHtp", "extensions": "chat.json"}}}}, "a dialog", "chat.json"),
        ({"dialog": {"engine": {"backend": {"type": "QnnHtp"}}}}, "a dialog", "it names no extension file"),
        ({"performance": {"policy": "burst"}}, "a policy", "htppower settings"),
        ({"model": {"type": "phi", "decoder": {}}}, "genai_config.json", "htppower settings"),
    ],
)
def test_a_profile_is_not_put_into_settings_of_a_runtime(
    command: Command, tmp_path: Path, settings: dict[str, Any], said: str, hint: str
) -> None:
    """Genie refuses a dialog that holds devices; the error names the extension file of the dialog."""
    file = tmp_path / "dialog.json"
    file.write_text(json.dumps(settings))
    done = command.run("export", "burst", "--into", str(file))
    assert (done.exit_code, done.stdout) == (2, "")
    assert f": TYPE-1: {said}" in done.stderr
    assert hint in done.stderr
    assert json.loads(file.read_text()) == settings


@pytest.mark.parametrize("profile", ["llm_decode_burst", "mine"])
def test_a_vote_that_many_socs_lack_is_told_where_no_soc_is_named(
    command: Command, tmp_path: Path, profile: str
) -> None:
    """Without a SoC, the export warns as lint does, and --strict writes nothing. A SoC avoids the warning."""
    votes = "votes: {ddr_perf_mode: true, rpc_polling_time_us: 9999}"
    (tmp_path / "mine.yaml").write_text(f"profile: mine\nextends: burst\n{votes}\n")
    name = str(tmp_path / "mine.yaml") if profile == "mine" else profile
    file = tmp_path / "out.json"
    strict = command.run("export", name, "--strict", "-o", str(file))
    assert (strict.exit_code, file.exists()) == (1, False)
    told = command.run("export", name, "-o", str(file))
    assert told.exit_code == 0
    assert "warning: votes.ddr_perf_mode: true; written anyway: it is for Hexagon V81 or later" in told.stderr
    assert "name the SoC with --soc" in told.stderr
    assert "EXT-30" in command.output("lint", str(file))
    for soc, is_there in (("SM8850", True), ("SM8750", False)):
        settled = command.run("export", name, "--soc", soc, "-o", str(file), "--force")
        assert "written anyway" not in settled.stderr
        assert ("ddr_perf_mode" in file.read_text()) is is_there
        assert "EXT-30" not in command.output("lint", str(file))
        assert "written anyway" not in command.run("export", name, "--into", str(file)).stderr


@pytest.mark.parametrize("profile", ["burst", "balanced", "llm_decode_balanced", "system_settings"])
def test_a_profile_that_every_soc_takes_is_told_nothing_of(command: Command, profile: str) -> None:
    """--strict accepts it too. An option that only newer SoCs have is a note if its loss does little harm."""
    assert command.run("export", profile, "--strict").stderr == ""
    notes = command.run("export", profile, "--notes").stderr
    assert ("Hexagon V75 or later" in notes) is (profile == "llm_decode_balanced")
