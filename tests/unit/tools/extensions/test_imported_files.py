"""Import: the profiles made of a file, their names, and what is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from support.imported import remarks

from htppower import ProfileError, load_profile
from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.to_profiles import to_profiles


def test_devices_and_graphs_that_differ_are_profiles() -> None:
    """Equal cores are one profile, a graph has its own, and a second device has a remark that it is ignored."""
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
        ("camera_core0", "Imported from camera.json, device 0, cores 0, 1, 2: burst."),
        (
            "camera_device1_core0",
            "Imported from camera.json, device 1, core 0: balanced (the vendor's voter reads only the first device).",
        ),
        ("camera_graphs0", "Imported from camera.json, graphs a, b: power_saver."),
    ]
    assert "INIT and DE-INIT vote like the core's burst" in remarks(found[-1])
    assert found[0].left_out == ("Not about votes, and omitted: graphs.1.vtcm_mb.",)
    (only,) = to_profiles(parse_extension_file(json.dumps({**text, "graphs": []}), "camera.json"), core=2)
    assert only.profile.name == "camera"
    with pytest.raises(ProfileError, match="no core 7"):
        to_profiles(parse_extension_file(json.dumps(text), "camera.json"), core=7)


def test_the_device_and_what_is_no_vote_stand_in_comments() -> None:
    """The SoC is named in a comment, and keys that are not about votes are listed."""
    text = {
        "devices": [{"soc_model": 69, "dsp_arch": "v79", "cores": [{"perf_profile": "burst"}]}],
        "memory": {"mem_type": "shared_buffer"},
        "context": [{"weight_sharing_enabled": True}],
    }
    (found,) = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert found.left_out == (
        'Settings of the host, not of the profile: soc_model 69 (SM8750, V79), dsp_arch "v79".',
        "Not about votes, and omitted: memory.mem_type, context.0.weight_sharing_enabled.",
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
    """The name is the file's, changed to a valid name that is not shipped and is a word in YAML."""
    (found,) = to_profiles(parse_extension_file("{}", path))
    assert found.profile.name == name
    assert yaml.safe_load(found.texts()[f"{name}.yaml"])["profile"] == name


def test_hostile_names_stay_in_their_comment() -> None:
    """A line break in a graph's name begins no line of the YAML."""
    text = {"graphs": [{"graph_names": ["a\nvotes: unset"], "perf_profile": "burst"}]}
    found = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert all(line.startswith("#") for line in found[-1].texts()["camera_graphs0.yaml"].splitlines()[:2])


@pytest.mark.parametrize(("core", "base", "polling_us"), [(None, "balanced", 77), (0, "burst", 77), (1, "balanced", 0)])
def test_cores_that_differ_are_one_as_to_the_vendor(core: int | None, base: str, polling_us: int) -> None:
    """The last value of each key counts, with a remark; ``core`` selects the cores of one ID."""
    cores = [{"perf_profile": "burst", "rpc_polling_time": 77}, {"core_id": 1, "perf_profile": "balanced"}]
    text = json.dumps({"devices": [{"cores": cores}]})
    (found,) = to_profiles(parse_extension_file(text, "camera.json"), core=core)
    assert found.base == load_profile(base)
    assert (found.profile.votes.rpc_polling_time_us or 0) == polling_us
    assert "uses the settings of the last; --core selects the cores of one id" in remarks(found)


@pytest.mark.parametrize(
    "text",
    [
        {"xdevices": [{"cores": [{"perf_profile": "balanced"}]}]},
        {"devices": [{"cores": [{"perf_profile": "burst"}], "xcores": [{"perf_profile": "balanced"}]}]},
    ],
)
def test_devices_under_another_key_are_told_and_read(text: dict[str, Any]) -> None:
    """The vendor's parser finds them by a word in the key (measured), and so does the import, with a remark."""
    (found,) = to_profiles(parse_extension_file(json.dumps(text), "camera.json"))
    assert found.base == load_profile("balanced")
    assert "is read as perf_profile, because of the words in it (EXT-24" in remarks(found)
