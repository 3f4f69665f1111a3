"""Export: a profile as settings of a core, the losses, and writing it into a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.any_profiles import profiles
from support.examples import examples

from htppower import Lowering, ProfileError, load_profile
from htppower.errors import Severity
from htppower.profiles.profile import PowerState, Then
from htppower.profiles.sustain import Adaptive
from htppower.rules.platforms import find_soc
from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.from_profile import from_profile, merged
from htppower.tools.extensions.keys import CORE_KEYS, KEYS, Section
from htppower.tools.extensions.refusals import refusals
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile, Relax

BURST = load_profile("burst")
ALL_STATES = {"init_start", "inference_start", "deinit_start", "init_done", "inference_done", "deinit_done"}
CHAT = (
    '{"devices":[{"soc_model":69,"dsp_arch":"v79","cores":[{"core_id":0,"perf_profile":"burst",'
    '"rpc_control_latency":100}]}],"memory":{"mem_type":"shared_buffer"},"groupContext":{"share_resources":true}}'
)


def burst(**relax: Any) -> Profile:
    """Return burst with other times."""
    assert BURST.relax is not None
    return attrs.evolve(BURST, relax=attrs.evolve(BURST.relax, **relax))


def lost(profile: Profile) -> list[str]:
    """Return the losses, without notes."""
    return [str(each) for each in from_profile(profile).lost if each.severity is not Severity.NOTE]


def test_a_profile_is_three_items_and_the_keys_beside() -> None:
    """Raised, relaxed and DE-INIT items cover each state once; the SoC is in the device."""
    text = from_profile(BURST).text(find_soc("SM8750"), 1)
    (device,) = json.loads(text)["devices"]
    (core,) = device.pop("cores")
    assert device == {"soc_model": 69, "dsp_arch": "v79"}
    items = core.pop("custom")
    assert core == {"core_id": 1, "perf_profile": "custom", "rpc_control_latency": 100, "rpc_polling_time": 9999}
    assert [item["graphState"] for item in items] == [
        ["init_start", "inference_start", "deinit_start"],
        ["init_done", "inference_done"],
        ["deinit_done"],
    ]
    assert all(item["sustainInferencePerfState"] for item in items)
    assert [item["dcvsControl"]["sleep_latency_us"] for item in items] == [40, 2000, 65535]


@pytest.mark.parametrize("relax", [None, BURST.relax])
def test_a_profile_without_votes_is_system_settings(relax: Relax | None) -> None:
    """A latency of 0 keeps the vendor's voter from voting its 100 us; nothing is listed as lost."""
    exported = from_profile(attrs.evolve(load_profile("system_settings"), relax=relax))
    assert exported.settings == {"perf_profile": "system_settings", "rpc_control_latency": 0}
    assert exported.lost == ()


@pytest.mark.parametrize(
    ("relax", "said"),
    [
        ({"after_init_us": 50_000}, "relax.after_init_us: 50000 us; the votes are lowered as soon as INIT has ended"),
        ({"after_inference_us": 200_000}, "relax.after_inference_us: 200000 us; 300000 us: the voter knows only 0 and"),
        ({"after_inference_us": 100_000}, "relax.after_inference_us: 100000 us; 0 us: the voter knows only 0 and"),
        ({"lowering": Lowering.BACKGROUND}, "relax.lowering: background; the voter lowers before the inference"),
        (
            {"to": PowerState("low", "Low.", VoteSet(rpc_polling_time_us=5))},
            "relax.to.rpc_polling_time_us: 5; 9999, which is voted once, stays",
        ),
    ],
)
def test_what_no_file_says_is_told(relax: dict[str, Any], said: str) -> None:
    """Each loss has the field, the profile's value, and what the vendor's voter does instead."""
    (only,) = lost(burst(**relax))
    assert only.startswith(said)
    assert not from_profile(burst(**relax)).lossless


def test_a_disabled_sleep_is_lost_in_plain_corners() -> None:
    """The vendor's parser refuses the key in dcvsControl."""
    assert BURST.votes.dcvs_v3 is not None
    votes = attrs.evolve(BURST.votes, dcvs_v3=attrs.evolve(BURST.votes.dcvs_v3, sleep_disable=True))
    assert lost(attrs.evolve(BURST, votes=votes)) == [
        "votes.dcvs_v3.sleep_disable: true; the vendor's parser refuses sleep_disable, and false is voted"
    ]


@given(profiles())
@examples(15)
def test_every_state_has_one_item(profile: Profile) -> None:
    """No state is left without an item, so no vote stays up by mistake; the vendor's parser accepts the file."""
    exported = from_profile(profile)
    items = exported.settings.get("custom")
    if items is not None:
        states = [state for item in items for state in item["graphState"]]
        assert set(states) == ALL_STATES
        assert len(states) == len(ALL_STATES)
    assert not refusals(parse_extension_file(exported.text()))


def test_a_profile_is_put_into_a_file() -> None:
    """The core's votes are replaced, and every other byte is the same."""
    file = parse_extension_file(CHAT)
    once = merged(file, from_profile(load_profile("system_settings")))
    assert once.text.text == CHAT.replace(
        '"burst","rpc_control_latency":100', '"system_settings","rpc_control_latency":0'
    )
    again = merged(merged(file, from_profile(BURST)), from_profile(load_profile("system_settings")))
    assert again.text.text == once.text.text


def test_the_same_profile_again_changes_nothing() -> None:
    """If the file has the profile already, no byte changes."""
    once = merged(parse_extension_file(CHAT), from_profile(BURST), soc=find_soc("SM8750"))
    assert merged(once, from_profile(BURST), soc=find_soc("SM8750")).text.encoded() == once.text.encoded()


