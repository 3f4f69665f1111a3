"""Shipped profiles equal the vendor's table, have every field, and are found by name and by path."""

from __future__ import annotations

import inspect
from pathlib import Path, PurePosixPath
from typing import Any

import attrs
import pytest
import yaml
from support.helpers import corners
from support.profile_files import SHIPPED, relaxing, write

from htppower import Lowering, PowerState, Profile, ProfileError, load_profile, profile_names
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.profiles.profile import power_states
from htppower.votes.clock_votes import DcvsV3, HmxV2
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode
from htppower.votes.options import BY_FIELD
from htppower.votes.vote_set import VoteSet

# The vendor's table ("HTP Backend Extensions", perf_profile): sleep latency, polling, corner of bus and core, power
# state, sustain time, and the power state after DE-INIT, as the vendor's own voter has it.
VENDOR_TABLE = {
    "burst": (40, 9999, "MAX_VOLTAGE_CORNER", "relaxed_up_down", 300_000, "released_up_down"),
    "sustained_high_performance": (100, 9999, "TURBO", "relaxed_up_down", 300_000, "released_up_down"),
    "high_performance": (100, 9999, "TURBO", "relaxed_up_down", 0, "released_up_down"),
    "balanced": (1000, 0, "NOM_PLUS", "relaxed", 0, "released"),
    "low_balanced": (1000, 0, "NOM", "relaxed", 0, "released"),
    "high_power_saver": (1000, 0, "SVS_PLUS", "released", 0, "released"),
    "power_saver": (1000, 0, "SVS", "released", 0, "released"),
    "low_power_saver": (1000, 0, "SVS2", "released", 0, "released"),
    "extreme_power_saver": (1000, 0, "DISABLE", "extreme_released", 0, "extreme_released"),
}

# Power mode, sleep latency, and the minimum, target and maximum of bus and core.
VENDOR_STATES: dict[str, tuple[str, int, str, str, str]] = {
    "relaxed": ("POWER_SAVER", 2000, "SVS2", "SVS", "SVS"),
    "relaxed_up_down": ("ADJUST_UP_DOWN", 2000, "SVS2", "SVS", "SVS"),
    "released": ("POWER_SAVER", 65535, "MIN_VOLTAGE_CORNER", "MIN_VOLTAGE_CORNER", "MIN_VOLTAGE_CORNER"),
    "released_up_down": ("ADJUST_UP_DOWN", 65535, "MIN_VOLTAGE_CORNER", "MIN_VOLTAGE_CORNER", "MIN_VOLTAGE_CORNER"),
    "extreme_released": ("POWER_SAVER", 65535, "DISABLE", "DISABLE", "DISABLE"),
}

# The HMX clock follows the core clock; expanded corners of 0 are unset.
HMX_FOLLOWS = HmxV2(
    min=ExpandedCorner.DISABLE,
    target=ExpandedCorner.DISABLE,
    max=ExpandedCorner.DISABLE,
    perf_mode=ClkPerfMode.HIGH,
    pick_default=True,
)

DCVS_FIELDS = {"dcvs_enable", "power_mode", "sleep_latency_us", "sleep_disable", "bus", "core"}
VOTES_FIELDS = {
    *("dcvs_v3", "hmx_v2", "rpc_control_latency_us", "rpc_polling_time_us"),
    *("adaptive_polling_time_us", "hmx_timeout_us", "ddr_perf_mode"),
}
RELAX_FIELDS = {"to", "after_init_us", "after_inference_us", "lowering", "after_deinit_to"}


def shipped_tree(name: str) -> dict[str, Any]:
    """Return a shipped file as PyYAML reads it."""
    tree: dict[str, Any] = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text(encoding="utf-8"))
    return tree


@pytest.mark.parametrize("name", VENDOR_TABLE)
def test_a_shipped_profile_is_its_row_of_the_vendors_table(name: str) -> None:
    """Every cell equals the vendor's; DCVS is off and min = target = max, for both bus and core."""
    sleep_us, polling_us, corner, *_ = VENDOR_TABLE[name]
    profile = load_profile(name)
    assert profile.name == name
    assert profile.votes == VoteSet(
        dcvs_v3=DcvsV3(
            dcvs_enable=False,
            power_mode=PowerMode.PERFORMANCE,
            sleep_latency_us=sleep_us,
            sleep_disable=None,
            bus=corners(corner, corner, corner),
            core=corners(corner, corner, corner),
        ),
        hmx_v2=HMX_FOLLOWS,
        rpc_control_latency_us=100,
        rpc_polling_time_us=polling_us,
        adaptive_polling_time_us=None,
        hmx_timeout_us=None,
        ddr_perf_mode=None,
    )


@pytest.mark.parametrize("name", VENDOR_TABLE)
def test_a_shipped_profile_relaxes_as_the_vendor_says(name: str) -> None:
    """Power states and sustain time equal the vendor's; after INIT it lowers at once, on the caller's thread."""
    relax = relaxing(load_profile(name))
    assert (relax.to.name, relax.after_inference_us, relax.after_deinit_to.name) == VENDOR_TABLE[name][3:]
    assert (relax.after_init_us, relax.lowering) == (0, Lowering.FOREGROUND)


