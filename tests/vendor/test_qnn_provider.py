"""The real QNN provider: the votes of its options, from the library's log, and no votes besides ours."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import attrs
import pytest
from support.checkout import TESTS
from support.vendorlib import decoded

from htppower import load_profile, profile_names
from htppower.hosts.qnn_provider import modes, provider_options
from htppower.tools.review.settings_check import check
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.options import VOTE_OPTIONS, Option

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.votes.vote_set import VoteSet

pytestmark = pytest.mark.needs("provider")

MODES = modes()
# The setting after a run, so that only the setting itself is found.
LOWERED = {"qnn.htp_perf_mode_post_run": "low_power_saver"}
PROCESS = TESTS / "support" / "processes" / "npu_provider.py"
LINE = re.compile(r"(?:.*QnnLogging\])?\s*(?:<\w> )?(?P<text>.*)")
SET = re.compile(r"htpPerfInfrastructureSetPowerConfig started for powerConfigId: (-?\d+)")


@pytest.fixture(scope="module")
def parts(vendors_library: Path) -> dict[str, list[str]]:
    """Return the log of the library by parts, from one separate process."""
    done = subprocess.run(
        # Unbuffered, so that the output of the libraries is in order.
        [sys.executable, "-u", str(PROCESS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=300,
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[-1]) == (0, "ok"), done.stdout[-2000:]
    found: dict[str, list[str]] = {"": []}
    part = ""
    for line in lines:
        if line.startswith("## "):
            part = line.removeprefix("## ")
            found[part] = []
        elif match := LINE.fullmatch(line):
            found[part].append(match["text"])
    return found


def cast(lines: list[str]) -> dict[str, dict[str, int]]:
    """Return the decoded votes by option, without the id."""
    votes = decoded(logging.makeLogRecord({"msg": line}) for line in lines)
    assert len({option for option, _ in votes}) == len(votes)
    return {option: {name: value for name, value in fields.items() if name != "contextId"} for option, fields in votes}


def expected(votes: VoteSet) -> dict[str, dict[str, int]]:
    """Return the log that a vote set must give."""
    found: dict[str, dict[str, int]] = {}
    for config in votes.native(0):
        fields = {name: value for name, value in config.fields.items() if name != "contextId"}
        dcvs = config.option == "DCVS_V3"
        found["DCVS_V3" if dcvs else config.option.lower()] = fields if dcvs else {"value": next(iter(fields.values()))}
    return found


# The fields of an HVX vote by the members of the struct.
FIELD_OF = {
    member: field.name
    for field in VOTE_OPTIONS[Option.DCVS_V3].fields
    for member in (*field.native, *([field.flag] if field.flag else []))
}


def calls(lines: list[str]) -> list[int]:
    """Return the ids of the setPowerConfig calls."""
    return [int(match[1]) % 2**32 for match in map(SET.search, lines) if match]


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_votes_what_the_table_says(parts: dict[str, list[str]], mode: str) -> None:
    """One call as the model loads, with exactly these votes; no call for "default", or while it runs and ends."""
    assert cast(parts[f"mode {mode}"]) == expected(MODES[mode])
    assert len(calls(parts[f"mode {mode}"])) == bool(MODES[mode])
    assert calls(parts[f"mode {mode} runs"]) == []


@pytest.mark.parametrize("name", profile_names())
def test_the_options_of_a_profile(parts: dict[str, list[str]], name: str) -> None:
    """The provider accepts them, and votes the mode and the control latency; all other differences are named."""
    made, profile = provider_options(name), load_profile(name)
    mode = MODES[made.options["htp_performance_mode"]]
    voted = attrs.evolve(mode, rpc_control_latency_us=profile.votes.rpc_control_latency_us)
    log = cast(parts[f"profile {name}"])
    assert log == expected(voted)
    # For votes that no mode has, the whole vote must be named.
    voted_elsewhere = {name: None for name in ("hmx_v2", "ceng", "ddr_perf_mode") if getattr(profile.votes, name)}
    wanted = {} if not profile.votes else expected(attrs.evolve(profile.votes, **voted_elsewhere))
    named = {item.field[-1] for item in made.unexpressed}
    assert {name for name in voted_elsewhere if getattr(profile.votes, name) != HMX_DEFAULT} <= named
    for option in wanted.keys() | log.keys():
        for field in wanted.get(option, log.get(option, {})):
            if wanted.get(option, {}).get(field) != log.get(option, {}).get(field):
                assert (f"{option}_us" if field == "value" else FIELD_OF[field]) in named
    assert calls(parts[f"profile {name} runs"]) == []


def test_run_and_dynamic_options_vote(parts: dict[str, list[str]]) -> None:
    """Options that the wrapper refuses do vote, and "default" does not; the end of the model resets no vote."""
    assert cast(parts["run qnn.htp_perf_mode burst"]) == expected(MODES["burst"])
    assert cast(parts["run qnn.htp_perf_mode_post_run power_saver"]) == expected(MODES["power_saver"])
    assert cast(parts["run qnn.rpc_control_latency 100"]) == {"rpc_control_latency": {"value": 100}}
    assert calls(parts["run qnn.htp_perf_mode default"]) == []
    assert cast(parts["dynamic"])["DCVS_V3"] == expected(MODES["high_performance"])["DCVS_V3"]
    assert calls(parts["gone"]) == []


@pytest.mark.parametrize(
    ("part", "finds"),
    [
        ("given htp_performance_mode=BURST", ""),
        ("given htp_performance_mode=turbo", "SET-2"),
        ("given htp_performance_mode=2", "SET-4"),
        ("given qnn.perf_mode=burst", "SET-1"),
        ("given perf_profile=burst", "SET-1"),
        ("given htp_perf_mode=burst", "SET-1"),
        ("run qnn.perf_mode burst", "SET-1"),
        ("run htp_performance_mode burst", "SET-1"),
        ("run qnn.htp_perf_mode turbo", "SET-2"),
        ("run qnn.htp_perf_mode BURST", ""),
    ],
)
def test_the_provider_votes_for_a_setting_unless_the_check_finds_something(
    parts: dict[str, list[str]], part: str, finds: str, tmp_path: Path
) -> None:
    """A setting with a finding sends no vote, and every other setting sends burst's votes."""
    kind, _, said = part.partition(" ")
    key, value = said.replace("=", " ").split()
    where = "run_options" if kind == "run" else "provider_options"
    file = tmp_path / "options.json"
    file.write_text(json.dumps({where: {key: value, **LOWERED}}), encoding="utf-8")
    assert [finding.rule for finding in check([str(file)]).report.findings] == ([finds] if finds else [])
    log = cast(parts[part])
    # In the same session, a vote in force is not sent again.
    assert log.get("DCVS_V3") == (None if finds else expected(MODES["burst"])["DCVS_V3"])
    assert bool(log) is not bool(finds)


def test_votes_are_cast_once(parts: dict[str, list[str]]) -> None:
    """With the wrapper, all calls to the library are the controller's."""
    (said,) = (part for part in parts if part.startswith("calls "))
    recorded = json.loads(said.removeprefix("calls "))
    # INIT, three runs, DE-INIT: each raised and lowered; and the process's settings, at first and after INIT.
    assert len(recorded) == 12
    assert calls(parts["controller"]) == recorded


def test_the_short_example_of_the_docs(parts: dict[str, list[str]]) -> None:
    """The example runs unchanged, with a model and inputs."""
    assert "outputs (16, 4)" in parts
