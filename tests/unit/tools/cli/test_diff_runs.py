"""The dry runs of ``htppower diff``: both sides as text and as a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.slashes import in_one_line
from support.two_folders import MINE

if TYPE_CHECKING:
    from support.command import Command


@pytest.fixture
def changed(sides: Path) -> None:
    """Make the two folders differ in their votes and times only, so that each profile has a timeline."""
    (sides / "new" / "mine.yaml").write_text(MINE, encoding="utf-8")


@pytest.mark.usefixtures("changed")
def test_timelines_are_the_reviewed_ones(command: Command) -> None:
    """The text of both dry runs, with their costs, equals the golden file."""
    command.assert_golden("diff-timeline-text.txt", "diff", "old", "new", "--timeline", exit_code=1)


@pytest.mark.usefixtures("changed")
def test_timelines_in_markdown_are_those_of_the_text(command: Command) -> None:
    """After the tables of the changes, the timelines of the text follow, each fenced."""
    diff = ("diff", "old", "new")
    tables = command.output(*diff, "--format", "markdown", exit_code=1)
    text, told = (command.output(*diff, "--timeline", "--format", form, exit_code=1) for form in ("text", "markdown"))
    timelines = [part.strip("\n") for part in text.split("\n\n") if ": dry runs on" in part]
    assert len(timelines) == 3
    assert told == tables + "".join(f"\n```text\n{timeline}\n```\n" for timeline in timelines)


@pytest.mark.usefixtures("changed")
def test_timelines_in_json_are_dry_runs(command: Command) -> None:
    """The JSON has the same changes as without timelines, and the calls of a dry run of each side of each profile."""
    diff = ("diff", "old", "new", "--format", "json")
    document = json.loads(command.output(*diff, "--timeline", exit_code=1))
    timelines = document.pop("timelines")
    assert document == json.loads(command.output(*diff, exit_code=1))
    assert [each["profile"] for each in timelines] == ["base", "mine", "more"]
    for each in timelines:
        # A new profile is compared with the profile that it extends.
        old = "high_performance" if each["profile"] == "more" else f"old/{each['profile']}.yaml"
        assert each["old"] == _dry_run(command, old)
        assert each["new"] == _dry_run(command, f"new/{each['profile']}.yaml")


def _dry_run(command: Command, path: str) -> dict[str, Any]:
    """Return the dry run of a profile, as a diff has it."""
    run = json.loads(command.output("profile", path, "--dry-run", "--format", "json"))
    kept = ("time_us", "cause", "state", "function")
    calls = [
        {**{key: call[key] for key in kept}, "options": [config["option"] for config in call["configs"]]}
        for call in run["calls"]
    ]
    counts = {key: run["summary"][key] for key in ("native_calls", "set_power_config")}
    return {**counts, "raised_us": run["summary"]["time_in_state_us"]["RAISED"], "calls": calls}


@pytest.mark.usefixtures("sides")
def test_a_timeline_says_how_time_raised_changes(command: Command) -> None:
    """The run uses the given workload, and the text has the costs of both sides."""
    told = command.output("diff", "old/base.yaml", "new/base.yaml", "--timeline", "--inferences", "1", exit_code=1)
    assert "time raised: 115 ms -> 2.015 s (+1.9 s)" in told
    assert "native calls: 10 -> 10 (the same)" in told
    document = json.loads(
        command.output("diff", "old", "new", "--timeline", "--format", "json", "--gap-us", "1", exit_code=1)
    )
    assert {each["profile"] for each in document["timelines"]} == {"base", "mine", "more"}
    assert "timelines" not in json.loads(command.output("diff", "old", "new", "--format", "json", exit_code=1))


@pytest.mark.usefixtures("sides")
def test_a_page_has_both_timelines(command: Command) -> None:
    """The page is one file with the changes, and two pictures for each changed or new profile."""
    page = command.output("diff", "old", "new", "--format", "html", exit_code=1)
    assert page.count("<svg") == 6
    assert "dcvs_v3.core.min" in page
    assert [">Added<" in page, ">more<" in page, ">new/more.yaml<" in page] == [True] * 3
    assert page.rstrip().endswith("</html>")
    same = command.output("diff", "burst", "burst", "--format", "html")
    assert "No change." in same


@pytest.mark.parametrize("option", [["--soc", "SM8750"], ["--arch", "V75"], ["--platform", "qnx"], ["--gap-us", "5"]])
def test_options_of_the_dry_runs_are_refused_without_any(command: Command, option: list[str]) -> None:
    """A platform or workload without a dry run is a usage error."""
    result = command.run("diff", "burst", "balanced", *option)
    assert (result.exit_code, "leave it out" in result.stderr) == (2, True)
    assert command.run("diff", "burst", "balanced", "--timeline", *option).exit_code == 1


@pytest.mark.usefixtures("sides")
def test_a_profile_that_the_platform_refuses_is_exit_2(command: Command) -> None:
    """A profile that can't run on the platform can't be compared there."""
    for side in ("old", "new"):
        text = "profile: mine\nextends: burst\nvotes: {ddr_perf_mode: true}\n" + f"summary: {side}.\n"
        Path(side, "mine.yaml").write_text(text, encoding="utf-8")
    result = command.run("diff", "old", "new", "--timeline", "--arch", "V75")
    assert (result.exit_code, result.stdout, "DDR-1" in result.stderr) == (2, "", True)
    assert command.run("diff", "old", "new", "--timeline", "--soc", "SM1").exit_code == 2


@pytest.mark.usefixtures("sides")
def test_a_timeline_tells_what_is_voted_otherwise(command: Command) -> None:
    """A changed line says what differs, even if the clocks are the same."""
    told = command.output("diff", "old/base.yaml", "new/base.yaml", "--timeline", exit_code=1, columns=200)
    assert "core {min: SVS, target: NOM, max: NOM_PLUS}" in told
    assert "sleep_latency_us 500 |" in told
    assert "sleep_latency_us 400" in told


def test_a_held_record_is_raised_all_the_time(command: Command) -> None:
    """A record's votes stay in force in state LOWERED, so that time counts as raised."""
    told = command.output("diff", "onnxruntime:burst", "vendor:burst", "--timeline", exit_code=1)
    assert "time raised: 65 ms -> 345 ms (+280 ms)" in told
    run = ("profile", "onnxruntime:burst", "--dry-run")
    assert "RAISED 25 ms, LOWERED 40 ms with the votes of RAISED" in in_one_line(command.output(*run))
    assert "with the votes of RAISED" not in command.output("profile", "vendor:burst", "--dry-run")
