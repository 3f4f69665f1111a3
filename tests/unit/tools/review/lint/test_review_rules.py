"""The review rules: their findings, and cases without a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.linted import TODAY, found, write
from support.shipped import shipped_folder

from htppower.tools.review.lint.run import lint

if TYPE_CHECKING:
    from pathlib import Path

STATE = """\
state: {name}
summary: Low.
votes:
  dcvs_v3:
    dcvs_enable: true
    power_mode: POWER_SAVER
    sleep_latency_us: 2000
    sleep_disable: unset
    bus: {bus}
    core: {core}
  hmx_v2: default
  rpc_control_latency_us: unset
  rpc_polling_time_us: {polling}
  adaptive_polling_time_us: {adaptive}
  hmx_timeout_us: unset
  ddr_perf_mode: unset
"""


def state(name: str, core: str = "SVS", bus: str = "SVS", polling: int = 0, adaptive: str = "unset") -> str:
    """Return a power state file."""
    return STATE.format(name=name, core=core, bus=bus, polling=polling, adaptive=adaptive)


def test_a_field_that_one_profile_states_and_another_leaves_unset(tmp_path: Path) -> None:
    """REV-1 is at the unset field and names the other profile; it does not apply if all or none state the field."""
    states = "profile: {}\nextends: burst\nvotes: {{hmx_timeout_us: {}}}\n"
    write(tmp_path, one=states.format("one", 500), two=states.format("two", "unset"))
    assert found(tmp_path) == ["two.yaml:3:25 REV-1"]
    assert "which one states" in lint([tmp_path], TODAY).findings[0].message
    write(tmp_path, two=states.format("two", 600))
    assert found(tmp_path) == []
    write(tmp_path, one=states.format("one", "unset"), two=states.format("two", "unset"))
    assert found(tmp_path) == []


def test_a_field_that_the_shipped_profiles_state(tmp_path: Path) -> None:
    """REV-1 compares with the shipped profiles too; a profile without votes leaves no field out."""
    write(tmp_path, mine="profile: mine\nextends: burst\nvotes: {rpc_control_latency_us: unset}\n")
    assert found(tmp_path) == ["mine.yaml:3:33 REV-1"]
    write(tmp_path, mine="profile: mine\nsummary: None.\nvotes: unset\nrelax: unset\n")
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("base", "votes", "expected"),
    [
        ("balanced", "dcvs_v3: {core: TURBO}", []),
        ("balanced", "dcvs_v3: {core: TURBO_PLUS}", ["core TURBO_PLUS"]),
        ("balanced", "dcvs_v3: {sleep_latency_us: 99}", []),
        ("balanced", "dcvs_v3: {sleep_disable: true}", ["sleep_disable true"]),
        ("balanced", "hmx_timeout_us: 400000", ["hmx_timeout_us 400000"]),
        ("balanced", "hmx_timeout_us: 200000", []),
        ("power_saver", "dcvs_v3: {dcvs_enable: true, core: {min: SVS, target: SVS, max: DISABLE}}", ["core"]),
        ("low_balanced", "dcvs_v3: {bus: TURBO}", ["bus TURBO"]),
        ("low_balanced", "dcvs_v3: {dcvs_enable: true, bus: {min: SVS, target: SVS, max: TURBO}}", ["bus"]),
        ("low_balanced", "dcvs_v3: {dcvs_enable: false, bus: {min: SVS, target: SVS, max: TURBO}}", []),
        ("low_balanced", "rpc_polling_time_us: 10", ["rpc_polling_time_us 10"]),
        ("balanced", "rpc_polling_time_us: 10", []),
        ("power_saver", "hmx_v2: {min: NOM, target: NOM, max: NOM, perf_mode: LOW}", ["hmx_v2"]),
        ("power_saver", "hmx_v2: {min: SVS, target: SVS, max: SVS, perf_mode: LOW}", []),
        ("burst", "dcvs_v3: {sleep_latency_us: 10}", []),
        ("extreme_power_saver", "dcvs_v3: {core: DISABLE}", []),
    ],
)
def test_a_profile_that_costs_more_than_one_above_it(
    tmp_path: Path, base: str, votes: str, expected: list[str]
) -> None:
    """REV-2 is at each field that costs more than in a profile above it in the vendor's table, nearest first."""
    write(tmp_path, mine=f"profile: mine\nextends: {base}\nsummary: Mine.\nvotes: {{{votes}}}\n")
    told = [finding for finding in lint([tmp_path], TODAY).findings if finding.rule == "REV-2"]
    assert len(told) == len(expected)
    assert all(finding.message.startswith(said) for finding, said in zip(told, expected, strict=True))
    assert all(finding.line == 4 for finding in told)


