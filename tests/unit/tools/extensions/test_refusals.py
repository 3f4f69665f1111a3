"""Refusals by the vendor's parser, each with its place; every command uses them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.extension_verdicts import REFUSED, TAKEN

from htppower.errors import ProfileError
from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.refusals import refusals
from htppower.tools.extensions.to_profiles import to_profiles

CORNERS = {
    f"{clock}VoltageCorner{limit}": "DCVS_VOLTAGE_VCORNER_SVS"
    for clock in ("bus", "core")
    for limit in ("Min", "Target", "Max")
}
WHOLE = ": the vendor's tools refuse the whole file"
ITEM = {"graphState": ["init_start"], "dcvsControl": CORNERS}


def custom(*items: Any, **core: Any) -> dict[str, Any]:
    """Return a file with these items."""
    return {"devices": [{"cores": [{"perf_profile": "custom", "custom": list(items), **core}]}]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"context": [{}, {"group_id": 0}]}', "EXT-18"),
        ('{"devices": [{"device_id": 0}, {"use_client_context": true}], "context": {"group_id": 0}}', "EXT-18"),
    ],
)
def test_what_the_parser_refuses_as_a_whole_is_refused_here(text: str, said: str) -> None:
    """A file that only lint refuses stops an import and an export, too, with the same place."""
    (found,) = refusals(parse_extension_file(text, "a.json"))
    assert found.rule == said
    assert found.line == 1
    assert found.column > 1


def core(**keys: Any) -> dict[str, Any]:
    """Return a file with one core."""
    return {"devices": [{"cores": [keys]}]}


def said(text: dict[str, Any] | str) -> list[str]:
    """Return the refusals, without places."""
    found = refusals(parse_extension_file(text if isinstance(text, str) else json.dumps(text), "f"))
    return [f"{each.rule}: {each.message.removesuffix(WHOLE)}" for each in found]


@pytest.mark.parametrize(
    "text",
    [
        {},
        {"unknown": 1, "context": {"unknown": 1}, "memory": {"unknown": [1]}, "devices": [{"unknown": {}}]},
        core(unknown=None),
        core(perf_profile="llm_decode_burst", rpc_polling_time=20000, hmx_timeout_us=5),
        core(hmxControl={"unknown": 1}),
        custom(ITEM, ITEM),
        {"devices": [{"dsp_arch": "v90", "cores": [{"my_core_id": 1, "perf_profile": "burst", "custom": []}]}]},
        core(
            perf_profile="custom",
            custom={"dcvsControl": {name: {"start": c, "done": c} for name, c in CORNERS.items()}},
        ),
        '{"devices": [{"cores": [{"perf_profile": "burst", "perf_profile": "bursty"}]}]}',
    ],
)
def test_what_the_vendor_takes_is_not_refused(text: dict[str, Any] | str) -> None:
    """Some unknown keys, numbers out of their useful range, and repeated keys are accepted."""
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (core(perf_profile="BURST"), "EXT-12: perf_profile has no word 'BURST'"),
        (core(perf_profile=None), "EXT-11: perf_profile must be one of its words, not null"),
        (core(_comment="x"), "EXT-14: the unknown key devices[].cores[]._comment"),
        (core(rpc_control_latency=2**32), "EXT-13: rpc_control_latency 4294967296 is not from 0 to 4294967295"),
        (core(rpc_control_latency=-1), "EXT-13: rpc_control_latency -1 is not from 0 to 4294967295"),
        (
            core(rpc_control_latency=1.0),
            "EXT-11: rpc_control_latency must be an integer, not a number with a fraction or an exponent",
        ),
        (core(ddr_perf_mode=1), "EXT-11: ddr_perf_mode must be true or false, not an integer"),
        (core(perf_profile="custom"), "EXT-17: perf_profile custom without clock votes in custom"),
        (custom(ITEM, perf_profile="burst"), "EXT-17: custom, and the last perf_profile of the cores is not custom"),
        (custom(), "EXT-17: perf_profile custom without clock votes in custom"),
        (custom({"graphState": ["init_start"]}), "EXT-17: perf_profile custom without clock votes in custom"),
        (custom({**ITEM, "graphState": []}), "EXT-15: graphState is empty"),
        (custom({**ITEM, "graphState": ["init_done", "init_done"]}), "EXT-15: init_done is in graphState twice"),
        (custom({**ITEM, "graphState": ["done"]}), "EXT-12: graphState has no word 'done'"),
        (
            custom({**ITEM, "dcvsControl": {**CORNERS, "sleep_disable": True}}),
            "EXT-14: sleep_disable in an item of custom",
        ),
        ({"graphs": {}}, "EXT-11: graphs must be a list of objects, not an object"),
        ({"devices": [1]}, "EXT-11: devices must be a list of objects, but it contains an integer"),
        ({"devices": [{"dsp_arch": "V79"}]}, "EXT-12: dsp_arch has no word 'V79'"),
        ({"memory": {"mem_type": "raw"}}, "EXT-12: mem_type has no word 'raw'"),
        ("\ufeff{}", "EXT-10: a byte order mark"),
    ],
)
def test_what_the_vendor_refuses_is_told(text: dict[str, Any] | str, finding: str) -> None:
    """Each refusal has the rule of its kind."""
    assert said(text) == [finding]


def test_every_refusal_has_its_place() -> None:
    """Refusals are in the order of the file."""
    text = '{\n "devices": [{"cores": [\n  {"x": 1,\n   "perf_profile": "b"}]}],\n "graphs": 1}'
    assert [str(each.place) for each in refusals(parse_extension_file(text, "f"))] == ["f:3:4", "f:4:20", "f:5:12"]


@pytest.mark.parametrize("text", TAKEN)
def test_a_file_that_the_parser_was_seen_to_take_is_imported(text: str) -> None:
    """The file has no refusal, and becomes profiles with their files."""
    file = parse_extension_file(text)
    assert refusals(file) == ()
    assert all(made.texts() for made in to_profiles(file))


@pytest.mark.parametrize("text", REFUSED)
def test_a_file_that_the_parser_was_seen_to_refuse_is_not(text: str) -> None:
    """Import refuses with the same findings as lint."""
    file = parse_extension_file(text)
    assert refusals(file)
    with pytest.raises(ProfileError) as caught:
        to_profiles(file)
    assert tuple(caught.value.problems) == refusals(file)
