"""``htppower tune --pace``: its forms, its exit codes, and the refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


@pytest.fixture(autouse=True)
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a table of 600 inferences of 10 ms at 30 a second, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "camera.csv"
    rows = (f"{place * 33_333},{place * 33_333 + 10_000}\n" for place in range(600))
    path.write_text("begin_us,end_us\n" + "".join(rows), encoding="utf-8")
    return path


def test_the_text_has_the_misses_and_each_profile(command: Command) -> None:
    """After 370 inferences under burst, the rest runs under low_power_saver."""
    shown = in_one_line(command.output("tune", "camera.csv", "--pace", "30"))
    assert "wanted 30 a second, at most 1 % of the deadlines missed" in shown
    assert "pace 0 % of the deadlines missed, 30 a second, 1 change of the profile" in shown
    assert "low_power_saver 38 % 0 %" in shown
    assert "burst 62 % 0 %" in shown


def test_the_json_has_the_same_numbers(command: Command) -> None:
    """Counts instead of shares, and every profile from the lowest."""
    document = json.loads(command.output("tune", "camera.csv", "--pace", "30", "--format", "json"))
    assert (document["format_version"], document["per_s"], document["miss_rate"], document["kept"]) == (
        1,
        30,
        0.01,
        True,
    )
    (session,) = document["sessions"]
    assert [session["inferences"], session["pace"]["misses"], session["pace"]["changes"]] == [600, 0, 1]
    assert session["best_fixed"] == "low_power_saver"
    assert {each["name"]: each["inferences"] for each in session["profiles"] if each["inferences"]} == {
        "low_power_saver": 230,
        "burst": 370,
    }


def test_the_page_is_written(command: Command, tmp_path: Path) -> None:
    """``--page`` writes the same as a page."""
    command.output("tune", "camera.csv", "--pace", "30", "--page", "paced.html")
    assert "low_power_saver" in (tmp_path / "paced.html").read_text(encoding="utf-8")


def test_a_rate_that_is_not_kept_has_exit_code_1(command: Command) -> None:
    """At 150 a second, 10 ms are too long under each profile."""
    result = command.run("tune", "camera.csv", "--pace", "150")
    assert result.exit_code == 1
    assert "even burst misses more than allowed" in in_one_line(result.stdout)


def test_other_profiles_and_waiting(command: Command) -> None:
    """``--profile`` names the ladder; with ``--pace-waits`` the gaps of the recording are work of the host."""
    arguments = ("--profile", "balanced", "--profile", "high_power_saver", "--miss-rate", "5%")
    document = json.loads(command.output("tune", "camera.csv", "--pace", "30", *arguments, "--format", "json"))
    assert [each["name"] for each in document["sessions"][0]["profiles"]] == ["high_power_saver", "balanced"]
    document = json.loads(command.output("tune", "camera.csv", "--pace", "20", "--pace-waits", "--format", "json"))
    assert document["sessions"][0]["pace"]["lasted_us"] == pytest.approx(600 * 50_000, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--pace", "0"), "0.0 is not in the range"),
        (("--pace", "fast"), "'fast' is not a valid float"),
        (("--miss-rate", "5%"), "--miss-rate is for --pace"),
        (("--pace-waits",), "--pace-waits is for --pace"),
        (("--pace", "30", "--limit", "p99 <= 8 ms"), "--limit is for tuning, not for --pace"),
        (("--pace", "30", "--miss-rate", "0%"), "0.1% or more"),
        (("--pace", "30", "--miss-rate", "60%"), "is not in the range 0% to 50%"),
        (("--pace", "30", "--profile", "system_settings"), "system_settings sends no votes"),
        (("--pace", "30", "--session", "other"), "no session 'other'"),
    ],
)
def test_what_is_refused(command: Command, arguments: tuple[str, ...], said: str) -> None:
    """The exit code is 2, and the message says what is wrong."""
    result = command.run("tune", "camera.csv", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in in_one_line(result.stderr)
