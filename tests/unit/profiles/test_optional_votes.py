"""CENG, DCVS_V3_EXP and CENG_EXP in files: optional, and otherwise like other votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft7Validator
from support.helpers import ceng, ceng_exp, expanded, hvx_exp

from htppower import ProfileError, RuleBreach, load_profile
from htppower.hosts.qnn_provider import provider_options
from htppower.profiles.fields import profile_fields
from htppower.tools.review.diff.effects import Effect, effect_of
from htppower.tools.review.json_schema import json_schema
from htppower.votes.corners import ClkPerfMode, PowerMode
from htppower.votes.options import BY_FIELD
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

EXPANDED = """\
  dcvs_v3: unset
  dcvs_v3_exp:
    power_mode: PERFORMANCE
    sleep_latency_us: 40
    sleep_disable: unset
    bus: {min: NOM, target: TUR_L1, max: TUR_L3}
    core: NOM_L0
    core_perf_mode: HIGH_D3
    bus_perf_mode: HIGH
  hmx_v2: default
"""
CENG = "  ceng: {min: SVS, target: NOM, max: TURBO, perf_mode: LOW}\n"
CENG_EXP = "  ceng_exp: {min: SVS, target: NOM, max: TUR, perf_mode: HIGH_D2}\n"
OPTIONAL = ["dcvs_v3_exp", "ceng", "ceng_exp"]


def write(tmp_path: Path, votes: str, extends: str = "burst") -> Path:
    """Write a profile that extends another, and return its path."""
    path = tmp_path / "mine.yaml"
    path.write_text(f"profile: mine\nextends: {extends}\nsummary: Mine.\nvotes:\n{votes}", encoding="utf-8")
    return path


def test_these_and_no_others_may_be_left_out() -> None:
    """Only these three votes are optional; no shipped profile has one, and an unset one is not listed."""
    assert [name for name, about in BY_FIELD.items() if about.optional] == OPTIONAL
    listed = {at[1] for at, _ in profile_fields(load_profile("burst")) if at[0] == "votes"}
    assert not listed & set(OPTIONAL)


def test_they_are_read(tmp_path: Path) -> None:
    """Every field of the three is read, with one corner or three; the word unset gives None."""
    votes = load_profile(write(tmp_path, EXPANDED + CENG_EXP)).votes
    bus = expanded("NOM", "TUR_L1", "TUR_L3")
    mode = ClkPerfMode.HIGH_D3
    expected = hvx_exp("NOM_L0", sleep_latency_us=40, bus=bus, core_perf_mode=mode, power_mode=PowerMode.PERFORMANCE)
    assert votes.dcvs_v3 is None
    assert votes.dcvs_v3_exp == votes.hvx == expected
    assert votes.ceng_exp is not None
    assert votes.ceng_exp.perf_mode is ClkPerfMode.HIGH_D2
    plain = load_profile(write(tmp_path, f"{CENG}  ceng_exp: unset\n")).votes
    assert plain.ceng is not None
    assert (plain.ceng.max.name, plain.ceng_exp, plain.hvx) == ("TURBO", None, plain.dcvs_v3)


@pytest.mark.parametrize(
    ("votes", "rule", "line"),
    [
        (EXPANDED.replace("dcvs_v3: unset", "rpc_polling_time_us: 0"), "DCVS-5", 7),
        (EXPANDED.replace("core: NOM_L0", "core: TURBO"), "VALUE-1", 11),
        (EXPANDED.replace("    core_perf_mode: HIGH_D3\n", ""), "KEY-2", 6),
        (EXPANDED.replace("sleep_latency_us: 40", "sleep_latency_us: 9"), "DCVS-1", 8),
        (CENG.replace("SVS", "TUR"), "VALUE-1", 5),
        (CENG.replace("TURBO", "SVS2"), "CENG-4", 5),
        (CENG + CENG_EXP, "CENG-3", 6),
        ("  ceng: default\n", "TYPE-1", 5),
        (f"  dcvs_v3: {{core: DISABLE, bus: DISABLE}}\n{CENG}", "CENG-2", 6),
    ],
)
def test_what_is_wrong_with_them_is_told_where_it_stands(tmp_path: Path, votes: str, rule: str, line: int) -> None:
    """A mistake in one of the three has its rule and its line."""
    with pytest.raises(ProfileError) as raised:
        load_profile(write(tmp_path, votes))
    assert [(problem.rule, problem.line) for problem in raised.value.problems] == [(rule, line)]
    assert isinstance(raised.value, RuleBreach) == (rule[:4] in ("DCVS", "CENG"))


@pytest.mark.parametrize("votes", [EXPANDED + CENG_EXP, EXPANDED + CENG, CENG, f"{CENG}  ceng_exp: unset\n"])
def test_the_schema_accepts_them(tmp_path: Path, votes: str) -> None:
    """A file that loads fits the schema."""
    text = write(tmp_path, votes).read_text(encoding="utf-8")
    assert list(Draft7Validator(json_schema("profile")).iter_errors(yaml.safe_load(text))) == []


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, False),
        ({"ceng": {"min": "SVS", "target": "NOM", "max": "NOM", "perf_mode": "LOW"}}, False),
        ({"ceng": "unset"}, False),
        ({"ceng": {"min": "SVS", "target": "NOM", "max": "NOM"}}, True),
        ({"ceng": {"min": "SVS", "target": "TUR", "max": "NOM", "perf_mode": "LOW"}}, True),
        ({"ceng": {}, "ceng_exp": {}}, True),
        ({"dcvs_v3": "unset", "hmx_v2": "default"}, True),
        (yaml.safe_load(EXPANDED), False),
        ({**yaml.safe_load(EXPANDED), "ddr_perf_mode": True}, True),
        ({"dcvs_v3_exp": yaml.safe_load(EXPANDED)["dcvs_v3_exp"]}, True),
    ],
)
def test_the_schema_says_what_a_rule_between_them_says(changes: dict[str, Any], wrong: bool) -> None:
    """For a file with every field, the schema has the rules between these votes, too."""
    source = load_profile("burst").source
    assert source is not None
    tree = yaml.safe_load(source.read_text(encoding="utf-8"))
    tree["votes"] |= changes
    assert bool(list(Draft7Validator(json_schema("profile")).iter_errors(tree))) is wrong


def test_lint_and_explain_tell_them(command: Command, tmp_path: Path) -> None:
    """Lint finds nothing in a valid file, and explain shows value, native form, rules and section of each vote."""
    path = str(write(tmp_path, EXPANDED + CENG_EXP))
    assert command.output("lint", "--strict", path).endswith(": no findings\n")
    told = command.output("explain", path, "ceng_exp")
    assert "CENG_EXP, option 10" in told
    assert "cengVoltageCornerMin 384 DCVS_EXP_VCORNER_SVS" in told
    assert "CENG-1" in told
    assert "setCoreParams 1" in command.output("explain", path, "dcvs_v3_exp.core")
    assert "busPerfMode 0 QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_HIGH" in command.output("explain", path, "bus_perf_mode")


def test_lint_tells_what_a_power_state_leaves_up(command: Command, tmp_path: Path) -> None:
    """Lint warns if a power state keeps the compression engine's clock as high as its profile."""
    (tmp_path / "states").mkdir()
    state = f"state: busy\nextends: relaxed\nsummary: Busy.\nvotes:\n{CENG}"
    (tmp_path / "states" / "busy.yaml").write_text(state, encoding="utf-8")
    path = write(tmp_path, f"{CENG}relax: {{to: busy}}\n")
    found = command.run("lint", str(path), columns=500).stdout
    assert "REV-3 busy does not lower the CENG clock" in found


