"""The cores of a device, joined into one as the vendor's voter reads them (tests/vendor/test_several_cores.py)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.several_cores import CASES, SeveralCores

from htppower.tools.extensions.extension_file import as_inner, parse_extension_file
from htppower.tools.extensions.keys import Section
from htppower.tools.extensions.one_core import with_one_core
from htppower.tools.extensions.to_profiles import to_profiles

_GRAPH = {"graph_names": ["g"], "perf_profile": "balanced"}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_imported_is_what_the_last_value_of_each_key_says(case: SeveralCores) -> None:
    """The raised and relaxed core corners, polling and latency are the last values."""
    made, *_ = to_profiles(as_inner(parse_extension_file(case.text, "a.json")))
    assert case.of_profile(made.profile) == case.expected


def test_a_file_with_one_core_is_left_as_it_is() -> None:
    """With one core, the same file object is returned."""
    file = parse_extension_file('{"devices": [{"cores": [{"perf_profile": "burst"}]}]}', "a.json")
    assert with_one_core(file) is file
    assert with_one_core(file, 0) is file


def test_each_device_has_cores_of_its_own() -> None:
    """The cores of a later device do not change the first device."""
    cores = [[{"core_id": 0}, {"core_id": 1, "rpc_polling_time": 5}], [{"rpc_polling_time": 7}]]
    text = json.dumps({"devices": [{"cores": each} for each in cores]})
    file = with_one_core(parse_extension_file(text, "a.json"))
    assert [core.number("rpc_polling_time") for core in file.of(Section.CORE)] == [5, 7]
    chosen = with_one_core(parse_extension_file(text, "a.json"), 0)
    assert [core.number("rpc_polling_time") for core in chosen.of(Section.CORE)] == [None, 7]


def test_null_and_a_key_given_twice_are_read_as_in_one_core() -> None:
    """Null is skipped; if a core has a key twice, its first value counts."""
    first = '{"rpc_polling_time": 5, "rpc_control_latency": 9}'
    second = '{"rpc_polling_time": null, "rpc_control_latency": 11, "rpc_control_latency": 12}'
    file = with_one_core(parse_extension_file(f'{{"devices": [{{"cores": [{first}, {second}]}}]}}', "a.json"))
    (core,) = file.of(Section.CORE)
    assert (core.number("rpc_polling_time"), core.number("rpc_control_latency")) == (5, 11)


@pytest.mark.parametrize("whole", [{"x": {"graphs": [_GRAPH]}}, {"xgraphs": [_GRAPH]}, {"xgraphs": _GRAPH}])
def test_graphs_in_another_place_are_read(whole: dict[str, Any]) -> None:
    """The vendor's voter uses them (measured), so they become a profile, and nothing is left out."""
    made = to_profiles(parse_extension_file(json.dumps(whole), "a.json"))
    assert [each.of.rpartition(": ")[2] for each in made] == ["high_performance.", "balanced."]
    assert "graphs g" in made[1].of
    assert not any("omitted here" in remark.says for each in made for remark in each.remarks)
