"""The dry run of every shipped profile: text against golden files, and JSON against the text."""

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


# Profiles with the timeline of another profile, and their own words for words of the other profile.
BALANCED_RELEASED = {"2000 us": "65535 us", "SVS2 / SVS / SVS": "MIN_VOLTAGE_CORNER"}
LIKE = {
    "sustained_high_performance": ("burst", {"y 40 us": "y 100 us", "r MAX_VOLTAGE_CORNER": "r TURBO"}),
    "low_balanced": ("balanced", {"NOM_PLUS": "NOM"}),
    "high_power_saver": ("balanced", {"NOM_PLUS": "SVS_PLUS", **BALANCED_RELEASED}),
    "power_saver": ("balanced", {"NOM_PLUS": "SVS", **BALANCED_RELEASED}),
    "low_power_saver": ("balanced", {"NOM_PLUS": "SVS2", **BALANCED_RELEASED}),
    "extreme_power_saver": (
        "balanced",
        {"NOM_PLUS": "DISABLE", **BALANCED_RELEASED, "MIN_VOLTAGE_CORNER": "DISABLE"},
    ),
}


def _text(command: Command, profile: str, *arguments: str) -> list[str]:
    return command.output("profile", profile, "--dry-run", *arguments).splitlines()


def _from_platform(lines: list[str]) -> list[str]:
    """Return the lines from the platform on, after the name, the summary and the file of a profile."""
    return lines[next(place for place, line in enumerate(lines) if line.startswith("platform")) :]


@pytest.mark.parametrize("profile", sorted(set(SHIPPED_PROFILES) - LIKE.keys()))
def test_text(command: Command, profile: str) -> None:
    """The timeline of a profile equals the golden file."""
    command.assert_golden(f"{profile}.txt", "profile", profile, "--dry-run")


@pytest.mark.parametrize("profile", LIKE)
def test_text_like_that_of_another(command: Command, profile: str) -> None:
    """The timeline of a profile equals the timeline of another profile, but has its own clocks and latencies."""
    other, words = LIKE[profile]
    expected = "\n".join(_from_platform(_text(command, other)))
    for word, own in words.items():
        expected = expected.replace(word, own)
    lines = _text(command, profile)
    assert lines[0].startswith(f"profile     {profile}: ")
    assert f"file        <profiles>/{profile}.yaml" in lines
    assert _from_platform(lines) == expected.splitlines()


def test_json(command: Command) -> None:
    """The JSON of burst equals the golden file."""
    command.assert_golden("burst.json", "profile", "burst", "--dry-run", "--format", "json")


@pytest.mark.parametrize("profile", SHIPPED_PROFILES)
def test_json_has_what_the_text_has(command: Command, profile: str) -> None:
    """Each call of the text is a call of the JSON, with the same function, phase, cause, state and fields."""
    document = json.loads(command.output("profile", profile, "--dry-run", "--format", "json"))
    step, found = "", list[str]()
    for call in document["calls"]:
        earlier, step = step, _step(call)
        found.append(_called(call) if step == earlier else f"{step} {_called(call)}")
        found += [field for config in call["configs"] for field in _fields(config)]
    words = [" ".join(line.split()) for line in _text(command, profile)]
    begin = next(place for place, line in enumerate(words) if line.startswith("time ")) + 1
    assert words[begin : words.index("", begin)] == (found or ["no call: this profile does not vote"])
    assert document["summary"]["native_calls"] == len(document["calls"])


def _step(call: dict[str, Any]) -> str:
    """Return the time, phase, cause and state of a call, as the text has them once for all calls of a step."""
    time = f"{call['time_us'] // 1000} ms" if call["time_us"] else "0 us"
    return " ".join(each for each in (time, call["phase"], call["cause"], call["state"]) if each)


def _called(call: dict[str, Any]) -> str:
    made, function = call["power_config_id"], call["function"]
    if function == "createPowerConfigId":
        return f"{function}({call['device_id']}, {call['core_id']}) = {made}"
    return f"{function}({made})"


def _fields(config: dict[str, Any]) -> list[str]:
    """Return the lines of the text for one option of a call."""
    option, fields, symbols = config["option"], config["fields"], config["symbols"]
    if option == "HMX_V2":
        return [f"HMX_V2 hmxPickDefault {fields['hmxPickDefault']}"]
    if option != "DCVS_V3":
        (value_us,) = fields.values()
        return [f"{option} {value_us} us"]
    mode = symbols["powerMode"].rpartition("POWERMODE_")[2]
    lines = [f"DCVS_V3 dcvsEnable {fields['dcvsEnable']} sleepLatency {fields['sleepLatency']} us powerMode {mode}"]
    for clock in ("bus", "core"):
        corners = [symbols[f"{clock}VoltageCorner{limit}"] for limit in ("Min", "Target", "Max")]
        names = [corner.partition("CORNER_")[2] for corner in corners]
        lines.append(f"{clock}VoltageCorner {names[0] if len(set(names)) == 1 else ' / '.join(names)}")
    return lines


@pytest.mark.parametrize(
    ("arguments", "platform", "lacking"),
    [
        (("--arch", "V73"), "Hexagon V73, linux", ("HMX_V2",)),
        (("--platform", "qnx"), "SM8650 (SoC model 57), Hexagon V75, qnx", ("RPC_CONTROL_LATENCY", "RPC_POLLING_TIME")),
        (("--soc", "SM8850"), "SM8850 (SoC model 87), Hexagon V81, linux", ()),
    ],
)
def test_other_platforms(command: Command, arguments: tuple[str, str], platform: str, lacking: tuple[str, ...]) -> None:
    """On V73, QNX and a V81 SoC, burst casts the votes that the platform supports, and names the missing ones."""
    lines, usual = _text(command, "burst", *arguments), _text(command, "burst")
    assert lines[2] == f"platform    {platform}"
    rest = [line for line in usual[3:-3] if not any(f"        {option}  " in line for option in lacking)]
    if arguments[1] == "qnx":
        # Calls with nothing but settings of the process are not made.
        rest = [line for line in rest if line.strip() != "setPowerConfig(1)"]
        assert lines[-5:] == [
            "calls       8 native calls, 6 of them setPowerConfig",
            usual[-2],
            "degraded    RPC-4: rpc_control_latency_us does not exist on QNX",
            "degraded    RPC-4: rpc_polling_time_us does not exist on QNX",
            "why         htppower explain RPC-4",
        ]
        assert lines[3:-5] == rest
    else:
        assert lines[3:] == rest + usual[-3:]


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
