"""Those rules between the fields of one file that JSON Schema can say, for files that state every field."""

from __future__ import annotations

from typing import Any

from htppower.profiles.fields import LIMITS, UNSET
from htppower.votes.corners import VoltageCorner

_HIGHEST = VoltageCorner.MAX_VOLTAGE_CORNER.name
_DISABLE = {"const": VoltageCorner.DISABLE.name}
_UNSET = {"const": UNSET}
_POSITIVE = {"type": "integer", "minimum": 1}


def of_votes() -> list[dict[str, Any]]:
    """Return the rules between the votes of one vote set."""
    limits = {name: {"const": _HIGHEST} for name in LIMITS}
    highest = {"anyOf": [{"const": _HIGHEST}, {"type": "object", "properties": limits}]}
    target = {"type": "object", "properties": {"target": _DISABLE}, "required": ["target"]}
    disabled = {"anyOf": [_DISABLE, target]}
    return [
        _if_then("HMX-3", {"dcvs_v3": _UNSET}, {"hmx_v2": _UNSET}),
        _if_then(
            "HMX-3",
            {"dcvs_v3": {"type": "object", "properties": {"core": disabled}, "required": ["core"]}},
            {"hmx_v2": {"not": {"type": "object"}}},
        ),
        _if_then("RPC-2", {"adaptive_polling_time_us": _POSITIVE}, {"rpc_polling_time_us": _POSITIVE}),
        _if_then(
            "DDR-1",
            {"ddr_perf_mode": {"const": True}},
            {"dcvs_v3": {"type": "object", "properties": {"bus": highest}}},
        ),
    ]


def of_a_profile() -> list[dict[str, Any]]:
    """Return the rules between the parts of a profile."""
    any_vote = {"type": "object", "not": {"additionalProperties": _UNSET}}
    return [_if_then("SUS-2", {"votes": any_vote}, {"relax": {"not": _UNSET}})]


def _if_then(rule: str, given: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    return {
        "$comment": rule,
        "if": {"properties": given, "required": list(given)},
        "then": {"properties": then},
    }
