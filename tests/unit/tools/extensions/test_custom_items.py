"""Import: the custom votes of a core."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.imported import DONE, START, clocks, imported, item, remarks
from support.sustaining_items import CASES, custom_of

from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.to_profiles import to_profiles
from htppower.votes.clock_votes import HMX_DEFAULT, VoltageRange
from htppower.votes.corners import ExpandedCorner, PowerMode, VoltageCorner


def test_custom_items_are_votes_and_two_power_states() -> None:
    """Start items become the votes, done items the power states, and an item's timer the sustain time."""
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


@pytest.mark.parametrize(("start", "done", "sustains"), CASES)
def test_the_last_item_that_says_so_sustains_all(start: bool | None, done: bool | None, sustains: bool) -> None:
    """The last item with the key decides, as in the vendor's voter (tests/vendor/test_sustaining_items.py)."""
    relax = imported(custom_of(start, done)).profile.relax
    assert relax is not None
    assert relax.after_inference_us == (300_000 if sustains else 0)


def test_the_old_custom_object_is_start_and_done() -> None:
    """Its start corners become the votes, its done corners the power state, also the one after DE-INIT."""
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
    """The votes stay, with a remark. If a state has two items, the last one counts."""
    found = imported({"perf_profile": "custom", "custom": [item(["init_start"], "NOM"), item(["init_start"], "TURBO")]})
    assert found.profile.votes.dcvs_v3 is not None
    assert found.profile.votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.TURBO)
    assert found.profile.relax is not None
    assert found.profile.relax.to.votes.dcvs_v3 == found.profile.votes.dcvs_v3
    assert "until the id is destroyed" in remarks(found)


def test_items_without_clocks_keep_those_before_them() -> None:
    """Votes that an item leaves out stay, since the vendor's voter then sends nothing for them."""
    found = imported({"perf_profile": "custom", "custom": [item(START, "NOM"), {"graphState": [*DONE, "deinit_done"]}]})
    relax = found.profile.relax
    assert relax is not None
    assert found.profile.votes.dcvs_v3 == relax.to.votes.dcvs_v3 == relax.after_deinit_to.votes.dcvs_v3
    assert "until the id is destroyed" in remarks(found)
    assert "HMX" not in remarks(found)


def test_votes_that_differ_between_phases_are_told() -> None:
    """The profile has the votes of inferences, with a remark on those of INIT."""
    items = [item(["init_start"], "SVS"), item(START[1:], "TURBO"), item([*DONE, "deinit_done"], "SVS2")]
    found = imported({"perf_profile": "custom", "custom": items})
    assert found.profile.votes.dcvs_v3 is not None
    assert found.profile.votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.TURBO)
    assert "init_start has votes of its own" in remarks(found)


def test_an_explicit_hmx_vote_stays_until_an_item_says_otherwise() -> None:
    """An HMX vote that the next item leaves out stays in force."""
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
        (clocks("SVS", sleep_latency_us=5), "a sleep latency of 5 us, outside 10 to 65535 us; 10 here"),
        (
            clocks("SVS", busVoltageCornerMin="DCVS_VOLTAGE_VCORNER_TURBO"),
            "min, target and max are TURBO, SVS, SVS, which is the wrong order; sorted here",
        ),
    ],
)
def test_votes_that_only_the_vendor_takes_are_mended(dcvs: dict[str, Any], said: str) -> None:
    """The vendor's parser checks neither range nor order, so the import corrects the values."""
    items = [{"graphState": [*START, *DONE, "deinit_done"], "dcvsControl": dcvs}]
    assert said in remarks(imported({"perf_profile": "custom", "custom": items}))


def test_sleep_that_nothing_enables_again_is_enabled() -> None:
    """A power state must clear what the votes disabled (DCVS-4), with a remark."""
    exp = {
        **dict.fromkeys(clocks("SVS"), "DCVS_EXP_VCORNER_SVS"),
        "sleepDisable": 1,
    }
    items = [{"graphState": [*START, *DONE, "deinit_done"], "dcvsExpControl": exp}]
    found = imported({"perf_profile": "custom", "custom": items})
    assert found.profile.votes.dcvs_v3_exp is not None
    assert found.profile.votes.dcvs_v3_exp.sleep_disable
    assert "sleep stays disabled" in remarks(found)


def test_objects_behind_a_key_that_is_given_twice_are_not_read() -> None:
    """Only the first of two equal keys counts, also for a block of votes."""
    first, second = (json.dumps(clocks(corner)) for corner in ("NOM", "SVS"))
    states = json.dumps([*START, *DONE, "deinit_done"])
    items = f'[{{"graphState": {states}, "dcvsControl": {first}, "dcvsControl": {second}}}]'
    text = f'{{"devices": [{{"cores": [{{"perf_profile": "custom", "custom": {items}}}]}}]}}'
    (found,) = to_profiles(parse_extension_file(text, "camera.json"))
    assert found.profile.votes.dcvs_v3 is not None
    assert found.profile.votes.dcvs_v3.core == VoltageRange.at(VoltageCorner.NOM)


@pytest.mark.parametrize(
    ("custom", "said"),
    [
        ({"dcvsControl": {name: {"start": corner} for name, corner in clocks("NOM").items()}}, "bus clock are missing"),
        ({"dcvsControlx": {name: {"start": corner} for name, corner in clocks("NOM").items()}}, "votes are omitted"),
        ([{"graphState": ["init_start"], "dcvsControl": {"enableDcvs": True}}], "core clock are missing"),
    ],
)
def test_misplaced_custom_votes_without_corners_are_told(custom: Any, said: str) -> None:
    """The vendor's parser accepts them under an unknown key, and import makes a profile with a remark."""
    text = json.dumps({"devices": [{"coresx": [{"perf_profile": "custom", "custom": custom}]}]})
    (made,) = to_profiles(parse_extension_file(text, "camera.json"))
    assert said in remarks(made)
