"""``htppower doctor --measure``: the forms, and the refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.command import Command

QUICK = ("doctor", "--measure", "--backend", "simulated", "--count", "2")


def test_a_simulation_is_measured_and_says_so(command: Command) -> None:
    """Text, Markdown and JSON have the calls, the missed vote and the clock that can't be read."""
    for form in ("text", "markdown", "json"):
        said = command.output(*QUICK, "--format", form)
        assert "a simulation" in said
        for what in ("raise", "lower", "repeated", "a missed vote costs", "no clock can be read"):
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("doctor", "--count", "3"), "--count is for --measure; add --measure"),
        (("doctor", "--backend", "simulated"), "--backend is for --measure; add --measure"),
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