@pytest.mark.parametrize("name", VENDOR_STATES)
def test_a_shipped_power_state_is_the_vendors(name: str) -> None:
    """Every cell of the power state equals the vendor's; DCVS is on, for both bus and core."""
    mode, sleep_us, minimum, target, maximum = VENDOR_STATES[name]
    states = [state for profile in VENDOR_TABLE for _, state in power_states(load_profile(profile))]
    state = next(state for state in states if state.name == name)
    assert state == PowerState(
        name=name,
        summary=state.summary,
        votes=VoteSet(
            dcvs_v3=DcvsV3(
                dcvs_enable=True,
                power_mode=PowerMode[mode],
                sleep_latency_us=sleep_us,
                sleep_disable=None,
                bus=corners(minimum, target, maximum),
                core=corners(minimum, target, maximum),
            ),
            hmx_v2=HMX_FOLLOWS,
            rpc_control_latency_us=None,
            rpc_polling_time_us=0,
        ),
        source=state.source,
    )
    assert state.source is not None
    assert state.source.resolve() == (SHIPPED / "states" / f"{name}.yaml").resolve()


def test_system_settings_votes_on_nothing() -> None:
    """system_settings has no votes and no power state."""
    profile = load_profile("system_settings")
    assert (profile.name, profile.votes, profile.relax) == ("system_settings", VoteSet(), None)
    assert not profile.votes


def test_the_names_are_in_the_vendors_order() -> None:
    """The shipped profiles are listed from highest performance to lowest, and each loads."""
    assert profile_names() == (*VENDOR_TABLE, "system_settings", *LLM_DECODE_PROFILES)
    assert tuple(load_profile(name).name for name in profile_names()) == profile_names()


def test_every_shipped_file_is_a_profile() -> None:
    """The folder of the shipped profiles has no other file, and neither has the folder of the states."""
    assert {file.stem for file in SHIPPED.glob("*.y*ml")} == {*VENDOR_TABLE, "system_settings", *LLM_DECODE_PROFILES}
    assert {file.stem for file in (SHIPPED / "states").glob("*.y*ml")} == set(VENDOR_STATES)


@pytest.mark.parametrize("name", VENDOR_TABLE)
def test_a_shipped_file_states_every_field(name: str) -> None:
    """A shipped profile has every field; a field without a vote has the word unset."""
    tree = shipped_tree(name)
    assert set(tree) == {"profile", "summary", "votes", "relax"}
    assert set(tree["votes"]) == VOTES_FIELDS == {name for name, about in BY_FIELD.items() if not about.optional}
    assert set(tree["votes"]["dcvs_v3"]) == DCVS_FIELDS == {field.name for field in attrs.fields(DcvsV3)}
    assert set(tree["relax"]) == RELAX_FIELDS


@pytest.mark.parametrize("name", VENDOR_STATES)
def test_a_shipped_state_file_states_every_field(name: str) -> None:
    """A shipped power state has every field, too."""
    tree = shipped_tree(f"states/{name}")
    assert set(tree) == {"state", "summary", "votes"}
    assert set(tree["votes"]) == VOTES_FIELDS
    assert set(tree["votes"]["dcvs_v3"]) == DCVS_FIELDS


def test_system_settings_states_every_field() -> None:
    """system_settings has the word unset for votes and relax."""
    tree = shipped_tree("system_settings")
    assert set(tree) == {"profile", "summary", "votes", "relax"}
    assert (tree["votes"], tree["relax"]) == ("unset", "unset")


@pytest.mark.parametrize("name", [*VENDOR_TABLE, "system_settings"])
def test_a_shipped_profile_has_a_summary_of_one_sentence(name: str) -> None:
    """The summary is one line that ends in a full stop."""
    summary = load_profile(name).summary
    assert summary.endswith(".")
    assert summary.splitlines() == [summary]


@pytest.mark.parametrize("name", [*VENDOR_TABLE, "system_settings"])
def test_a_profile_is_equal_across_two_loads(name: str) -> None:
    """Two loads give equal profiles with equal hashes, and different profiles differ."""
    first, second = load_profile(name), load_profile(name)
    assert first is not second
    assert (first, hash(first)) == (second, hash(second))
    assert len({load_profile(other) for other in profile_names()} | {first}) == len(profile_names())


def test_a_profile_can_not_be_changed() -> None:
    """A profile is frozen, as are its votes."""
    profile = load_profile("burst")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        profile.name = "other"  # type: ignore[misc]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        profile.votes.rpc_polling_time_us = 0  # type: ignore[misc]


def test_a_profile_is_loaded_by_path_like_and_by_path() -> None:
    """A pathlib path and its text load the same profile as the name."""
    path = SHIPPED / "burst.yaml"
    named = load_profile("burst")
    assert (load_profile(path).votes, load_profile(str(path)).votes) == (named.votes, named.votes)
    assert load_profile(path).source == path


@pytest.mark.parametrize("made", [Profile, PowerState])
def test_a_source_may_be_any_path(made: type[Profile | PowerState]) -> None:
    """The signature says so, for editors and the API page."""
    assert inspect.signature(made).parameters["source"].annotation == "str | os.PathLike[str] | None"


def test_a_relative_path_like_without_a_slash_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path-like object is a path, even if a shipped profile has that name."""
    write(tmp_path, "burst", "profile: mine\nextends: balanced\n")
    monkeypatch.chdir(tmp_path)
    assert load_profile(PurePosixPath("burst")).name == "mine"
    assert load_profile("burst").name == "burst"


def test_an_unknown_profile_is_refused_by_name_not_by_path() -> None:
    """A word that no folder has is NAME-1, not a missing file."""
    with pytest.raises(ProfileError) as caught:
        load_profile("bursts")
    assert (caught.value.rule, caught.value.path) == ("NAME-1", "bursts")
