"""``--sdk``: the vendor's table of an older SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

from htppower import load_profile
from htppower.profiles.names import SHIPPED_PROFILES

if TYPE_CHECKING:
    from support.command import Command

DCVS_ON = SHIPPED_PROFILES[3:9]
DCVS_OFF = SHIPPED_PROFILES[:3]


@pytest.mark.parametrize("name", [*DCVS_ON, *DCVS_OFF])
def test_dcvs_is_as_it_was(name: str) -> None:
    """Until SDK 2.25 DCVS was on from balanced down; the other votes are as today."""
    then, now = load_profile(f"sdk-2.25:{name}"), load_profile(name)
    assert then.votes.dcvs_v3 is not None
    assert now.votes.dcvs_v3 is not None
    assert (then.votes.dcvs_v3.dcvs_enable, now.votes.dcvs_v3.dcvs_enable) == (name in DCVS_ON, False)
    assert then.relax == now.relax


def test_the_commands_that_take_it(command: Command) -> None:
    """Show, the dry run and the list use the old table, for any version with the same first two numbers."""
    assert "dcvs_enable: true" in command.output("show", "balanced", "--sdk", "2.25")
    assert "dcvs_enable: false" in command.output("show", "balanced")
    dry_run = command.output("profile", "balanced", "--dry-run", "--sdk", "2.25.3")
    assert "dcvsEnable 1" in dry_run.partition("RAISED")[2].partition("LOWERED")[0]
    listed = command.output("list", "--sdk", "2.25")
    assert "sdk-2.25" in listed
    assert "onnxruntime" not in listed
    assert "dcvs_v3.dcvs_enable" in command.output("diff", "sdk-2.25:balanced", "balanced", exit_code=1)


@pytest.mark.parametrize(
    ("version", "dcvs"), [("2.9", "true"), ("2.24.1", "true"), ("2.39", "false"), ("2.51", "false")]
)
def test_a_version_has_the_table_of_its_time(command: Command, version: str, dcvs: str) -> None:
    """Every version until 2.25 has the old table; from 2.39 on, today's table applies."""
    assert f"dcvs_enable: {dcvs}" in command.output("show", "balanced", "--sdk", version)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("show", "balanced", "--sdk", "2.31"), "name a version up to 2.25, or from 2.39 on"),
        (("show", "balanced", "--sdk", "../x"), "is not a version of the SDK"),
        (("show", "llm_decode_burst", "--sdk", "2.25"), "new in SDK 2.48"),
        (("show", "onnxruntime:burst", "--sdk", "2.25"), "leave --sdk out"),
        (("show", "./mine.yaml", "--sdk", "2.25"), "leave --sdk out"),
        (("list", "--sdk", "2.25", "--runtimes"), "leave one out"),
        (("show", "camera", "--sdk", "2.25"), "no record 'sdk-2.25:camera'"),
    ],
)
def test_what_is_no_such_table_is_refused(command: Command, args: tuple[str, ...], says: str) -> None:
    """The errors name the known versions, or the names in the table."""
    result = command.run(*args)
    assert result.exit_code == 2
    assert says in in_one_line(result.stderr)
