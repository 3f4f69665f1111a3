"""Import: what the settings of an extension file become, and what is said of the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from htppower import ProfileError, load_profile
from htppower.extensions.extension_file import parse_extension_file
from htppower.extensions.to_profiles import Imported, to_profiles
from htppower.profiles.names import LLM_DECODE_PROFILES, SHIPPED_PROFILES
from htppower.rules import table as rules
from htppower.votes.clock_votes import HMX_DEFAULT, VoltageRange
from htppower.votes.corners import ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet

START, DONE = ["init_start", "inference_start", "deinit_start"], ["init_done", "inference_done"]


def clocks(corner: str, **more: Any) -> dict[str, Any]:
    """Return a ``dcvsControl`` with one corner everywhere."""
    name = "DCVS_VOLTAGE_CORNER_DISABLE" if corner == "DISABLE" else f"DCVS_VOLTAGE_VCORNER_{corner}"
    return {
        **{f"{clock}VoltageCorner{limit}": name for clock in ("bus", "core") for limit in ("Min", "Target", "Max")},
        **more,
    }


def item(states: list[str], corner: str, **more: Any) -> dict[str, Any]:
    """Return an item of a custom profile."""
    return {"graphState": states, "dcvsControl": clocks(corner), **more}


def imported(core: dict[str, Any], **more: Any) -> Imported:
    """Return the one profile of a file with one core."""
    (found,) = to_profiles(parse_extension_file(json.dumps({"devices": [{"cores": [core]}], **more}), "a/camera.json"))
    assert not rules.errors(found.profile.case())
    return found


def remarks(found: Imported) -> str:
    """Return what is said of what a profile does not say."""
    return "\n".join(map(str, found.remarks))


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_a_profile_of_the_vendor_is_the_shipped_one(name: str) -> None:
    """Its file extends the shipped profile, and has the same votes."""
    found = imported({"perf_profile": name})
    shipped = load_profile(name)
    assert found.base == shipped
    assert (found.profile.votes, found.profile.relax) == (shipped.votes, shipped.relax)
    assert found.texts()["camera.yaml"].endswith(
        f'profile: camera\nextends: {name}\nsummary: "{name} as in camera.json."\n'
    )


def test_default_is_balanced_without_the_raise() -> None:
    """It votes the relaxed state of balanced around each inference, and says so."""
    found = imported({"perf_profile": "default"})
    balanced = load_profile("balanced")
    assert balanced.relax is not None
    assert found.profile.votes.dcvs_v3 == balanced.relax.to.votes.dcvs_v3
    assert found.profile.votes.rpc_control_latency_us == 100
    assert found.profile.relax == balanced.relax
    assert "never raised" in remarks(found)


@pytest.mark.parametrize("name", LLM_DECODE_PROFILES)
def test_an_llm_decode_profile_is_the_shipped_one(name: str) -> None:
    """All of it, the DDR performance mode of burst among it: a session leaves that vote out where there is none."""
    found = imported({"perf_profile": name})
    assert found.base == load_profile(name)
    assert (found.profile.votes, found.profile.relax) == (found.base.votes, found.base.relax)
    assert "V79 and later" in remarks(found)


def test_without_any_setting_it_is_high_performance() -> None:
    """An empty file, no core and a core without a profile vote as high_performance."""
    for text in ("{}", '{"devices": []}', '{"devices": [{}]}', '{"devices": [{"cores": [{}]}]}'):
        (found,) = to_profiles(parse_extension_file(text, "a.json"))
        assert found.base == load_profile("high_performance")


def test_keys_beside_the_profile_are_votes() -> None:
    """RPC latency and polling, HMX timeout and DDR override what the profile has, and nothing else is stated."""
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
    assert "loses the raised votes with it" in remarks(found)


@pytest.mark.parametrize(
    ("core", "field", "value", "said"),
    [
        ({"perf_profile": "burst", "rpc_polling_time": 20000}, "rpc_polling_time_us", 9999, "20000 us is voted as it"),
        ({"perf_profile": "burst", "hmx_timeout_us": 5}, "hmx_timeout_us", None, "refuses an HMX timeout of 5 us"),
        ({"perf_profile": "balanced", "adaptive_polling_time": 5000}, "adaptive_polling_time_us", None, "not voted"),
        ({"perf_profile": "balanced", "ddr_perf_mode": True}, "ddr_perf_mode", None, "DDR-1"),
    ],
)
def test_what_no_profile_may_say_is_a_remark(core: dict[str, Any], field: str, value: object, said: str) -> None:
    """The profile has what is valid and nearest to what the vendor's voter does, and a comment tells of it."""
    found = imported(core)
    assert getattr(found.profile.votes, field) == value
    assert said in remarks(found)
    assert said.split(maxsplit=1)[0] in found.texts()["camera.yaml"]


