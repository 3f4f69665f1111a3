"""``htppower lint``: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from freezegun import freeze_time
from support.checkout import DATA
from support.shipped import shipped_folder

from htppower.rules.platforms import OPERATING_SYSTEMS
from htppower.tools.cli.options import SYSTEMS

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

CLEAN = "profile: mine\nextends: burst\n"
WARNED = "profile: mine\nextends: balanced\nvotes: {rpc_polling_time_us: 10}\n"


@pytest.fixture(autouse=True)
def _beside_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)


def write(folder: Path, text: str, name: str = "mine.yaml") -> str:
    """Write a file, and return its path."""
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return str(file)


@freeze_time("2026-11-21")
@pytest.mark.parametrize("form", ["text", "json"])
def test_golden(command: Command, form: str) -> None:
    """The report on a folder of mistakes equals the golden file."""
    command.assert_golden(f"lint-{form}.txt", "lint", "reviewed", "--format", form, exit_code=1)


def test_the_shipped_profiles_are_clean(command: Command) -> None:
    """With --strict, the shipped profiles and power states have no finding in any form."""
    shipped = str(shipped_folder())
    assert command.output("lint", "--strict", shipped).endswith(": no findings\n")
    assert command.output("lint", "--strict", "--format", "github", shipped) == ""


def test_tests_beside_the_profiles_are_no_profiles(command: Command, tmp_path: Path) -> None:
    """In a folder with both, only the profiles are linted."""
    write(tmp_path, CLEAN)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "mine.yaml").write_text("test: mine\nprofile: mine\n")
    assert command.run("lint", str(tmp_path)).exit_code == 0
    (tmp_path / "tests" / "mine.yaml").write_text("profile: mine\n")
    assert command.run("lint", str(tmp_path)).exit_code == 1


@pytest.mark.parametrize(
    "hidden",
    [
        "profile: mine\nsummary: |\n  one\ntest: x\nvotes: unset\nrelax: unset\n",
        "profile: mine\nsummary: 'a\ntest: b\ncases: c'\nvotes: unset\nrelax: unset\n",
    ],
)
def test_no_key_of_a_test_hides_a_profile(command: Command, tmp_path: Path, hidden: str) -> None:
    """A profile that has one key of a test, or such keys in a text, is linted."""
    file = tmp_path / "mine.yaml"
    file.write_text(hidden)
    done = command.run("lint", str(tmp_path))
    assert "1 file" in done.stdout


def test_exit_codes(command: Command, tmp_path: Path) -> None:
    """No finding and warnings give 0; errors give 1, as warnings do with --strict; an unreadable path gives 2."""
    clean, warned = write(tmp_path, CLEAN), write(tmp_path / "a", WARNED)
    wrong = write(tmp_path / "b", "profile: mine\n")
    assert command.run("lint", clean).exit_code == 0
    assert command.run("lint", warned).exit_code == 0
    assert command.run("lint", "--strict", warned).exit_code == 1
    assert command.run("lint", clean, wrong).exit_code == 1
    assert command.run("lint", clean, str(tmp_path / "none")).exit_code == 2
    assert command.run("lint").exit_code == 2
    device = command.run("lint", clean, os.devnull)
    assert (device.exit_code, "can't be read: not a regular file (check the path)" in device.stderr) == (2, True)


def test_a_path_that_is_not_there_is_named(command: Command, tmp_path: Path) -> None:
    """The error names all paths that can't be read, and has no findings."""
    result = command.run("lint", str(tmp_path / "one"), str(tmp_path / "two.yaml"), str(tmp_path))
    assert result.stdout == ""
    assert [line.partition(": ")[0] for line in result.stderr.splitlines()] == [
        str(tmp_path / "one"),
        str(tmp_path / "two.yaml"),
        "why",
    ]


def test_a_folder_without_a_profile_is_exit_2(command: Command, tmp_path: Path) -> None:
    """A wrong folder must not be a success; a test given by path is skipped with exit code 0."""
    (tmp_path / "values.yaml").write_text("a: 1\n", encoding="utf-8")
    result = command.run("lint", str(tmp_path))
    assert (result.exit_code, "FILE-1: no profile in this folder" in result.stderr) == (2, True)
    assert command.run("lint", str(shipped_folder() / "tests" / "burst.yaml")).exit_code == 0


def test_junit_fails_for_what_counts(command: Command, tmp_path: Path) -> None:
    """A warning is a failure in the report only if it fails the run."""
    warned = write(tmp_path, WARNED)
    assert 'failures="0"' in command.output("lint", warned, "--format", "junit")
    assert 'failures="0"' not in command.output("lint", warned, "--format", "junit", "--strict", exit_code=1)


def test_notes_are_told_on_demand_and_never_count(command: Command, tmp_path: Path) -> None:
    """--notes shows notes, and even --strict does not fail because of them."""
    clean = write(tmp_path, CLEAN)
    assert "RPC-5" not in command.output("lint", clean)
    assert "note RPC-5" in command.output("lint", clean, "--notes", "--strict")


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [(["--platform", "qnx"], "RPC-4"), (["--arch", "V73"], "HMX-1"), (["--soc", "SM8550"], "HMX-1")],
)
def test_a_platform_adds_what_degrades_there(command: Command, tmp_path: Path, arguments: list[str], rule: str) -> None:
    """An option that a platform lacks is a warning only if that platform is named."""
    hmx = "votes: {hmx_v2: {min: TUR, target: TUR, max: TUR, perf_mode: HIGH}}\n"
    mine = write(tmp_path, CLEAN + hmx)
    assert rule not in command.output("lint", mine)
    assert f"warning {rule}" in command.output("lint", mine, *arguments)
    assert command.run("lint", mine, *arguments, "--strict").exit_code == 1


