"""``htppower doctor --measure``: the forms, and the refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

QUICK = ("doctor", "--measure", "--backend", "simulated", "--count", "2")


def test_a_simulation_is_measured_and_says_so(command: Command) -> None:
    """Text, Markdown and JSON have the calls, the missed vote and the clock that can't be read."""
    for form in ("text", "markdown", "json"):
        said = command.output(*QUICK, "--format", form)
        assert "a simulation" in said
        for what in ("raise", "lower", "repeated", "a missed vote costs", "no clock was read"):
            assert what in said, (form, what)


def test_the_json_names_the_platform_and_the_profile(command: Command) -> None:
    """A call takes about the 500 us or more of the simulated HTP, and each row has its count."""
    found = json.loads(command.output(*QUICK, "--format", "json", "--raise", "balanced", "--soc", "SM8650"))
    assert (found["format_version"], found["backend"], found["profile"]) == (1, "simulated", "balanced")
    assert found["soc"]["model"] == 57
    rows = {row["what"]: row for row in found["rows"]}
    assert (rows["raise"]["options"], rows["raise"]["n"]) == (["DCVS_V3"], 2)
    assert rows["raise"]["median_us"] >= 500
    assert (rows["clock follows a raise"]["n"], rows["clock follows a raise"]["median_us"]) == (0, None)


def test_the_clock_is_read_from_a_source(command: Command, tmp_path: Path) -> None:
    """A clock that stays is told with its kHz, and that it did not move."""
    (tmp_path / "clock").write_text("q6_clock_khz=806400\n", encoding="utf-8")
    said = command.output(*QUICK, "--clock", f"file:{tmp_path / 'clock'}", "--format", "json")
    row = next(row for row in json.loads(said)["rows"] if row["what"] == "clock follows a raise")
    assert (row["n"], "806" in row["note"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("doctor", "--count", "3"), "--count is for --measure; add --measure"),
        (("doctor", "--backend", "simulated"), "--backend is for --measure; add --measure"),
        ((*QUICK, "--clock", "qcnpuperf:no_such.so"), "the clock can't be read by libqcnpuperf"),
        ((*QUICK, "--raise", "no_such"), "no_such"),
        ((*QUICK, "--raise", "system_settings"), "measure with a profile that does"),
        ((*QUICK, "--run", "no_such_host:infer"), "can't be imported"),
        ((*QUICK, "--library", "libx.so"), "leave it out with --backend simulated"),
        (("doctor", "--measure", "--library", "nowhere.so"), "nowhere.so"),
    ],
)
def test_what_can_not_be_measured_is_said(command: Command, arguments: tuple[str, ...], said: str) -> None:
    """The exit code is 2, without a traceback."""
    result = command.run(*arguments)
    assert (result.exit_code, result.stdout, "internal error" in result.stderr) == (2, "", False)
    assert said in " ".join(result.stderr.split())


@pytest.mark.parametrize("content", ["q6_clock_khz=0\n", "foo=1\n"])
def test_a_clock_that_stands_or_can_not_be_read_is_no_fault(command: Command, tmp_path: Path, content: str) -> None:
    """The report is made all the same."""
    (tmp_path / "clock").write_text(content, encoding="utf-8")
    assert "clock follows a raise" in command.output(*QUICK, "--clock", f"file:{tmp_path / 'clock'}")