@pytest.mark.parametrize("text", ["{}", '{"devices": []}', '{"devices": [{}]}', '{"devices": [{"cores": []}]}', CHAT])
@pytest.mark.parametrize("core", [0, 3])
def test_what_is_missing_is_added(text: str, core: int) -> None:
    """A missing device, list of cores or core is added."""
    done = merged(parse_extension_file(text), from_profile(BURST), core=core)
    assert not refusals(done)
    (device,) = done.text.accepted().plain()["devices"]
    (found,) = [each for each in device["cores"] if each.get("core_id", 0) == core]
    assert {name: found[name] for name in found if name != "core_id"} == from_profile(BURST).settings


def test_other_settings_of_the_core_go_and_other_cores_stay() -> None:
    """An HMX timeout that the profile does not vote is removed, since it would be voted."""
    text = '{"devices": [{"cores": [{"core_id": 1, "perf_profile": "burst"},\n {"hmx_timeout_us": 500}]}]}'
    done = merged(parse_extension_file(text), from_profile(BURST)).text.text
    assert done.startswith('{"devices": [{"cores": [{"core_id": 1, "perf_profile": "burst"},\n {')
    assert "hmx_timeout_us" not in done


def test_a_file_that_would_be_refused_with_the_profile_in_it_is_not_written() -> None:
    """The parser uses the last perf_profile of all cores, so custom in an earlier core would refuse the file."""
    text = '{"devices": [{"cores": [{"core_id": 0}, {"core_id": 1, "perf_profile": "burst"}]}]}'
    with pytest.raises(ProfileError, match=r"with the profile in it: custom, and the last .*change its other cores"):
        merged(parse_extension_file(text), from_profile(BURST))


@pytest.mark.parametrize("other", [0, 1])
def test_a_profile_is_not_written_where_another_core_says_what_counts(other: int) -> None:
    """The last core's value of each key is voted, so the profile's own polling would not be."""
    cores = f'{{"core_id": 0}}, {{"core_id": {other}, "rpc_polling_time": 50}}'
    file = parse_extension_file(f'{{"devices": [{{"cores": [{cores}]}}]}}')
    with pytest.raises(ProfileError, match=r"core 0 would not be voted: .*change its other cores first"):
        merged(file, from_profile(BURST))


def test_a_profile_is_written_into_the_core_that_counts() -> None:
    """Other cores stay as they are, even with the profile's keys, since only the last core's values are voted."""
    file = parse_extension_file('{"devices": [{"cores": [{"rpc_polling_time": 50}, {"core_id": 1}]}]}')
    done = merged(file, from_profile(BURST), core=1).text.text
    assert done.startswith('{"devices": [{"cores": [{"rpc_polling_time": 50}, {')


@pytest.mark.parametrize("text", ['{"devices": [{"cores": [{"x": 1}]}]}', '{"backend_extensions": {}}'])
def test_a_file_that_would_not_be_read_is_not_merged_into(text: str) -> None:
    """A file that the vendor's parser refuses, or that names another file, is an error."""
    with pytest.raises(ProfileError):
        merged(parse_extension_file(text), from_profile(BURST))


OTHERS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["graphs", "context", "memory", "x"]), st.just({}) | st.just([]), max_size=3
)


@given(profiles(), OTHERS, st.sampled_from([None, 2, "\t"]), st.sampled_from(["\n", "\r\n"]))
@examples(15)
def test_any_file_keeps_its_other_lines(profile: Profile, others: Any, indent: Any, line_end: str) -> None:
    """Removing what was added leaves the file as before."""
    others.pop("graphs", None)
    others.pop("memory", None)
    core = {"core_id": 0, "perf_profile": "burst"}
    text = json.dumps({**others, "devices": [{"cores": [core]}]}, indent=indent).replace("\n", line_end)
    file = parse_extension_file(text.encode())
    done = merged(file, from_profile(profile))
    assert done.text.accepted().plain()["devices"][0]["cores"][0] == {"core_id": 0, **from_profile(profile).settings}
    kept = [line for line in text.splitlines() if "perf_profile" not in line]
    if indent is not None:
        assert [line for line in kept if line.strip(" \t,") in done.text.text] == kept
        assert done.text.text.count("\r\n") == (done.text.text.count("\n") if line_end == "\r\n" else 0)


def test_the_keys_of_a_core_about_votes_are_those_of_the_table() -> None:
    """An export sets or removes each such key, so the list must be complete."""
    named = {name for section, name in KEYS if section is Section.CORE}
    assert named == {*CORE_KEYS, "core_id"}


def test_what_only_we_do_is_lost() -> None:
    """The file gets the nearer of the voter's two sustain times, by a learnt time's first value."""
    assert BURST.relax is not None
    learnt = Adaptive(break_even_us=100_000)
    awake = VoteSet(rpc_polling_time_us=777)
    lowest = attrs.evolve(BURST.relax.after_deinit_to, name="lowest", votes=awake)
    profile = burst(after_inference_us=learnt, then=Then(lowest, 2_000_000), raise_ahead_us=5000)
    made = from_profile(profile)
    told = {".".join(each.field): each.says for each in made.lost if each.severity is Severity.WARNING}
    assert told == {
        "relax.after_inference_us": "{adaptive: {break_even_us: 100000, least_us: 0, most_us: 200000}}",
        "relax.then": "lowest",
        "relax.raise_ahead_us": "5000 us",
    }
    assert not any(item["sustainInferencePerfState"] for item in made.settings["custom"])
    shares = from_profile(burst(after_inference_us=Adaptive(cold_starts_ppm=50_000)))
    assert all(item["sustainInferencePerfState"] for item in shares.settings["custom"])