def test_rpc_votes_without_clocks_have_a_power_state_of_their_own() -> None:
    """system_settings with polling votes on that alone, and relaxes to a state that ends it."""
    found = imported({"perf_profile": "system_settings", "rpc_polling_time": 300})
    assert found.profile.votes == VoteSet(rpc_control_latency_us=100, rpc_polling_time_us=300)
    assert found.profile.relax is not None
    assert found.profile.relax.to.votes.rpc_polling_time_us == 0
    assert list(found.texts()) == ["camera.yaml", "states/camera_relaxed.yaml"]


def test_custom_items_are_votes_and_two_power_states() -> None:
    """The starts are the votes, the dones the power states, and the timer of any item is the sustain time."""
    items = [
        item(START, "TURBO", dcvsControl=clocks("TURBO", enableDcvs=False, sleep_latency_us=70)),
        item(DONE, "SVS"),
        item(["deinit_done"], "MIN_VOLTAGE_CORNER", sustainInferencePerfState=True),
    ]
    found = imported({"perf_profile": "custom", "custom": items, "rpc_polling_time": 100})
    votes, relax = found.profile.votes, found.profile.relax
    assert votes.dcvs_v3 is not None
    assert relax is not None
    assert (votes.dcvs_v3.dcvs_enable, votes.dcvs_v3.power_mode, votes.dcvs_v3.sleep_latency_us) == (
        False,
        PowerMode.POWER_SAVER,
        70,
    )
    assert (votes.rpc_control_latency_us, votes.rpc_polling_time_us, votes.hmx_v2) == (100, 100, HMX_DEFAULT)
    assert relax.after_inference_us == 300_000
    assert (relax.to.name, relax.after_deinit_to.name) == ("camera_relaxed", "camera_released")
    assert relax.to.votes.dcvs_v3 is not None
    assert relax.to.votes.dcvs_v3.bus == VoltageRange.at(VoltageCorner.SVS)
    assert relax.to.votes.dcvs_v3.sleep_latency_us == 1000
    assert not found.remarks


def test_the_old_custom_object_is_start_and_done() -> None:
    """Done is also what DE-INIT ends in."""
    corners = {name: {"start": corner, "done": "DCVS_VOLTAGE_VCORNER_SVS2"} for name, corner in clocks("TURBO").items()}
    mode = "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_ADJUST_UP_DOWN"
    old = {"dcvsControl": {**corners, "sustainVote": True, "powerMode": mode, "sleep_disable": True}}
    found = imported({"perf_profile": "custom", "custom": old})
    votes, relax = found.profile.votes, found.profile.relax
    assert votes.dcvs_v3 is not None
    assert relax is not None
    assert votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.TURBO)
    assert votes.dcvs_v3.power_mode is PowerMode.ADJUST_UP_DOWN
    assert relax.to == relax.after_deinit_to
    assert relax.to.votes.dcvs_v3 is not None
    assert relax.to.votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.SVS2)
    assert relax.after_inference_us == 300_000


def test_states_without_items_keep_the_votes_before_them() -> None:
    """Raised once, the votes stay; that is said. Of two items for a state the last holds."""
    found = imported({"perf_profile": "custom", "custom": [item(["init_start"], "NOM"), item(["init_start"], "TURBO")]})
    assert found.profile.votes.dcvs_v3 is not None
    assert found.profile.votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.TURBO)
    assert found.profile.relax is not None
    assert found.profile.relax.to.votes.dcvs_v3 == found.profile.votes.dcvs_v3
    assert "until the id is destroyed" in remarks(found)


def test_votes_that_differ_between_phases_are_told() -> None:
    """A profile has one set of votes: that of inferences, with a comment for INIT."""
    items = [item(["init_start"], "SVS"), item(START[1:], "TURBO"), item([*DONE, "deinit_done"], "SVS2")]
    found = imported({"perf_profile": "custom", "custom": items})
    assert found.profile.votes.dcvs_v3 is not None
    assert found.profile.votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.TURBO)
    assert "init_start has votes of its own" in remarks(found)