@pytest.mark.parametrize(
    ("core", "bus", "expected"),
    [
        ("SVS", "SVS", []),
        ("DISABLE", "DISABLE", []),
        ("unset", "unset", []),
        ("NOM_PLUS", "SVS", ["core"]),
        ("TURBO", "NOM_PLUS", ["core", "bus"]),
        ("{min: SVS2, target: SVS, max: TURBO}", "SVS", []),
    ],
)
def test_an_active_profile_without_a_way_down(tmp_path: Path, core: str, bus: str, expected: list[str]) -> None:
    """REV-3 is at the name of the power state, for each clock that stays where the profile holds it."""
    mine = "profile: mine\nextends: balanced\nrelax: {to: low}\n"
    write(tmp_path, mine=mine, states__low=state("low", core=core, bus=bus))
    report = lint([tmp_path], TODAY)
    said = [finding.message for finding in report.findings if finding.rule == "REV-3"]
    assert [clock for clock in ("core", "bus") if any(f"the {clock} clock:" in message for message in said)] == expected
    assert {str(finding.place) for finding in report.findings if finding.rule == "REV-3"} <= {
        f"{tmp_path / 'mine.yaml'}:3:13"
    }


def test_a_profile_that_raises_nothing_needs_no_way_down(tmp_path: Path) -> None:
    """REV-3 does not apply if the core target is DISABLE."""
    mine = "profile: mine\nextends: extreme_power_saver\nrelax: {to: low}\n"
    write(tmp_path, mine=mine, states__low=state("low"))
    assert not [line for line in found(tmp_path) if line.endswith("REV-3")]


def test_polling_left_on_by_a_power_state(tmp_path: Path) -> None:
    """REV-4 is at the polling time of the power state; if a profile is linted alone, at the state's name."""
    mine = "profile: mine\nextends: burst\nrelax: {to: low}\n"
    write(tmp_path, mine=mine, states__low=state("low", polling=100, adaptive="2000"))
    assert found(tmp_path) == ["states/low.yaml:13:24 REV-4", "states/low.yaml:14:29 REV-4"]
    assert found(tmp_path, tmp_path / "mine.yaml") == ["mine.yaml:3:13 REV-4"] * 2


def test_an_unused_power_state(tmp_path: Path) -> None:
    """REV-5: a power state is used if a profile next to it names it, whether that profile is linted or not."""
    write(tmp_path, mine="profile: mine\nextends: burst\nrelax: {to: low}\n", states__low=state("low"))
    write(tmp_path, states__high=state("high"))
    assert found(tmp_path) == ["states/high.yaml:1:8 REV-5"]
    assert found(tmp_path, tmp_path / "states" / "low.yaml") == []
    assert found(tmp_path, tmp_path / "states" / "high.yaml") == ["states/high.yaml:1:8 REV-5"]


