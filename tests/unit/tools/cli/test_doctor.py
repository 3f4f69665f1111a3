"""``htppower doctor`` with a simulated backend instead of a library."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.profiles.loading import profile_names
from htppower.tools.doctor import answers

if TYPE_CHECKING:
    from support.command import Command


class GivesTheNullClient(SimulatedHtp):
    """A library that gives id 0."""

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id, and return 0 as its number."""
        super().create_power_config_id(device_id, core_id)
        return 0


def test_doctor_says_what_the_null_client_is(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line explains id 0 with the rule of the null client."""
    monkeypatch.setattr(answers, "QnnHtp", lambda *_: SimulatedHtp(arch=81))
    output = command.output("doctor")
    assert "the NULL client: a vote on it may override every other setting of the process" in in_one_line(output)
    assert "(ID-1)" in output


def test_doctor_casts_no_vote_on_id_0(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that gives id 0 is not usable; nothing is voted on id 0, and it is not destroyed."""
    recorder = RecordingBackend(GivesTheNullClient(arch=81))
    monkeypatch.setattr(answers, "QnnHtp", lambda *_: recorder)
    result = command.run("doctor")
    assert (result.exit_code, "createPowerConfigId" in result.stdout) == (1, True)
    assert [call.function for call in recorder.calls] == ["createPowerConfigId"]


def test_doctor_indents_what_follows_a_long_line(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """An indented line can't be mistaken for another profile."""
    monkeypatch.setattr(answers, "QnnHtp", lambda *_: SimulatedHtp(arch=68))
    lines = command.output("doctor").splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("profiles "))
    listed = [line[12:] for line in lines[first : next(n for n, line in enumerate(lines) if line.startswith("to do"))]]
    followed = [line for line in listed if line.startswith(" ")]
    assert followed
    assert {line.split()[0] for line in listed if line not in followed} == set(profile_names())


def test_the_report_begins_with_the_cause_and_the_line(command: Command) -> None:
    """The line to type stands alone, so that it can be copied; Markdown has the same."""
    lines = command.output("doctor", "--library", "/not/there.so", exit_code=1).splitlines()
    assert (lines[0], lines[1][:10].strip()) == ("usable      no", "cause")
    assert "type        htppower doctor" in lines
    markdown = command.output("doctor", "--library", "/not/there.so", "--format", "markdown", exit_code=1)
    assert markdown.splitlines()[:2] == [
        "- usable: `no`",
        "- cause: `The library was not found: the path given: /not/there.so: no such file.`",
    ]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_redacted_report_names_no_person(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str
) -> None:
    """The home folder and the name of the user are in no form of the report."""
    home = tmp_path / "home" / "kim-of-the-board"
    home.mkdir(parents=True)
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr(getpass, "getuser", lambda: "kim-of-the-board")
    named = ("doctor", "--format", form, "--library", str(home / "libQnnHtp.so"))
    assert "kim-of-the-board" in command.output(*named, exit_code=1, columns=200)
    assert "kim-of-the-board" not in command.output(*named, "--redact", exit_code=1, columns=200)


def test_a_library_that_breaks_is_a_line_of_the_report(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever opening the library raises, the facts of the machine are told."""

    def breaks(*_: object) -> SimulatedHtp:
        raise ZeroDivisionError("as no library does")

    monkeypatch.setattr(answers, "QnnHtp", breaks)
    document = json.loads(command.output("doctor", "--format", "json", exit_code=1))
    assert document["problem"]["message"] == "opening the library raised ZeroDivisionError: as no library does"
    assert document["machine"]["kernel"]


def test_what_to_do_follows_the_problem_if_no_cause_is_known(command: Command, tmp_path: Path) -> None:
    """It is not below the facts of the machine."""
    (tmp_path / "lib.so").write_text("no library")
    lines = command.output("doctor", "--library", str(tmp_path / "lib.so"), exit_code=1, columns=300).splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["usable", "problem", "to", "tried"]
    assert len([line for line in lines if line.startswith("to do")]) == 1


def test_a_soc_that_does_not_exist_is_wrong_input(command: Command) -> None:
    """A mistyped SoC is an error of the command line, not of the machine."""
    result = command.run("doctor", "--soc", "SM0000")
    assert (result.exit_code, "no SoC 'SM0000'" in result.stderr) == (2, True)
