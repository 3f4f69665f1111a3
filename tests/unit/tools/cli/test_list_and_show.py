"""``htppower list`` and ``htppower show``, and behaviour that all commands share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs
import pytest
from support.slashes import in_one_line

from htppower import load_profile
from htppower.profiles.names import LISTED_FIRST, SHIPPED_PROFILES

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def test_list_text(command: Command) -> None:
    """The list equals the golden file, in the vendor's order."""
    command.assert_golden("list.txt", "list")


def test_list_json(command: Command) -> None:
    """The list as JSON has an entry for each profile, with null for missing votes."""
    document = json.loads(command.output("list", "--format", "json"))
    assert document["format_version"] == 1
    lines = {line["name"]: line for line in document["profiles"]}
    assert tuple(lines) == LISTED_FIRST
    assert lines["burst"] == {
        "name": "burst",
        "corner": "MAX_VOLTAGE_CORNER",
        "sleep_latency_us": 40,
        "rpc_polling_time_us": 9999,
        "relaxes_to": "relaxed_up_down",
        "sustain_us": 300000,
        "summary": load_profile("burst").summary,
    }
    assert lines["system_settings"]["corner"] is None


def test_list_tells_a_sustain_time_that_is_learnt(command: Command, tmp_path: Path) -> None:
    """The text has the limits of the time; the JSON has the first time and the settings of the learner."""
    text = "profile: mine\nextends: burst\nrelax: {{after_inference_us: {{adaptive: {{{}}}}}}}\n"
    for name, said in (("mine", "break_even_us: 100000"), ("share", "cold_starts: 5 %, most_us: 500000")):
        (tmp_path / f"{name}.yaml").write_text(text.format(said).replace("mine", name), encoding="utf-8")
    told = in_one_line(command.output("list", "--profiles", str(tmp_path)))
    assert "sustain learnt, 0 to 200 ms" in told
    assert "sustain learnt, 0 to 500 ms" in told
    document = json.loads(command.output("list", "--profiles", str(tmp_path), "--format", "json"))
    mine, share = document["profiles"][-2:]
    assert (mine["sustain_us"], mine["learnt"]) == (
        100_000,
        {"break_even_us": 100_000, "least_us": 0, "most_us": 200_000},
    )
    assert (share["sustain_us"], share["learnt"]) == (
        300_000,
        {"cold_starts": "5 %", "least_us": 0, "most_us": 500_000},
    )


def test_list_takes_in_a_named_folder(command: Command, tmp_path: Path) -> None:
    """Profiles of a named folder come after the shipped ones; an invalid profile is an error with its place."""
    (tmp_path / "mine.yaml").write_text("profile: mine\nextends: burst\n", encoding="utf-8")
    assert "\nmine " in command.output("list", "--profiles", str(tmp_path))
    (tmp_path / "bad.yaml").write_text("profile: bad\n", encoding="utf-8")
    result = command.run("list", "--profiles", str(tmp_path))
    assert (result.exit_code, "bad.yaml:1:1" in result.stderr) == (2, True)
    assert "\nmine " in result.stdout
    assert command.run("list", "--profiles", str(tmp_path / "none")).exit_code == 2


def test_list_says_what_a_shipped_name_hides(command: Command, tmp_path: Path) -> None:
    """A file with a shipped name is not used, which the list reports; a profile under another name is still found."""
    (tmp_path / "burst.yaml").write_text("profile: burst\nextends: balanced\n", encoding="utf-8")
    (tmp_path / "other.yaml").write_text("profile: camera\nextends: burst\n", encoding="utf-8")
    result = command.run("list", "--profiles", str(tmp_path))
    assert result.exit_code == 0
    assert f"{tmp_path / 'burst.yaml'}: not listed" in result.stderr
    assert "\nother " in result.stdout


def test_list_of_what_a_rule_refuses_is_exit_1(command: Command, tmp_path: Path) -> None:
    """If rules refuse every profile, the exit code is 1, as for the other commands."""
    text = "profile: mine\nextends: burst\nvotes: {rpc_polling_time_us: 10000}\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    assert command.run("list", "--profiles", str(tmp_path)).exit_code == 1


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_show_prints_a_file_that_loads_to_the_same(command: Command, tmp_path: Path, name: str) -> None:
    """The output of show is a profile file with the same values."""
    shown = tmp_path / "shown.yaml"
    shown.write_text(command.output("show", name), encoding="utf-8")
    profile = load_profile(name)
    assert attrs.evolve(load_profile(shown), source=profile.source) == profile


