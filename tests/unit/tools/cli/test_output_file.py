"""``htppower profile --output``, times with their unit, and the references in findings and errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.shipped import shipped_folder
from support.slashes import WINDOWS, in_one_line, slashed

from htppower.tools.review.lint.catalogue import CATALOGUE

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

WRONG = "profile: mine\nextends: burst\nvotes: {dcvs_v3: {sleep_latency_us: 5}, rpc_polling_time_us: 10000}\n"
RUN = ("profile", "burst", "--dry-run")


def test_a_file_alone_takes_the_place_of_what_is_printed(command: Command, tmp_path: Path) -> None:
    """The report is written whole in the form of --format, and nothing is printed."""
    for form in ("text", "json", "svg", "html", "trace"):
        path = tmp_path / f"run.{form}"
        assert command.output(*RUN, "--format", form, "--output", str(path)) == ""
        written = slashed(path.read_text(encoding="utf-8"))
        assert written.rstrip("\n") == command.run(*RUN, "--format", form).stdout.rstrip("\n")


def test_forms_with_files_are_written_besides(command: Command, tmp_path: Path) -> None:
    """FORM=FILE is written as well, as in lint and diff; the width of a terminal has no effect on a file."""
    svg, text = tmp_path / "a.svg", tmp_path / "a=b.txt"
    printed = command.output(*RUN, "--output", f"svg={svg}", "--output", f"text={text}", columns=200)
    assert "setPowerConfig" in printed
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert max(map(len, text.read_text(encoding="utf-8").splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments",
    [("--output", each) for each in ("", "pdf=x", "svg=", ".", "-", "json=-")],
)
def test_an_output_that_can_not_be_meant_is_exit_2(command: Command, arguments: tuple[str, ...]) -> None:
    """An unknown form, a missing file name, a folder and the standard output are refused, and nothing is printed."""
    assert command.run(*RUN, *arguments).exit_code == 2


def test_an_output_in_a_folder_that_is_missing(command: Command, tmp_path: Path) -> None:
    """The message says what to do; a file in the place of the folder has its own words."""
    result = command.run(*RUN, "--output", str(tmp_path / "nothere" / "x.svg"))
    said = f"htppower: can't write {tmp_path / 'nothere' / 'x.svg'}: its folder is missing: make that first\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", said)
    (tmp_path / "file").touch()
    result = command.run(*RUN, "--output", str(tmp_path / "file" / "x.svg"))
    words = "its folder is a file" if WINDOWS else "Not a directory"
    assert (result.exit_code, words in result.stderr, "missing" in result.stderr) == (2, True, False)


def test_an_output_is_for_a_dry_run(command: Command, tmp_path: Path) -> None:
    """A run on the device writes no report."""
    result = command.run("profile", "burst", "--output", str(tmp_path / "x"), "--", "true")
    assert (result.exit_code, "--output is for a dry run" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("spelt", "inference_us"), [("5ms", 5000), ("300us", 300), ("1s", 1_000_000), ("1.5 ms", 1500)]
)
def test_times_are_given_with_their_unit(command: Command, spelt: str, inference_us: int) -> None:
    """An option accepts 5ms, 300us and 1s; JSON has the time in us."""
    for option in ("--inference-time", "--inference-us"):
        document = json.loads(command.output(*RUN, option, spelt, "--gap", "2ms", "--format", "json"))
        assert (document["workload"]["inference_us"], document["workload"]["gap_us"]) == (inference_us, 2000)


def test_an_option_that_ends_in_us_takes_a_number(command: Command) -> None:
    """The name of the option gives the unit."""
    document = json.loads(command.output(*RUN, "--inference-us", "700", "--gap-us", "30", "--format", "json"))
    assert (document["workload"]["inference_us"], document["workload"]["gap_us"]) == (700, 30)


@pytest.mark.parametrize(
    "arguments",
    [
        (*RUN, "--gap", "5"),
        (*RUN, "--inference-time", "5"),
        ("profile", "burst", "--backend", "simulated", "--for", "2"),
        ("tune", "t.csv", "--break-even", "5"),
        ("tune", "t.csv", "--longest", "5"),
        ("calibrate", "--idle", "5"),
        ("calibrate", "--power-time", "5"),
        ("diff", "a", "b", "--timeline", "--gap", "5"),
    ],
)
def test_a_time_without_a_unit_is_refused(command: Command, arguments: tuple[str, ...]) -> None:
    """The error names three spellings with a unit."""
    result = command.run(*arguments)
    number = arguments[-1]
    assert result.exit_code == 2
    assert f"has no unit; write {number}us, {number}ms or {number}s" in in_one_line(result.stderr)


def test_a_time_given_twice_is_refused(command: Command) -> None:
    """The time with a unit and the number of us are the same setting."""
    result = command.run(*RUN, "--gap", "5ms", "--gap-us", "5")
    assert (result.exit_code, "--gap-us repeats a time" in result.stderr) == (2, True)


@pytest.mark.parametrize("spelt", ["5 parsecs", "-5ms", "2h", "ms", "0.1us"])
def test_what_is_no_time_is_exit_2(command: Command, spelt: str) -> None:
    """The error says how to write a time, or which times are allowed."""
    result = command.run(*RUN, "--gap", spelt)
    assert result.exit_code == 2
    assert "'--gap'" in result.stderr


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_every_finding_points_to_its_explanation(command: Command, tmp_path: Path, form: str) -> None:
    """Each form names the command that explains the rule, and no file that may be missing."""
    (tmp_path / "mine.yaml").write_text(WRONG, encoding="utf-8")
    said = command.output("lint", str(tmp_path), "--format", form, exit_code=1)
    for rule in ("DCVS-1", "RPC-1"):
        assert f"htppower explain {rule}" in said
    assert "docs/" not in said


def test_an_error_points_to_its_explanation(command: Command, tmp_path: Path) -> None:
    """The error names each broken rule once with the command that explains it."""
    path = tmp_path / "mine.yaml"
    path.write_text(WRONG, encoding="utf-8")
    result = command.run("show", str(path))
    assert result.exit_code == 1
    assert result.stderr.endswith("why: htppower explain DCVS-1\nwhy: htppower explain RPC-1\n")


def test_sarif_has_help_and_a_uri_on_demand(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule has the reason, an example and the mend as text and Markdown, and a URI if the option gives one."""
    (tmp_path / "mine.yaml").write_text(WRONG, encoding="utf-8")

    def rules(*options: str) -> list[dict[str, object]]:
        said = command.output("lint", str(tmp_path), "--format", "sarif", *options, exit_code=1)
        found: list[dict[str, object]] = json.loads(said)["runs"][0]["tool"]["driver"]["rules"]
        return found

    plain = rules()
    assert [rule["id"] for rule in plain] == list(CATALOGUE)
    for rule in plain:
        help_text = rule["help"]
        assert isinstance(help_text, dict)
        assert f"htppower explain {rule['id']}" in help_text["text"]
        assert CATALOGUE[str(rule["id"])].says in help_text["markdown"]
        assert "helpUri" not in rule
    named = rules("--help-uri", "https://example.org/power#{rule}")
    assert {str(rule["helpUri"]) for rule in named} == {f"https://example.org/power#{rule}" for rule in CATALOGUE}
    monkeypatch.setenv("HTPPOWER_HELP_URI", "https://example.org/rules")
    assert {rule["helpUri"] for rule in rules()} == {"https://example.org/rules"}


@pytest.mark.parametrize("uri", ["rules.html", "https://example.org/my rules", "https://x/{name}", "https://x/\n"])
def test_a_help_uri_that_sarif_forbids_is_refused(command: Command, uri: str) -> None:
    """Otherwise the error would come only at the upload of the report."""
    result = command.run("lint", str(shipped_folder()), "--format", "sarif", "--help-uri", uri)
    assert (result.exit_code, "'--help-uri'" in result.stderr, result.stdout) == (2, True, "")