def test_ddr_performance_mode_is_an_error_on_an_older_platform(command: Command, tmp_path: Path) -> None:
    """Half of DDR-1 depends on the platform: with the older platform it is one error."""
    mine = write(tmp_path, CLEAN + "votes: {ddr_perf_mode: true}\n")
    assert "DDR-1" not in command.output("lint", mine)
    assert "DDR-1" not in command.output("lint", mine, "--arch", "V81")
    assert command.output("lint", mine, "--arch", "V75", exit_code=1).count("error DDR-1") == 1


def test_every_system_can_be_named() -> None:
    """Commands list the systems without loading the platforms; both lists are equal."""
    assert SYSTEMS == OPERATING_SYSTEMS


def test_an_unknown_platform_is_exit_2(command: Command, tmp_path: Path) -> None:
    """An unknown SoC, and a SoC together with an architecture, are usage errors."""
    clean = write(tmp_path, CLEAN)
    assert command.run("lint", clean, "--soc", "SM1").exit_code == 2
    assert command.run("lint", clean, "--soc", "SM8650", "--arch", "V75").exit_code == 2


def test_names_are_looked_up_beside_the_file_and_in_named_folders(command: Command, tmp_path: Path) -> None:
    """A base is found by name in the folder of the file, or in a folder that the command names."""
    write(tmp_path, "profile: base\nextends: burst\n", "base.yaml")
    beside = write(tmp_path, "profile: mine\nextends: base\n")
    elsewhere = write(tmp_path / "other", "profile: mine\nextends: base\n")
    assert command.run("lint", beside).exit_code == 0
    assert "NAME-1" in command.output("lint", elsewhere, exit_code=1)
    assert command.run("lint", elsewhere, "--profiles", str(tmp_path)).exit_code == 0


def test_several_forms_in_one_run(command: Command, tmp_path: Path) -> None:
    """One run prints one form and writes others, each as it would be printed."""
    sarif, junit = tmp_path / "out.sarif", tmp_path / "out.xml"
    printed = command.output(
        "lint",
        "reviewed",
        "--format",
        "github",
        "--output",
        f"sarif={sarif}",
        "--output",
        f"junit={junit}",
        exit_code=1,
    )
    assert printed == command.output("lint", "reviewed", "--format", "github", exit_code=1)
    for form, file in (("sarif", sarif), ("junit", junit)):
        told = command.output("lint", "reviewed", "--format", form, exit_code=1)
        assert file.read_text(encoding="utf-8") == told


def test_text_that_is_written_has_no_colours(command: Command, tmp_path: Path) -> None:
    """A written file has no terminal sequences."""
    written = tmp_path / "out.txt"
    command.output("lint", "reviewed", "--output", f"text={written}", exit_code=1)
    assert "\x1b" not in written.read_text(encoding="utf-8")


@pytest.mark.parametrize("bad", ["sarif", "sarif=", "pdf=out", "=out"])
def test_an_output_that_says_no_form_or_file_is_exit_2(command: Command, bad: str) -> None:
    """--output takes FORM=FILE with a known form, and the error says this."""
    result = command.run("lint", "reviewed", "--output", bad)
    assert (result.exit_code, "FORM=FILE" in result.stderr) == (2, True)


def test_outputs_are_written_whole_or_not_at_all(command: Command, tmp_path: Path) -> None:
    """If one output can't be written, none is; nothing is left behind, and existing files stay."""
    old = tmp_path / "old.json"
    old.write_text("old", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for impossible in (tmp_path / "none" / "out.sarif", tmp_path / "folder"):
        result = command.run("lint", "reviewed", "--output", f"json={old}", "--output", f"sarif={impossible}")
        assert result.exit_code == 2
        assert str(impossible) in result.stderr
        assert (result.stdout, old.read_text(encoding="utf-8")) == ("", "old")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "old.json"]
    result = command.run("lint", "reviewed", "--output", f"json={old}", "--output", f"sarif={old}")
    assert (result.exit_code, "twice" in result.stderr) == (2, True)


@pytest.mark.needs("modes")
def test_an_output_keeps_the_rights_of_the_file_it_replaces(command: Command, tmp_path: Path) -> None:
    """A replaced file keeps its permissions."""
    file = tmp_path / "out.json"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    command.output("lint", "reviewed", "--output", f"json={file}", exit_code=1)
    assert json.loads(file.read_text(encoding="utf-8"))["format_version"] == 1
    assert file.stat().st_mode & 0o777 == 0o640


def test_what_is_expected_of_two_goals_fits_them(command: Command, tmp_path: Path) -> None:
    """Both keys are known, but one excludes the other; the finding's expectation says this."""
    learnt = "{adaptive: {cold_starts: 5 %, break_even_us: 100000}}"
    mine = tmp_path / "mine.yaml"
    mine.write_text(f"profile: mine\nextends: burst\nrelax: {{after_inference_us: {learnt}}}\n", encoding="utf-8")
    (finding,) = json.loads(command.output("lint", str(mine), "--format", "json", exit_code=1))["findings"]
    assert (finding["rule"], "are both stated" in finding["message"]) == ("KEY-1", True)
    assert "does not exclude another given key" in finding["expected"]