def test_a_dry_run_shows_them(command: Command, tmp_path: Path) -> None:
    """The run lists every vote in the vendor's words, draws both kinds of corners, and names missing votes."""
    path = str(write(tmp_path, EXPANDED + CENG_EXP))
    told = " ".join(command.output("profile", path, "--dry-run", "--arch", "V85").split())
    assert "powerMode PERFORMANCE_MODE corePerfMode HIGH_D3 busPerfMode HIGH" in told
    assert "busVoltageCorner NOM / TUR_L1 / TUR_L3" in told
    assert "CENG_EXP cengPerfMode HIGH_D2" in told
    picture = command.output("profile", path, "--dry-run", "--arch", "V85", "--format", "svg")
    assert picture.index(">NOM_L0<") < picture.index(">SVS<")
    for form in ("html", "trace", "json"):
        assert "TUR_L1" in command.output("profile", path, "--dry-run", "--arch", "V85", "--format", form)
    assert "degraded    DCVS-6" in command.output("profile", path, "--dry-run", "--arch", "V81")


def effect(name: str, old: Any, new: Any) -> Effect:
    """Return the effect of another value of a vote."""
    before, after = (VoteSet(dcvs_v3_exp=hvx_exp(), **{name: vote}) for vote in (old, new))
    return effect_of(("votes", name), old, new, before, after)


