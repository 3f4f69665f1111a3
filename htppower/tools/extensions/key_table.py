"""The table of all keys of an extension file, including an outer file: ``keys.csv``, and the words that it names."""

from __future__ import annotations

import csv
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.tools.extensions.keys import OLDEST, UINT32, UINT64, Key, Section, Source, Type
from htppower.votes.corners import ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.option import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

# The llm_decode profiles exist from 2.48 on, and only for Hexagon V79 and later.
LLM_DECODE = "llm_decode_"
PERF_PROFILES = (
    "low_balanced",
    "balanced",
    "default",
    "high_performance",
    "sustained_high_performance",
    "burst",
    "low_power_saver",
    "power_saver",
    "high_power_saver",
    "extreme_power_saver",
    "system_settings",
    "custom",
    *LLM_DECODE_PROFILES,
)
DSP_ARCHS = ("v66", "v68", "v69", "v73", "v75", "v77", "v79", "v81", "v85", "v89")
# The times when an item of custom is voted: before and after INIT, INFERENCE and DE-INIT.
GRAPH_STATES = ("init_start", "inference_start", "deinit_start", "init_done", "inference_done", "deinit_done")
CORNERS = tuple(corner.enumerator for corner in VoltageCorner)
# All names of the corners; the parser accepts the names that are new in 2.50 only from 2.50 on.
EXPANDED_CORNERS = tuple(f"DCVS_EXP_VCORNER_{name}" for name in ExpandedCorner.__members__)
POWER_MODES = tuple(mode.enumerator for mode in PowerMode)
DEFAULT_SLEEP_LATENCY_US = 1000

_WORDS = {
    "PERF_PROFILES": PERF_PROFILES,
    "DSP_ARCHS": DSP_ARCHS,
    "GRAPH_STATES": GRAPH_STATES,
    "CORNERS": CORNERS,
    "EXPANDED_CORNERS": EXPANDED_CORNERS,
    "POWER_MODES": POWER_MODES,
}
_RANGES = {"": None, "uint32": UINT32, "uint64": UINT64, "int64": Limits(-(2**63), 2**63 - 1)}


def known(section: Section) -> tuple[str, ...]:
    """Return the names of the keys that an object may have."""
    return tuple(name for where, name in KEYS if where is section)


def _key(row: dict[str, str]) -> Key:
    return Key(
        section=Section(row["section"]),
        name=row["name"],
        type=Type[row["type"].upper()],
        does=row["does"],
        holds=Section(row["holds"]) if row["holds"] else None,
        default=_value(row["default"]),
        words=_WORDS.get(row["words"], tuple(row["words"].split())),
        limits=_range(row["range"]),
        useful=_range(row["useful"]),
        since=_version(row["since"]) if row["since"] else OLDEST,
        source=Source[row["source"].upper() or "DOCUMENTED"],
        power=row["votes"] == "yes",
        required=row["required"] == "yes",
        note=row["note"],
    )


def _value(said: str) -> Any:
    plain = {"": None, "true": True, "false": False}
    return plain[said] if said in plain else int(said) if said.isdecimal() else said


def _range(said: str) -> Limits | None:
    if said in _RANGES:
        return _RANGES[said]
    low, _, high = said.partition("-")
    return Limits(int(low), int(high))


def _version(said: str) -> tuple[int, int]:
    major, _, minor = said.partition(".")
    return int(major), int(minor)


def _table() -> Mapping[tuple[Section, str], Key]:
    with Path(__file__).with_name("keys.csv").open(encoding="utf-8", newline="") as file:
        keys = map(_key, csv.DictReader(file))
        return MappingProxyType({(key.section, key.name): key for key in keys})


KEYS = _table()