def test_a_power_state_that_a_profile_elsewhere_uses(tmp_path: Path) -> None:
    """REV-5: a linted profile in another folder counts as a user."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write(tmp_path / "a", states__low=state("low"))
    write(tmp_path / "b", mine="profile: mine\nextends: burst\nrelax: {to: ../a/states/low.yaml}\n")
    assert found(tmp_path, tmp_path / "a") == ["a/states/low.yaml:1:8 REV-5"]
    assert found(tmp_path) == []


def test_a_file_name_that_is_not_the_profiles_name(tmp_path: Path) -> None:
    """REV-6 is at the name in the file of a profile or a power state."""
    other = "profile: other\nextends: burst\nrelax: {to: low}\n"
    write(tmp_path, mine=other, states__low=state("high"))
    assert found(tmp_path) == ["mine.yaml:1:10 REV-6", "states/low.yaml:1:8 REV-6"]


@pytest.mark.parametrize("name", ["../evil", "a/b", "a b", ".."])
def test_what_is_not_a_name_is_no_name_for_a_file(tmp_path: Path, name: str) -> None:
    """REV-6 would suggest such a name for the file; VALUE-1 explains names."""
    write(tmp_path, mine=f"profile: {name}\nextends: burst\n")
    assert found(tmp_path) == ["mine.yaml:1:10 VALUE-1"]


def test_a_name_that_leads_elsewhere(tmp_path: Path) -> None:
    """REV-7: a file with a shipped name, or with the name of a file next to it, is never found by name."""
    write(tmp_path, burst="profile: burst\nextends: balanced\n", mine="profile: mine\nextends: burst\n")
    (tmp_path / "mine.yml").write_text("profile: mine\nextends: balanced\n", encoding="utf-8")
    assert found(tmp_path) == ["burst.yaml:1:10 REV-7", "mine.yml:1:10 REV-7"]
    assert "shipped burst.yaml" in lint([tmp_path], TODAY).findings[0].message


def test_a_profile_without_any_hvx_vote_leaves_it_unstated(tmp_path: Path) -> None:
    """REV-1: if the whole HVX vote is unset, the finding is about the HVX vote."""
    text = (shipped_folder() / "burst.yaml").read_text(encoding="utf-8").replace("profile: burst", "profile: mine")
    start, end = text.index("  dcvs_v3:"), text.index("  hmx_v2:")
    write(tmp_path, mine=f"{text[:start]}  dcvs_v3: unset\n{text[end:].replace('hmx_v2: default', 'hmx_v2: unset')}")
    told = [finding.message for finding in lint([tmp_path], TODAY).findings if finding.rule == "REV-1"]
    assert any("leaves dcvs_v3 unset" in message for message in told)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sleep_disable: unset", "sleep_disable: true", "keeps the DSP from sleeping"),
        ("sleep_latency_us: 2000", "sleep_latency_us: 10", "sleep latency of 10 us, mine 40 us"),
        (
            "hmx_v2: default",
            "hmx_v2: {min: MAX, target: MAX, max: MAX, perf_mode: HIGH}",
            "does not lower the HMX clock",
        ),
    ],
)
def test_a_power_state_that_leaves_other_votes_up(tmp_path: Path, old: str, new: str, said: str) -> None:
    """REV-3 checks the HMX, sleep_disable and the sleep latency too."""
    mine = "profile: mine\nextends: burst\nrelax: {to: low}\n"
    write(tmp_path, mine=mine, states__low=state("low").replace(old, new))
    told = [finding.message for finding in lint([tmp_path], TODAY).findings if finding.rule == "REV-3"]
    assert [said in message for message in told] == [True]


def test_dcvs_may_be_the_way_down(tmp_path: Path) -> None:
    """REV-3: a state with DCVS that may lower the clock below the profile's is a way down."""
    write(tmp_path, mine="profile: mine\nextends: power_saver\nrelax: {to: relaxed}\n")
    assert not [line for line in found(tmp_path) if line.endswith("REV-3")]


def test_a_refused_profile_is_no_measure_for_others(tmp_path: Path) -> None:
    """REV-1 ignores values that only an invalid profile states."""
    wrong = "profile: wrong\nextends: burst\nvotes: {hmx_timeout_us: 500, rpc_polling_time_us: 10000}\n"
    write(tmp_path, mine="profile: mine\nextends: burst\n", wrong=wrong)
    assert [line for line in found(tmp_path) if line.startswith("mine")] == []
