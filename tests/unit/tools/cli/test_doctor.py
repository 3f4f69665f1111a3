"""``htppower doctor`` with a simulated backend instead of a library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.slashes import in_one_line

from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.profiles.loading import profile_names
from htppower.tools.cli import diagnosis

if TYPE_CHECKING:
    import pytest
    from support.command import Command


class GivesTheNullClient(SimulatedHtp):
    """A library that gives id 0."""

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id, and return 0 as its number."""
        super().create_power_config_id(device_id, core_id)
        return 0


def test_doctor_says_what_the_null_client_is(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line explains id 0 with the rule of the null client."""
    monkeypatch.setattr(diagnosis, "QnnHtp", lambda *_: SimulatedHtp(arch=81))
    output = command.output("doctor")
    assert "the NULL client: a vote on it may override every other setting of the process" in in_one_line(output)
    assert "(ID-1)" in output


def test_doctor_casts_no_vote_on_id_0(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that gives id 0 is not usable; nothing is voted on id 0, and it is not destroyed."""
    recorder = RecordingBackend(GivesTheNullClient(arch=81))
    monkeypatch.setattr(diagnosis, "QnnHtp", lambda *_: recorder)
    result = command.run("doctor")
    assert (result.exit_code, "createPowerConfigId" in result.stdout) == (1, True)
    assert [call.function for call in recorder.calls] == ["createPowerConfigId"]


def test_doctor_indents_what_follows_a_long_line(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """An indented line can't be mistaken for another profile."""
    monkeypatch.setattr(diagnosis, "QnnHtp", lambda *_: SimulatedHtp(arch=68))
    lines = command.output("doctor").splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("profiles "))
    listed = [line[12:] for line in lines[first : next(n for n, line in enumerate(lines) if line.startswith("to do"))]]
    followed = [line for line in listed if line.startswith(" ")]
    assert followed
    assert {line.split()[0] for line in listed if line not in followed} == set(profile_names())
