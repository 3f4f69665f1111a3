"""``htppower tune --fleet``: what it prints and writes, and the refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.fleets import write_fleet
from support.slashes import in_one_line

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

_FILES = 6


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Return the folder of a fleet with one invalid trace."""
    write_fleet(tmp_path / "traces", _FILES, 30)
    (tmp_path / "traces" / "notes.txt").write_text("no trace", encoding="utf-8")
    return tmp_path / "traces"


def refused(command: Command, *arguments: str) -> str:
    """Return the error of a command that ends with 2, in one line."""
    result = command.run("tune", *arguments)
    assert result.exit_code == 2
    return in_one_line(result.output)


def test_what_is_best_is_printed_as_text_and_json(traces: Path, command: Command, tmp_path: Path) -> None:
    """Text and JSON agree; an unreadable file is named, and the exit code is still 0."""
    output = command.output("tune", "--fleet", str(traces), "--output", f"json={tmp_path / 'fleet.json'}")
    text = in_one_line(output)
    document = json.loads((tmp_path / "fleet.json").read_text(encoding="utf-8"))
    assert f"{_FILES} files read, 1 left out" in text
    assert "notes.txt" in text
    assert document["files_read"] == _FILES
    assert [each["path"] for each in document["unread"]] == [str(traces / "notes.txt")]
    assert document["break_even_us"] == 100_000
    assert (document["device"], round(document["saved_w"], 6)) == ("hexagon_assumed", 0.28)
    assert document["aim"] == {"most_cold_ppm": None, "most_us": 10_000_000, "within": 0.01}
    printed = command.output("tune", "--fleet", str(traces), "--format", "json")
    assert json.loads(printed) == document


def test_the_options_reach_what_reads(traces: Path, command: Command) -> None:
    """The break-even time, the longest time, the profile, the files and the sessions are passed on."""
    options = ("--break-even", "30ms", "--longest", "50ms", "--profile", "balanced", "--files", "*0.json")
    document = json.loads(command.output("tune", "--fleet", str(traces), *options, "--format", "json"))
    assert (document["break_even_us"], document["extends"], document["files_read"]) == (30_000, "balanced", 1)
    assert document["aim"]["most_us"] == 50_000
    assert document["learnt"][0]["after_inference_us"]["adaptive"]["most_us"] == 50_000
    assert "of a session 'mic'" in refused(command, "--fleet", str(traces), "--session", "mic")


def test_the_profile_is_written_and_a_second_run_goes_on(traces: Path, command: Command, tmp_path: Path) -> None:
    """The profile is named after its base and has no findings, and the file with the read gaps is next to it."""
    for kept in ("", f"({_FILES} of them by an earlier run)"):
        limit = ("--limit", "cold <= 4 %")
        output = command.output("tune", "--fleet", str(traces), *limit, "--write", str(tmp_path))
        assert kept in in_one_line(output)
    assert (tmp_path / "burst_fleet.gaps.jsonl").is_file()
    assert "no findings" in command.output("lint", str(tmp_path / "burst_fleet.yaml"))


def test_a_limit_of_cold_starts_is_kept_or_refused(traces: Path, command: Command) -> None:
    """The strictest of several limits counts; if no time keeps to it, the exit code is 1."""
    limits = ("--limit", "cold <= 60 %", "--limit", "cold <= 50 %")
    document = json.loads(command.output("tune", "--fleet", str(traces), *limits, "--format", "json"))
    assert document["aim"]["most_cold_ppm"] == 500_000
    assert document["keeps_to_cold_starts"]
    cold = document["chosen"]["cold_starts"] + document["sessions"]
    assert cold <= document["inferences"] / 2
    text = command.output("tune", "--fleet", str(traces), "--limit", "cold <= 1 %", exit_code=1)
    assert "No sustain time keeps to 1 %" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "name a TRACE, or --fleet FOLDER"),
        (("trace.json", "--fleet", "{traces}"), "name a TRACE, or --fleet FOLDER"),
        (("trace.json", "--jobs", "2"), "--jobs is for --fleet"),
        (("trace.json", "--scheduler", "tcp://a:1"), "--scheduler is for --fleet"),
        (("--fleet", "{traces}", "--verify", "3"), "--verify is for one trace"),
        (("--fleet", "{traces}", "--page", "a.html"), "--page is for one trace"),
        (("--fleet", "{traces}", "--measured-under", "burst"), "--measured-under is for one trace"),
        (("--fleet", "{traces}", "--limit", "p99 <= 12 ms"), "is for one trace; a fleet can keep 'cold <= 5 %'"),
        (("--fleet", "{traces}", "--format", "html"), "a fleet has no page"),
        (("--fleet", "{traces}", "--output", "html=a.html"), "a fleet has no page"),
        (("--fleet", "{traces}", "--profile", "burst", "--profile", "balanced"), "name one --profile"),
        (("--fleet", "{traces}", "--profile", "system_settings"), "sends no votes"),
        (("--fleet", "{traces}", "--jobs", "2", "--scheduler", "tcp://a:1"), "leave one out"),
    ],
)
def test_what_does_not_go_together_is_refused(
    traces: Path, command: Command, options: tuple[str, ...], said: str
) -> None:
    """The message names the option, with the exit code of a usage error."""
    assert said in refused(command, *(each.format(traces=traces) for each in options))


def test_a_folder_without_traces_is_refused(tmp_path: Path, command: Command) -> None:
    """The exit code is 2, and each file is named with its problem."""
    assert "the folder has no file" in refused(command, "--fleet", str(tmp_path))
    (tmp_path / "notes.txt").write_text("no trace", encoding="utf-8")
    assert "none of 1 files can be read" in refused(command, "--fleet", str(tmp_path))
