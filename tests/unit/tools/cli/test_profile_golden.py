"""The dry run of every shipped profile, as text and as JSON, against golden files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from htppower.profiles.names import SHIPPED_PROFILES

if TYPE_CHECKING:
    from support.command import Command

# The vendor's table: sleep latency in us, RPC polling on, corner; DCVS is off in every profile.
VENDOR_TABLE = {
    "burst": (40, True, "MAX_VOLTAGE_CORNER", "relaxed"),
    "sustained_high_performance": (100, True, "TURBO", "relaxed"),
    "high_performance": (100, True, "TURBO", "relaxed"),
    "balanced": (1000, False, "NOM_PLUS", "relaxed"),
    "low_balanced": (1000, False, "NOM", "relaxed"),
    "high_power_saver": (1000, False, "SVS_PLUS", "released"),
    "power_saver": (1000, False, "SVS", "released"),
    "low_power_saver": (1000, False, "SVS2", "released"),
    "extreme_power_saver": (1000, False, "DISABLE", "extreme_released"),
}
# Sleep latency, and min, target and max of both clocks. The vendor has no extreme_released state; hosts use these.
VENDOR_STATES = {
    "relaxed": (2000, ("SVS2", "SVS", "SVS")),
    "released": (65535, ("MIN_VOLTAGE_CORNER",) * 3),
    "extreme_released": (65535, ("DISABLE",) * 3),
}


@pytest.mark.parametrize("profile", SHIPPED_PROFILES)
def test_text(command: Command, profile: str) -> None:
    """The timeline of a profile equals the golden file."""
    command.assert_golden(f"{profile}.txt", "profile", profile, "--dry-run")


@pytest.mark.parametrize("profile", SHIPPED_PROFILES)
def test_json(command: Command, profile: str) -> None:
    """The JSON of a profile equals the golden file."""
    command.assert_golden(f"{profile}.json", "profile", profile, "--dry-run", "--format", "json")


@pytest.mark.parametrize("arguments", [("--arch", "V73"), ("--platform", "qnx"), ("--soc", "SM8850")])
def test_other_platforms(command: Command, arguments: tuple[str, str]) -> None:
    """On V73, QNX and a V81 SoC, burst casts the votes that the platform supports, and names the missing ones."""
    name = f"burst-{arguments[1]}.txt"
    command.assert_golden(name, "profile", "burst", "--dry-run", *arguments)


@pytest.mark.parametrize("profile", SHIPPED_PROFILES)
def test_text_has_no_colour_when_it_is_piped(command: Command, profile: str) -> None:
    """If the output is not a terminal, it has no escape sequences."""
    lines = command.output("profile", profile, "--dry-run").splitlines()
    assert not any("\x1b" in line for line in lines)


def _votes(command: Command, profile: str) -> list[dict[str, dict[str, Any]]]:
    """Return the votes of each step, over its calls."""
    document = json.loads(command.output("profile", profile, "--dry-run", "--format", "json"))
    steps: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    for call in document["calls"]:
        if call["function"] == "setPowerConfig":
            step = steps.setdefault((call["time_us"], call["cause"]), {})
            step.update({config["option"]: config for config in call["configs"]})
    return list(steps.values())


@pytest.mark.parametrize("profile", VENDOR_TABLE)
def test_the_raising_votes_are_the_vendors_table(command: Command, profile: str) -> None:
    """The votes of INIT equal the vendor's table, cell by cell."""
    sleep_us, polling, corner, _ = VENDOR_TABLE[profile]
    raised = _votes(command, profile)[0]
    dcvs = raised["DCVS_V3"]
    assert dcvs["fields"]["sleepLatency"] == sleep_us
    assert dcvs["fields"]["dcvsEnable"] == 0
    assert (raised["RPC_POLLING_TIME"]["fields"]["rpcPollingTimeConfig"] > 0) is polling
    for clock in ("bus", "core"):
        for limit in ("Min", "Target", "Max"):
            assert dcvs["symbols"][f"{clock}VoltageCorner{limit}"].endswith(f"CORNER_{corner}")


@pytest.mark.parametrize("profile", VENDOR_TABLE)
def test_the_lowering_votes_are_the_vendors_table(command: Command, profile: str) -> None:
    """The votes after INIT equal the vendor's power state, cell by cell."""
    sleep_us, corners = VENDOR_STATES[VENDOR_TABLE[profile][3]]
    lowered = _votes(command, profile)[1]["DCVS_V3"]
    assert lowered["fields"]["sleepLatency"] == sleep_us
    assert lowered["fields"]["dcvsEnable"] == 1
    for clock in ("bus", "core"):
        for limit, corner in zip(("Min", "Target", "Max"), corners, strict=True):
            assert lowered["symbols"][f"{clock}VoltageCorner{limit}"].endswith(f"CORNER_{corner}")