def test_an_explicit_hmx_vote_stays_until_an_item_says_otherwise() -> None:
    """What an item leaves out of the matrix unit is what was voted before."""
    hmx = {
        "hmxPickDefault": 0,
        **{f"hmxVoltageCorner{limit}": "DCVS_EXP_VCORNER_NOM" for limit in ("Min", "Target", "Max")},
    }
    items = [item(START, "TURBO", hmxControl=hmx), item([*DONE, "deinit_done"], "SVS")]
    found = imported({"perf_profile": "custom", "custom": items})
    assert found.profile.relax is not None
    for votes in (found.profile.votes, found.profile.relax.to.votes):
        assert votes.hmx_v2 is not None
        assert votes.hmx_v2.target is ExpandedCorner.NOM


@pytest.mark.parametrize(
    ("dcvs", "said"),
    [
        (clocks("SVS", sleep_latency_us=5), "a sleep latency of 5 us, out of 10 to 65535 us; 10 here"),
        (
            clocks("SVS", busVoltageCornerMin="DCVS_VOLTAGE_VCORNER_TURBO"),
            "min, target and max are TURBO, SVS, SVS, which is no order; sorted here",
        ),
    ],
)
def test_votes_that_only_the_vendor_takes_are_mended(dcvs: dict[str, Any], said: str) -> None:
    """The vendor's parser checks neither range nor order; ours does."""
    items = [{"graphState": [*START, *DONE, "deinit_done"], "dcvsControl": dcvs}]
    assert said in remarks(imported({"perf_profile": "custom", "custom": items}))


def test_sleep_that_nothing_enables_again_is_enabled() -> None:
    """A power state must clear what the votes disabled (DCVS-4)."""
    exp = {
        **dict.fromkeys(clocks("SVS"), "DCVS_EXP_VCORNER_SVS"),
        "sleepDisable": 1,
    }
    items = [{"graphState": [*START, *DONE, "deinit_done"], "dcvsExpControl": exp}]
    found = imported({"perf_profile": "custom", "custom": items})
    assert found.profile.votes.dcvs_v3_exp is not None
    assert found.profile.votes.dcvs_v3_exp.sleep_disable
    assert "sleep stays disabled" in remarks(found)


def test_cores_and_graphs_that_differ_are_profiles() -> None:
    """Equal ones are one; a graph's profile is for its inferences; the second device is told to be ignored."""
    text = {
        "devices": [
            {"cores": [{"perf_profile": "burst"}, {"core_id": 1, "perf_profile": "burst"}, {"core_id": 2}]},
            {"cores": [{"perf_profile": "balanced"}]},
        ],
        "graphs": [
            {"graph_names": ["a", "b"], "perf_profile": "power_saver"},
            {"graph_names": ["c"], "vtcm_mb": 8},
        ],
    }
    found = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert [(each.profile.name, each.of) for each in found] == [
        ("camera_core0", "Imported from camera.json, device 0, core 0: burst, device 0, core 1: burst."),
        ("camera_core2", "Imported from camera.json, device 0, core 2: high_performance."),
        (
            "camera_device1_core0",
            "Imported from camera.json, device 1, core 0: balanced (the vendor's voter reads the first device alone).",
        ),
        ("camera_graphs0", "Imported from camera.json, graphs a, b: power_saver."),
    ]
    assert "INIT and DE-INIT vote as the core's burst does" in remarks(found[-1])
    assert found[0].left_out == ("Not about votes, and left out: graphs.1.vtcm_mb.",)
    (only,) = to_profiles(parse_extension_file(json.dumps({**text, "graphs": []}), "camera.json"), core=2)
    assert only.profile.name == "camera"
    with pytest.raises(ProfileError, match="no core 7"):
        to_profiles(parse_extension_file(json.dumps(text), "camera.json"), core=7)


