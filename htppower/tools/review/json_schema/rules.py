"""The rules between the fields of one file that JSON Schema can express, for files that state every field."""

from __future__ import annotations

from typing import Any

from htppower.profiles.fields import CORNER_KEYS, UNSET
from htppower.votes.corners import ExpandedCorner, VoltageCorner

_UNSET = {"const": UNSET}
_OBJECT = {"type": "object"}
_POSITIVE = {"type": "integer", "minimum": 1}
# The highest corner of the bus, by the field of the HVX vote.
_HVX = {"dcvs_v3": VoltageCorner.MAX_VOLTAGE_CORNER.name, "dcvs_v3_exp": ExpandedCorner.MAX.name}


def of_votes() -> list[dict[str, Any]]:
    """Return the rules between the votes of one vote set."""
    plain = {"dcvs_v3_exp": _UNSET}
    disable = {"const": "DISABLE"}
    target = {"type": "object", "properties": {"target": disable}, "required": ["target"]}
    no_core = {"type": "object", "properties": {"core": {"anyOf": [disable, target]}}, "required": ["core"]}
    return [
        _if_then("HMX-3", {"dcvs_v3": _UNSET}, {"hmx_v2": _UNSET}, plain),
        *(_if_then("HMX-3", {hvx: no_core}, {"hmx_v2": {"if": _OBJECT, "then": target}}) for hvx in _HVX),
        _if_then("CENG-2", {"dcvs_v3": _UNSET}, {"ceng": _UNSET, "ceng_exp": _UNSET}, plain),
        _if_then("DCVS-5", {"dcvs_v3": _OBJECT}, plain),
        _if_then("CENG-3", {"ceng": _OBJECT}, {"ceng_exp": _UNSET}),
        _if_then("RPC-2", {"adaptive_polling_time_us": _POSITIVE}, {"rpc_polling_time_us": _POSITIVE}),
        _if_then("DDR-1", {"ddr_perf_mode": {"const": True}}, _bus_at_the_top("dcvs_v3"), plain),
        _if_then("DDR-1", {"ddr_perf_mode": {"const": True}, "dcvs_v3_exp": _OBJECT}, _bus_at_the_top("dcvs_v3_exp")),
    ]


def of_a_profile() -> list[dict[str, Any]]:
    """Return the rules between the parts of a profile."""
    any_vote = {"type": "object", "not": {"additionalProperties": _UNSET}}
    return [_if_then("SUS-2", {"votes": any_vote}, {"relax": {"not": _UNSET}})]


def _bus_at_the_top(hvx: str) -> dict[str, Any]:
    highest = {"const": _HVX[hvx]}
    limits = {"type": "object", "properties": dict.fromkeys(CORNER_KEYS, highest)}
    return {hvx: {"type": "object", "properties": {"bus": {"anyOf": [highest, limits]}}}}


def _if_then(
    rule: str, given: dict[str, Any], then: dict[str, Any], may_be_left_out: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "$comment": rule,
        "if": {"properties": {**given, **(may_be_left_out or {})}, "required": list(given)},
        "then": {"properties": then},
    }