def test_the_effects_of_the_compression_engines_clock() -> None:
    """A higher corner raises power, a lower corner lowers it, default and no vote are equal, and forms compare."""
    assert effect("ceng", None, ceng("NOM")) is Effect.RAISES_POWER
    assert effect("ceng", ceng("NOM"), ceng("SVS")) is Effect.LOWERS_POWER
    assert effect("ceng", ceng("MIN_VOLTAGE_CORNER"), None) is Effect.WORDING
    assert effect("ceng_exp", ceng_exp("NOM"), ceng_exp("NOM_L1")) is Effect.RAISES_POWER


def test_the_effect_of_another_form(command: Command, tmp_path: Path) -> None:
    """For a change between the forms, the effect is what happens to each clock."""
    told = command.run("diff", "burst", str(write(tmp_path, EXPANDED))).stdout.split()
    assert told[told.index("dcvs_v3_exp.core") :][1:6] == ["MAX_VOLTAGE_CORNER", "(dcvs_v3)", "->", "NOM_L0", "lowers"]
    at_the_top = hvx_exp("MAX")
    burst = load_profile("burst").votes
    core = burst.hvx.core if burst.hvx else None
    changed = VoteSet(dcvs_v3_exp=at_the_top, hmx_v2=burst.hmx_v2)
    assert effect_of(("votes", "dcvs_v3_exp", "core"), core, at_the_top.core, burst, changed) is Effect.WORDING
    lower = VoteSet(dcvs_v3_exp=hvx_exp("TUR"))
    assert effect_of(("votes", "dcvs_v3_exp", "core"), core, expanded("TUR"), burst, lower) is Effect.LOWERS_POWER


def test_the_provider_can_not_express_them(tmp_path: Path) -> None:
    """The nearest mode is found by expanded corners, too, and each of these votes is listed as missing there."""
    made = provider_options(write(tmp_path, EXPANDED + CENG_EXP))
    assert made.options["htp_performance_mode"] == "low_balanced"
    lost = {each.field[1] for each in made.unexpressed if each.field[0] == "votes"}
    assert {"dcvs_v3_exp", "ceng_exp"} <= lost


VOTE_TEST = """\
test: mine
summary: The expanded votes arrive, and are taken back.
profile: ../mine.yaml
platform: {{arch: V85}}
cases:
  - case: one inference
    sequence:
      - inference_us: 5000
      - idle_us: 400000
    expect:
      - at_us: 0
        state: RAISED
        votes:
          dcvs_v3_exp: {{core: {core}, core_perf_mode: HIGH_D3}}
          ceng_exp: {{min: SVS, target: NOM, max: TUR, perf_mode: HIGH_D2}}
        sent: [DCVS_V3_EXP, HMX_V2, CENG_EXP, RPC_CONTROL_LATENCY, RPC_POLLING_TIME]
        degraded: []
      - at_us: 350000
        state: LOWERED
        votes:
          dcvs_v3: {{core: {{min: SVS2, target: SVS, max: SVS}}}}
          dcvs_v3_exp: unset
          ceng_exp: {{min: MIN, target: MIN, max: MIN, perf_mode: HIGH}}
"""


def test_vote_tests_expect_them(command: Command, tmp_path: Path) -> None:
    """A test can expect the three, fails if one differs, and its coverage lists the fields that no test checks."""
    write(tmp_path, EXPANDED + CENG_EXP)
    (tmp_path / "tests").mkdir()
    file = tmp_path / "tests" / "mine.yaml"
    file.write_text(VOTE_TEST.format(core="NOM_L0"), encoding="utf-8")
    told = command.output("test", str(file), "--coverage")
    assert "1 case in 1 file passed" in told
    for unseen in ("dcvs_v3_exp.bus", "dcvs_v3_exp.sleep_latency_us"):
        assert unseen in told
    assert "ceng_exp " not in told
    file.write_text(VOTE_TEST.format(core="NOM"), encoding="utf-8")
    failed = command.run("test", str(file))
    assert failed.exit_code == 1
    assert "dcvs_v3_exp.core" in failed.stdout