def test_the_device_and_what_is_no_vote_stand_in_comments() -> None:
    """The SoC is named, and what stays out is listed by its keys."""
    text = {
        "devices": [{"soc_model": 69, "dsp_arch": "v79", "cores": [{"perf_profile": "burst"}]}],
        "memory": {"mem_type": "shared_buffer"},
        "context": [{"weight_sharing_enabled": True}],
    }
    (found,) = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert found.left_out == (
        'For the host, not for the profile: soc_model 69 (SM8750, V79), dsp_arch "v79".',
        "Not about votes, and left out: memory.mem_type, context.0.weight_sharing_enabled.",
    )


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("burst.json", "burst_imported"),
        ("llm_decode_burst.json", "llm_decode_burst_imported"),
        ("a b/ç.d.json", "d"),
        ("---.json", "imported"),
        ("x" * 300, "x" * 60),
        ("69.json", "profile_69"),
        ("no.json", "profile_no"),
        ("1e5.json", "profile_1e5"),
    ],
)
def test_a_profile_is_called_as_the_file_is(path: str, name: str) -> None:
    """As far as that is a name, no shipped profile's, and a word to YAML."""
    (found,) = to_profiles(parse_extension_file("{}", path))
    assert found.profile.name == name
    assert yaml.safe_load(found.texts()[f"{name}.yaml"])["profile"] == name


def test_hostile_names_stay_in_their_comment() -> None:
    """A line break in a graph's name begins no line of the YAML."""
    text = {"graphs": [{"graph_names": ["a\nvotes: unset"], "perf_profile": "burst"}]}
    found = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert all(line.startswith("#") for line in found[-1].texts()["camera_graphs0.yaml"].splitlines()[:2])


@pytest.mark.parametrize(
    ("core", "votes_as", "said"),
    [
        ({"perf_profile": "burst", "my_perf_profile": "balanced"}, "balanced", "read as perf_profile, by the words"),
        ({"my_perf_profile": "balanced", "perf_profile": "burst"}, "burst", "read as perf_profile"),
        (
            {"perf_profile": "burst", "zzz": {"perf_profile": "balanced"}},
            "balanced",
            "'zzz' in devices[].cores[] is read",
        ),
        ({"perf_profile": "burst", "zzz": {}}, "burst", "'zzz' in devices[].cores[] is ignored without a word"),
        ({"perf_profile": "burst", "custom": []}, "burst", "custom beside perf_profile burst is not voted"),
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
    """Keys by the words in their names, of several the last; what is not read, or not taken over, is a remark."""
    found = imported(core)
    assert found.profile.votes.hvx == load_profile(votes_as).votes.hvx
    assert said in remarks(found)
    assert ("left out here" in remarks(found)) is ("my_custom" in core)


def test_a_number_too_long_for_the_vendors_field_is_left_out() -> None:
    """A double under an unknown key passes the parser; what becomes of it there is not known."""
    found = imported({"perf_profile": "burst", "my_rpc_control_latency": 1e20})
    assert found.profile.votes.rpc_control_latency_us == 100
    assert "no number of us; left out" in remarks(found)


def test_cores_that_differ_are_said_to_be_one_to_the_vendor() -> None:
    """On x86, where it was measured, the last core of a device says what is voted."""
    text = {"devices": [{"cores": [{"perf_profile": "burst"}, {"core_id": 1, "perf_profile": "balanced"}]}]}
    found = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert all("what the last of them says" in remarks(each) for each in found)


def test_objects_behind_a_key_that_is_given_twice_are_not_read() -> None:
    """The first counts, of a block of votes, too."""
    first, second = (json.dumps(clocks(corner)) for corner in ("NOM", "SVS"))
    states = json.dumps([*START, *DONE, "deinit_done"])
    items = f'[{{"graphState": {states}, "dcvsControl": {first}, "dcvsControl": {second}}}]'
    text = f'{{"devices": [{{"cores": [{{"perf_profile": "custom", "custom": {items}}}]}}]}}'
    (found,) = to_profiles(parse_extension_file(text, "camera.json"))
    assert found.profile.votes.dcvs_v3 is not None
    assert found.profile.votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.NOM)


@pytest.mark.parametrize(
    "text",
    [
        {"xdevices": [{"cores": [{"perf_profile": "balanced"}]}]},
        {"devices": [{"cores": [{"perf_profile": "burst"}], "xcores": [{"perf_profile": "balanced"}]}]},
    ],
)
def test_devices_under_another_key_are_told_and_left_out(text: dict[str, Any]) -> None:
    """The vendor's parser reads them by the word in the key (measured); a profile made of the file does not."""
    (found,) = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert "is read as perf_profile, by the words in it; left out here (EXT-24" in remarks(found)
