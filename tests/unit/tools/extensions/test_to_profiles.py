"""Import: the settings of a core, and the remarks about the rest."""

from __future__ import annotations

from typing import Any

import pytest
from support.imported import START, imported, item, remarks

from htppower import load_profile
from htppower.profiles.names import LLM_DECODE_PROFILES, SHIPPED_PROFILES
from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.to_profiles import to_profiles
from htppower.votes.vote_set import VoteSet


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_a_profile_of_the_vendor_is_the_shipped_one(name: str) -> None:
    """The file extends the shipped profile, and has the same votes."""
    found = imported({"perf_profile": name})
    shipped = load_profile(name)
    assert found.base == shipped
    assert (found.profile.votes, found.profile.relax) == (shipped.votes, shipped.relax)
    assert found.texts()["camera.yaml"].endswith(
        f'profile: camera\nextends: {name}\nsummary: "{name} as in camera.json."\n'
    )


def test_default_is_balanced_without_the_raise() -> None:
    """``default`` votes the relaxed state of balanced around each inference, with a remark."""
    found = imported({"perf_profile": "default"})
    balanced = load_profile("balanced")
    assert balanced.relax is not None
    assert found.profile.votes.dcvs_v3 == balanced.relax.to.votes.dcvs_v3
    assert found.profile.votes.rpc_control_latency_us == 100
    assert found.profile.relax == balanced.relax
    assert "never raised" in remarks(found)


@pytest.mark.parametrize("name", LLM_DECODE_PROFILES)
def test_an_llm_decode_profile_is_the_shipped_one(name: str) -> None:
    """It has the DDR performance mode of burst, too, and a session leaves that out if the platform lacks it."""
    found = imported({"perf_profile": name})
    assert found.base == load_profile(name)
    assert (found.profile.votes, found.profile.relax) == (found.base.votes, found.base.relax)
    assert "V79 and later" in remarks(found)


def test_without_any_setting_it_is_high_performance() -> None:
    """An empty file, no core, or a core without a profile is high_performance."""
    for text in ("{}", '{"devices": []}', '{"devices": [{}]}', '{"devices": [{"cores": [{}]}]}'):
        (found,) = to_profiles(parse_extension_file(text, "a.json"))
        assert found.base == load_profile("high_performance")


def test_keys_beside_the_profile_are_votes() -> None:
    """RPC latency and polling, HMX timeout and DDR override the profile's votes, and the file has nothing else."""
    core = {
        "perf_profile": "burst",
        "rpc_control_latency": 0,
        "rpc_polling_time": 500,
        "adaptive_polling_time": 2000,
        "hmx_timeout_us": 500,
        "ddr_perf_mode": True,
    }
    found = imported(core)
    votes = found.profile.votes
    beside = (votes.rpc_control_latency_us, votes.rpc_polling_time_us, votes.adaptive_polling_time_us)
    assert (*beside, votes.hmx_timeout_us, votes.ddr_perf_mode) == (0, 500, 2000, 500, True)
    assert found.texts()["camera.yaml"].splitlines()[-6:] == [
        "votes:",
        "  rpc_control_latency_us: 0",
        "  rpc_polling_time_us: 500",
        "  adaptive_polling_time_us: 2000",
        "  hmx_timeout_us: 500",
        "  ddr_perf_mode: true",
    ]
    assert "loses the raised votes, too" in remarks(found)


@pytest.mark.parametrize(
    ("core", "field", "value", "said"),
    [
        ({"perf_profile": "burst", "rpc_polling_time": 20000}, "rpc_polling_time_us", 9999, "20000 us is voted"),
        ({"perf_profile": "burst", "hmx_timeout_us": 5}, "hmx_timeout_us", None, "refuses an HMX timeout of 5 us"),
        ({"perf_profile": "balanced", "adaptive_polling_time": 5000}, "adaptive_polling_time_us", None, "not voted"),
        ({"perf_profile": "balanced", "ddr_perf_mode": True}, "ddr_perf_mode", None, "DDR-1"),
    ],
)
def test_what_no_profile_may_say_is_a_remark(core: dict[str, Any], field: str, value: object, said: str) -> None:
    """The profile has the valid value nearest to the vendor's voter, with a remark."""
    found = imported(core)
    assert getattr(found.profile.votes, field) == value
    assert said in remarks(found)
    assert said.split(maxsplit=1)[0] in found.texts()["camera.yaml"]


def test_rpc_votes_without_clocks_have_a_power_state_of_their_own() -> None:
    """system_settings with polling votes for that only, and relaxes to a state that ends it."""
    found = imported({"perf_profile": "system_settings", "rpc_polling_time": 300})
    assert found.profile.votes == VoteSet(rpc_control_latency_us=100, rpc_polling_time_us=300)
    assert found.profile.relax is not None
    assert found.profile.relax.to.votes.rpc_polling_time_us == 0
    assert list(found.texts()) == ["camera.yaml", "states/camera_relaxed.yaml"]


@pytest.mark.parametrize(
    ("core", "votes_as", "said"),
    [
        ({"perf_profile": "burst", "my_perf_profile": "balanced"}, "balanced", "read as perf_profile, because of"),
        ({"my_perf_profile": "balanced", "perf_profile": "burst"}, "burst", "read as perf_profile"),
        (
            {"perf_profile": "burst", "zzz": {"perf_profile": "balanced"}},
            "balanced",
            "'zzz' in devices[].cores[] is read",
        ),
        ({"perf_profile": "burst", "zzz": {}}, "burst", "'zzz' in devices[].cores[] is silently ignored"),
        ({"perf_profile": "burst", "custom": []}, "burst", "custom with perf_profile burst is not voted"),
        ({"perf_profile": "burst", "core_id": [0]}, "burst", ""),
        ({"perf_profile": "burst", "core_id": {}}, "burst", ""),
        ({"perf_profile": "balanced\0x"}, "balanced", ""),
        (
            {"perf_profile": "custom", "my_custom": [item(START, "NOM")]},
            "system_settings",
            "read as graphState, busVoltageCornerMin",
        ),
    ],
)
def test_what_the_vendor_takes_is_read_as_it_reads_it(core: dict[str, Any], votes_as: str, said: str) -> None:
    """Keys are found by the words in them, and the last one counts; ignored ones have a remark."""
    found = imported(core)
    assert found.profile.votes.hvx == load_profile(votes_as).votes.hvx
    assert said in remarks(found)
    assert ("omitted here" in remarks(found)) is ("my_custom" in core)


def test_a_number_too_long_for_the_vendors_field_is_left_out() -> None:
    """The parser accepts a large double under an unknown key; its effect is not known."""
    found = imported({"perf_profile": "burst", "my_rpc_control_latency": 1e20})
    assert found.profile.votes.rpc_control_latency_us == 100
    assert "not a number of us; omitted" in remarks(found)
