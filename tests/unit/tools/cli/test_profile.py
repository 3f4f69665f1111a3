"""``htppower profile``: options, JSON, exit codes, errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def _document(command: Command, *args: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(command.output("profile", *args, "--dry-run", "--format", "json"))
    return document


def _write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_json_has_the_keys_of_format_version_1(command: Command) -> None:
    """The keys are exactly the documented ones."""
    document = _document(command, "burst")
    assert document["format_version"] == 1
    assert list(document) == [
        "format_version", "profile", "source", "platform", "workload", "calls", "degradations", "summary",
    ]  # fmt: skip
    assert document["platform"] == {"soc_model": 57, "soc": "SM8650", "arch": "V75"}
    assert document["workload"] == {"inferences": 3, "inference_us": 5000, "gap_us": 10000}
    assert list(document["calls"][0]) == [
        "time_us", "phase", "cause", "function", "device_id", "core_id", "power_config_id", "state", "configs", "code",
    ]  # fmt: skip
    assert document["summary"] == {
        "native_calls": 14,
        "set_power_config": 12,
        "time_in_state_us": {"UNVOTED": 0, "RAISED": 345000, "LOWERED": 20000, "UNKNOWN": 0, "DESTROYED": 0},
    }


def test_the_sustain_timer_lowers_exactly_after_the_last_inference(command: Command) -> None:
    """Burst is lowered exactly 300000 us after the end of its last inference, without a phase."""
    calls = _document(command, "burst", "--inferences", "2", "--inference-us", "1234", "--gap-us", "10")["calls"]
    lowerings = [call for call in calls if call["cause"] == "sustain expired"]
    assert [call["configs"][0]["option"] for call in lowerings] == ["DCVS_V3", "RPC_POLLING_TIME"]
    for call in lowerings:
        assert call["time_us"] == 1234 + 2 * (10 + 1234) + 300_000
        assert (call["phase"], call["state"]) == (None, "LOWERED")


@pytest.mark.parametrize("inferences", [0, 1, 50])
def test_inferences_in_a_window_cost_no_call(command: Command, inferences: int) -> None:
    """Burst makes as many calls for 50 inferences as for one; without inferences it is never raised for them."""
    document = _document(command, "burst", "--inferences", str(inferences))
    assert document["summary"]["set_power_config"] == (12 if inferences else 8)


def test_a_platform_that_lacks_votes_says_so(command: Command) -> None:
    """On QNX the RPC votes are missing, each with its rule."""
    document = _document(command, "burst", "--platform", "qnx")
    assert [lost["rule"] for lost in document["degradations"]] == ["RPC-4", "RPC-4"]
    options = {config["option"] for call in document["calls"] for config in call["configs"]}
    assert not any(option.startswith("RPC") for option in options)


def test_a_bare_architecture_has_no_soc(command: Command) -> None:
    """--arch names an architecture without a SoC; below V75 no HMX vote is sent."""
    document = _document(command, "burst", "--arch", "V73")
    assert document["platform"] == {"soc_model": None, "soc": None, "arch": "V73"}
    assert "HMX_V2" not in json.dumps(document["calls"])


def test_a_profile_by_path_and_in_a_named_folder(command: Command, tmp_path: Path) -> None:
    """A profile is found by path, or by name in a named folder."""
    path = _write(tmp_path, "profile: mine\nextends: burst\nrelax: {after_inference_us: 50000}\n")
    by_path, by_name = _document(command, path), _document(command, "mine", "--profiles", str(tmp_path))
    assert by_path == by_name
    assert by_path["source"] == path


def test_real_time_on_the_simulated_backend_does_the_same(command: Command) -> None:
    """In real time, --backend simulated makes the same calls with the same votes as a dry run."""
    arguments = ("profile", "high_performance", "--inferences", "1", "--format", "json")
    real = json.loads(command.output(*arguments, "--backend", "simulated"))
    virtual = json.loads(command.output(*arguments, "--dry-run"))
    for document in (real, virtual):
        for call in document["calls"]:
            del call["time_us"]
    assert real["calls"] == virtual["calls"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--dry-run", "--backend", "simulated"], "leave --backend out"),
        (["--dry-run", "--", "ls"], "--dry-run runs no command"),
        (["--dry-run", "--for", "1s"], "--for is for a run on the device"),
        (["--dry-run", "--core", "1"], "--core is for a run on the device"),
        (["--for", "1s", "--", "ls"], "leave --for out"),
        (["--for", "1s", "--inferences", "3"], "--inferences is for a dry run"),
        (["--for", "1s", "--format", "json"], "--format is for a dry run"),
        (["--arch", "V75", "--", "ls"], "--arch is for a dry run; leave it out"),
        (["--output", "x.svg"], "--output is for a dry run; add --dry-run"),
        (["--core", "1", "--core", "1", "--", "ls"], "--core names a core twice"),
        (["--for", "0"], "not in the range"),
        (["--backend", "simulated", "--library", "/x.so", "--for", "1s"], "--library is for the vendor's library"),
        (["--backend", "simulated", "--core", "4", "--for", "1s"], "up to 3"),
        (["--"], "no command after --"),
        (["--for", "3s", "--"], "no command after --"),
        (["python3", "host.py"], "a command comes after --"),
        (["python3", "-c", "pass"], "a command comes after --"),
    ],
)
def test_options_that_do_not_go_together(command: Command, arguments: list[str], what: str) -> None:
    """Options of only a dry run, or only a device run, exclude each other, before anything is opened."""
    result = command.run("profile", "burst", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert what in result.stderr


def test_without_a_library_the_dry_run_is_named(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error suggests a dry run, unless --for or a command is given."""
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", "/nowhere/libQnnHtp.so")
    for arguments, named in (((), True), (("--for", "1s"), False), (("--", "true"), False)):
        result = command.run("profile", "burst", *arguments)
        assert (result.exit_code, "with --dry-run" in result.stderr) == (2, named), arguments


