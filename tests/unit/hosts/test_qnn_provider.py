"""Profiles as options of the QNN execution provider: the nearest mode, and the fields that it can't express."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import explicit_hmx, voting

from htppower import load_profile, profile_names
from htppower.hosts.qnn_provider import modes, provider_options
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.votes.clock_votes import DcvsV3, VoltageRange
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Profile

MODES = modes()
RELAX = ["relax.to", "relax.after_init_us", "relax.after_inference_us", "relax.lowering", "relax.after_deinit_to"]
POLLING = "votes.rpc_polling_time_us"
DCVS = "votes.dcvs_v3.dcvs_enable"
EXPECTED = {
    "burst": ("burst", []),
    "sustained_high_performance": ("high_performance", [POLLING]),
    "high_performance": ("high_performance", [POLLING]),
    "balanced": ("balanced", [DCVS, POLLING]),
    "low_balanced": ("low_balanced", [DCVS, POLLING]),
    "high_power_saver": ("high_power_saver", [DCVS, POLLING]),
    "power_saver": ("power_saver", [DCVS, POLLING]),
    "low_power_saver": ("low_power_saver", [DCVS, POLLING]),
    "extreme_power_saver": ("extreme_power_saver", [DCVS, "votes.dcvs_v3.power_mode", POLLING]),
}


def fields(profile: Profile | str) -> list[str]:
    """Return the fields of a profile that the provider can't express."""
    return [".".join(item.field) for item in provider_options(profile).unexpressed]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_shipped_profile_that_votes(name: str) -> None:
    """Its mode has its clocks and control latency, and every difference is listed, always with the relaxing."""
    mode, unexpressed = EXPECTED[name]
    assert provider_options(name).options == {"htp_performance_mode": mode, "rpc_control_latency": "100"}
    assert fields(name) == [*unexpressed, *RELAX]


def test_the_profile_without_votes() -> None:
    """system_settings is the default mode, and nothing is left unexpressed."""
    assert set(profile_names()) == {*EXPECTED, "system_settings", *LLM_DECODE_PROFILES}
    made = provider_options("system_settings")
    assert (made.options, made.unexpressed) == ({"htp_performance_mode": "default"}, ())


def test_what_is_said_of_a_field() -> None:
    """A difference names the profile's value, and what the provider does instead."""
    said = {".".join(item.field): item for item in provider_options("balanced").unexpressed}
    assert (said[DCVS].says, said[DCVS].instead) == ("false", "true")
    assert str(said[POLLING]) == f"{POLLING}: 0; the provider: no vote: it stays as it is in the process"
    assert said["relax.to"].instead == "votes stay up from INIT until the model is released"


def test_a_profile_with_other_votes_than_clocks() -> None:
    """Votes that no mode has are listed; the control latency is an option."""
    profile = voting(
        hmx_v2=explicit_hmx(ExpandedCorner.NOM),
        rpc_control_latency_us=250,
        adaptive_polling_time_us=2000,
        hmx_timeout_us=1000,
        ddr_perf_mode=True,
    )
    made = provider_options(profile)
    assert made.options == {"htp_performance_mode": "burst", "rpc_control_latency": "250"}
    names = ["hmx_v2", "adaptive_polling_time_us", "hmx_timeout_us", "ddr_perf_mode"]
    assert fields(profile) == [*(f"votes.{name}" for name in names), *RELAX]
    assert made.unexpressed[0].says == "{min: NOM, target: NOM, max: NOM, perf_mode: HIGH}"
    assert made.unexpressed[0].instead == "no vote"


@pytest.mark.parametrize("name", MODES)
def test_the_votes_of_a_mode_are_expressed_by_it(name: str) -> None:
    """A profile with just a mode's votes is that mode, without a difference; of equal modes it is the highest."""
    profile = attrs.evolve(load_profile("burst"), name="mine", lineage=("mine",), votes=MODES[name], relax=None)
    made = provider_options(profile)
    assert (made.options, made.unexpressed) == ({"htp_performance_mode": name}, ())


def test_votes_that_say_what_holds_without_them_are_no_loss() -> None:
    """Default HMX, sleep not disabled, no control latency and no DDR mode are the state without votes, so no loss."""
    burst = load_profile("burst").votes
    assert burst.dcvs_v3 is not None
    dcvs = attrs.evolve(burst.dcvs_v3, sleep_disable=False)
    profile = voting(dcvs_v3=dcvs, rpc_control_latency_us=0, ddr_perf_mode=False)
    assert provider_options(profile).options == {"htp_performance_mode": "burst"}
    assert fields(profile) == RELAX


@pytest.mark.parametrize(
    ("corner", "mode"),
    [
        (VoltageCorner.TURBO_L5, "burst"),
        (VoltageCorner.TURBO_PLUS, "high_performance"),
        (VoltageCorner.NOM, "low_balanced"),
        (VoltageCorner.MIN_VOLTAGE_CORNER, "low_power_saver"),
    ],
)
def test_clocks_decide_before_anything_else(corner: VoltageCorner, mode: str) -> None:
    """The mode with the nearest corners is chosen, whatever other fields say; of two, the higher one."""
    burst = load_profile("burst").votes
    assert burst.dcvs_v3 is not None
    clocks = VoltageRange.at(corner)
    profile = voting(dcvs_v3=attrs.evolve(burst.dcvs_v3, core=clocks, bus=clocks))
    assert provider_options(profile).options["htp_performance_mode"] == mode
    assert ("votes.dcvs_v3.core" in fields(profile)) == (clocks != getattr(MODES[mode].dcvs_v3, "core", None))


@pytest.mark.parametrize("name", ["burst", "sustained_high_performance"])
def test_of_equal_modes_the_one_of_its_lineage(name: str) -> None:
    """If two modes are equally near, the mode in the profile's lineage is chosen."""
    profile = attrs.evolve(voting(rpc_polling_time_us=500), name="mine", lineage=("mine", name))
    assert provider_options(profile).options["htp_performance_mode"] == name


def test_a_profile_without_an_hvx_vote() -> None:
    """The provider then casts no clocks, only the control latency."""
    profile = attrs.evolve(load_profile("burst"), votes=VoteSet(rpc_control_latency_us=50, rpc_polling_time_us=9999))
    assert provider_options(profile).options == {"htp_performance_mode": "default", "rpc_control_latency": "50"}
    assert fields(profile) == [POLLING, *RELAX]


def test_clocks_that_a_profile_leaves_as_they_are() -> None:
    """A mode votes both clocks, so the bus is listed for a profile that leaves it alone."""
    burst = load_profile("burst").votes
    assert isinstance(burst.dcvs_v3, DcvsV3)
    profile = voting(dcvs_v3=attrs.evolve(burst.dcvs_v3, bus=None))
    (bus, *_) = provider_options(profile).unexpressed
    assert (bus.field, bus.says, bus.instead) == (("votes", "dcvs_v3", "bus"), "unset", "MAX_VOLTAGE_CORNER")


def test_a_profile_of_the_users(tmp_path: Path) -> None:
    """A file is loaded, and compared with its inherited fields."""
    path = tmp_path / "mine.yaml"
    text = "extends: high_performance\nprofile: mine\nvotes: {rpc_polling_time_us: unset}\n"
    path.write_text(text, encoding="utf-8")
    made = provider_options(path)
    assert made.options["htp_performance_mode"] == "high_performance"
    assert [".".join(item.field) for item in made.unexpressed] == RELAX
