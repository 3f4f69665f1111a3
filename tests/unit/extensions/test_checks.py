"""What the vendor's parser refuses a file for, each at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from htppower.extensions.checks import problems
from htppower.extensions.extension_file import parse_extension_file

CORNERS = {
    f"{clock}VoltageCorner{limit}": "DCVS_VOLTAGE_VCORNER_SVS"
    for clock in ("bus", "core")
    for limit in ("Min", "Target", "Max")
}
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
    """What lint finds alone stops an import and an export, too, at its place."""
    (found,) = problems(parse_extension_file(text, "a.json"))
    assert found.rule == said
    assert found.line == 1
    assert found.column > 1


def core(**keys: Any) -> dict[str, Any]:
    """Return a file with one core."""
    return {"devices": [{"cores": [keys]}]}


def said(text: dict[str, Any] | str) -> list[str]:
    """Return what is refused, without places."""
    found = problems(parse_extension_file(text if isinstance(text, str) else json.dumps(text), "f"))
    return [f"{each.rule}: {each.message}" for each in found]


@pytest.mark.parametrize(
    "text",
    [
        {},
        {"unknown": 1, "context": {"unknown": 1}, "memory": {"unknown": [1]}, "devices": [{"unknown": {}}]},
        core(unknown=None),
        core(perf_profile="llm_decode_burst", rpc_polling_time=20000, hmx_timeout_us=5),
        core(hmxControl={"unknown": 1}),
        custom(ITEM, ITEM),
        core(
            perf_profile="custom",
            custom={"dcvsControl": {name: {"start": c, "done": c} for name, c in CORNERS.items()}},
        ),
        '{"devices": [{"cores": [{"perf_profile": "burst", "perf_profile": "bursty"}]}]}',
    ],
)
def test_what_the_vendor_takes_is_not_refused(text: dict[str, Any] | str) -> None:
    """Unknown keys outside of cores, graphs and items; numbers out of their useful range; what stands twice."""
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (core(perf_profile="BURST"), "VALUE-1: 'BURST' is not known as perf_profile"),
        (core(perf_profile=None), "TYPE-1: perf_profile is null, where one of its words is needed"),
        (core(_comment="x"), "KEY-1: unknown key '_comment'"),
        (core(rpc_control_latency=2**32), "VALUE-1: rpc_control_latency is 4294967296"),
        (core(rpc_control_latency=-1), "VALUE-1: rpc_control_latency is -1"),
        (core(rpc_control_latency=1.0), "TYPE-1: rpc_control_latency is 1.0, where an integer is needed"),
        (core(ddr_perf_mode=1), "TYPE-1: ddr_perf_mode is 1, where true or false is needed"),
        (core(perf_profile="custom"), "KEY-2: perf_profile is custom, and there is no key custom"),
        (custom(ITEM, perf_profile="burst"), "KEY-1: custom beside another perf_profile"),
        (custom(), "VALUE-1: custom has no item"),
        (custom({"graphState": ["init_start"]}), "KEY-2: dcvsControl is missing"),
        (custom({**ITEM, "graphState": []}), "VALUE-1: graphState is empty"),
        (custom({**ITEM, "graphState": ["init_done", "init_done"]}), "VALUE-1: 'init_done' is there twice"),
        (custom({**ITEM, "graphState": ["done"]}), "VALUE-1: 'done' is not known as graphState"),
        (
            custom({**ITEM, "dcvsControl": {**CORNERS, "sleep_disable": True}}),
            "KEY-1: unknown key 'sleep_disable'",
        ),
        ({"graphs": {}}, "TYPE-1: graphs is an object, where a list of objects is needed"),
        ({"devices": [1]}, "TYPE-1: 1 in devices, where an object is needed"),
        ({"devices": [{"dsp_arch": "V79"}]}, "VALUE-1: 'V79' is not known as dsp_arch"),
        ({"memory": {"mem_type": "raw"}}, "VALUE-1: 'raw' is not known as mem_type"),
        ("\ufeff{}", "JSON-1: a byte order mark"),
    ],
)
def test_what_the_vendor_refuses_is_told(text: dict[str, Any] | str, finding: str) -> None:
    """With the rule of its kind."""
    assert said(text) == [finding]


def test_every_refusal_has_its_place() -> None:
    """In the order of the file."""
    text = '{\n "devices": [{"cores": [\n  {"x": 1,\n   "perf_profile": "b"}]}],\n "graphs": 1}'
    assert [str(each.place) for each in problems(parse_extension_file(text, "f"))] == ["f:3:4", "f:4:20", "f:5:12"]