def test_show_says_where_an_inherited_value_was_written(command: Command, tmp_path: Path) -> None:
    """A resolved profile shows file and line of inherited values, and spells out explicit corners and HMX votes."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        "profile: mine\nextends: burst\nvotes:\n  dcvs_v3: {bus: {min: SVS, target: NOM, max: TURBO}}\n"
        "  hmx_v2: {min: NOM, target: TUR, max: TUR, perf_mode: LOW}\n",
        encoding="utf-8",
    )
    lines = command.output("show", str(path)).splitlines()
    assert "    bus: {min: SVS, target: NOM, max: TURBO}" in lines
    assert "  hmx_v2: {min: NOM, target: TUR, max: TUR, perf_mode: LOW}" in lines
    (core,) = [line for line in lines if line.startswith("    core:")]
    assert core.endswith("# shipped burst.yaml:11")
    shown = tmp_path / "shown.yaml"
    shown.write_text("\n".join(lines), encoding="utf-8")
    assert load_profile(shown).votes == load_profile(path).votes


def test_show_says_where_lowering_comes_from(command: Command, tmp_path: Path) -> None:
    """A stated value has no comment, an inherited value has its place, and a missing value is shown as the default."""
    own, inherits, old = (tmp_path / f"{name}.yaml" for name in ("own", "inherits", "old"))
    own.write_text("profile: own\nextends: balanced\nrelax: {lowering: background}\n", encoding="utf-8")
    inherits.write_text("profile: inherits\nextends: ./own.yaml\n", encoding="utf-8")
    old.write_text(command.output("show", "balanced").replace("  lowering: foreground\n", ""), encoding="utf-8")
    said = [command.output("show", str(path)).splitlines()[-2].split(maxsplit=2) for path in (own, inherits, old)]
    assert said[0] == ["lowering:", "background"]
    assert said[1][:2] == ["lowering:", "background"]
    assert said[1][2].endswith("own.yaml:3")
    assert said[2] == ["lowering:", "foreground", "# default"]


def test_show_says_where_deinit_ends(command: Command, tmp_path: Path) -> None:
    """If the profile states none, the default is the power state between the phases."""
    old = tmp_path / "old.yaml"
    told = command.output("show", "balanced").replace("  after_deinit_to: released\n", "")
    old.write_text(told, encoding="utf-8")
    assert command.output("show", "balanced").splitlines()[-1].split() == ["after_deinit_to:", "released"]
    assert command.output("show", str(old)).splitlines()[-1].split() == ["after_deinit_to:", "relaxed", "#", "default"]


def test_show_of_a_power_state(command: Command) -> None:
    """A power state is shown in the form of its own files."""
    lines = command.output("show", "relaxed").splitlines()
    assert lines[0] == "state: relaxed"
    assert "    bus: {min: SVS2, target: SVS, max: SVS}" in lines


def test_show_of_a_wrong_name_suggests_the_nearest(command: Command) -> None:
    """The error suggests the nearest name, with exit code 2."""
    result = command.run("show", "low_power_savr")
    assert (result.exit_code, "low_power_saver" in result.stderr) == (2, True)


def test_a_wrong_command_suggests_the_nearest(command: Command) -> None:
    """The error suggests the nearest command, with exit code 2."""
    result = command.run("profle")
    assert (result.exit_code, "did you mean profile?" in result.stderr) == (2, True)


def test_help_and_version(command: Command) -> None:
    """-h and --version work, and the help names every command."""
    help_text = command.output("-h")
    assert all(name in help_text for name in ("list", "profile", "show"))
    assert "0.1.0" in command.output("--version")


def test_an_unexpected_error_is_no_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error is one line on standard error, with exit code 2."""

    def broken(*_args: object) -> None:
        raise RuntimeError("mine")

    monkeypatch.setattr("htppower.tools.cli.list.load_profiles", broken)
    result = command.run("list")
    assert result.exit_code == 2
    assert result.stderr == "htppower: internal error: RuntimeError: mine; please report it\n"


@pytest.mark.parametrize(
    "asked", [("profile", "mine", "--dry-run"), ("show", "mine"), ("explain", "mine"), ("diff", "burst", "mine")]
)
def test_an_unknown_name_says_where_it_was_looked_for(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    """If the profile's folder was not given, the message says how to give it."""
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "mine.yaml").write_text("profile: mine\nextends: no_such\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    says = "name its folder by --profiles, or give its path"
    result = command.run(*asked)
    assert (result.exit_code, says in result.stderr) == (2, True)
    # A name in a found file is resolved by the rules of that file.
    result = command.run(*(word.replace("mine", "profiles/mine.yaml") for word in asked))
    assert (result.exit_code, "NAME-1" in result.stderr, says in result.stderr) == (2, True, False)


@pytest.mark.parametrize(
    "asked",
    [("show",), ("explain",), ("profile", "--dry-run"), ("export",), ("settings", "--for", "genai")],
)
def test_a_folder_that_is_named_as_a_profile_is_called_a_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    """The message says that the path is a folder, where the name was searched, and what to do."""
    (tmp_path / "my-profiles").mkdir()
    (tmp_path / "bursts").mkdir()
    monkeypatch.chdir(tmp_path)
    result = command.run(*asked, "my-profiles")
    first, where, *_ = result.stderr.split("\n")
    assert (result.exit_code, first.startswith("my-profiles: NAME-1: ")) == (2, True)
    assert first.endswith(": it is a folder (name a file in it)")
    assert where.startswith("where: ")
    first = command.run(*asked, "bursts").stderr.split("\n")[0]
    assert first.endswith(": it is a folder (did you mean burst?)")