def test_a_wrong_name_suggests_the_nearest(command: Command) -> None:
    """A wrong profile, SoC or architecture is exit 2, with the nearest name."""
    for arguments, near in (
        (["brust", "--dry-run"], "burst"),
        (["burst", "--dry-run", "--soc", "SM865"], "SM8650"),
        (["burst", "--dry-run", "--arch", "V74"], "V75"),
    ):
        result = command.run("profile", *arguments)
        assert result.exit_code == 2
        assert near in result.stderr


def test_an_invalid_file_prints_every_problem_with_its_place(command: Command, tmp_path: Path) -> None:
    """The exit code is 2; each problem is one line with file, line, column and rule."""
    path = _write(tmp_path, "profile: mine\nextends: burst\nvotes:\n  dcvs_v3:\n    slep: 1\n    dcvs_enable: yes\n")
    result = command.run("profile", path, "--dry-run")
    assert result.exit_code == 2
    assert f"{path}:5:5: KEY-1" in result.stderr
    assert f"{path}:6:18: YAML-3" in result.stderr


def test_a_profile_that_a_rule_refuses_is_exit_1(command: Command, tmp_path: Path) -> None:
    """A well-formed profile that breaks a rule, on its own or on this platform, is exit 1."""
    path = _write(tmp_path, "profile: mine\nextends: burst\nvotes: {rpc_polling_time_us: 10000}\n")
    result = command.run("profile", path, "--dry-run")
    assert (result.exit_code, "RPC-1" in result.stderr) == (1, True)
    path = _write(tmp_path, "profile: mine\nextends: burst\nvotes: {ddr_perf_mode: true}\n")
    result = command.run("profile", path, "--dry-run")
    assert (result.exit_code, "DDR-1" in result.stderr) == (1, True)


def test_a_warning_is_shown_and_no_error(command: Command, tmp_path: Path) -> None:
    """The profile runs, and the summary shows the warning."""
    path = _write(tmp_path, "profile: mine\nextends: burst\nrelax: {after_inference_us: 5000}\n")
    assert "SUS-1" in command.output("profile", path, "--dry-run")


@pytest.mark.parametrize(
    "arguments",
    [
        ["burst", "--dry-run", "--backend", "simulated"],
        ["burst", "--dry-run", "--soc", "SM8650", "--arch", "V75"],
        ["burst", "--dry-run", "--inferences", "-1"],
        ["burst", "--dry-run", "--gap-us", "x"],
        ["burst", "--dry-run", "--format", "xml"],
        [],
    ],
)
def test_usage_errors_are_exit_2(command: Command, arguments: list[str]) -> None:
    """The error shows the usage."""
    result = command.run("profile", *arguments)
    assert result.exit_code == 2
    assert "Usage" in result.stderr


def test_the_text_says_what_was_run_and_that_nothing_was_sent(command: Command) -> None:
    """The head names profile, file, platform and workload, and says that no hardware was touched."""
    text = command.output("profile", "burst", "--dry-run", "--soc", "57")
    for words in ("burst: Highest clocks", "<profiles>", "SM8650", "Hexagon V75", "nothing was sent to hardware"):
        assert words in text
