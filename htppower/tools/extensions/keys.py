"""The keys of a backend extension file: the place of each, its allowed values, and its effect.

The allowed values were measured by calling the vendor's parser of QAIRT 2.47 to 2.51. The effect of a key is from the
vendor's documentation ("HTP Backend Extensions"), or is guessed from its name if the key is not documented.
"""

from __future__ import annotations

import csv
import enum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.tools.extensions.json_parser import Kind
from htppower.votes.corners import ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.option import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

UINT32 = Limits(0, 2**32 - 1)
UINT64 = Limits(0, 2**64 - 1)
# The oldest version that was measured: keys that it knows may be older.
OLDEST = (2, 47)


class Section(str, enum.Enum):
    """A kind of object in an extension file, in the form that describes its place."""

    TOP = "top"
    GRAPH = "graphs[]"
    HMX_OP_BOUNDING = "graphs[].hmx_op_bounding"
    DEVICE = "devices[]"
    CORE = "devices[].cores[]"
    CORE_HMX = "devices[].cores[].hmxControl"
    CUSTOM_ITEM = "devices[].cores[].custom[]"
    CUSTOM_OBJECT = "devices[].cores[].custom"
    CORNER_PAIR = "devices[].cores[].custom.dcvsControl corner"
    DCVS = "dcvsControl"
    DCVS_OBJECT = "dcvsControl of a custom object"
    DCVS_EXP = "dcvsExpControl"
    HMX = "hmxControl"
    CENG = "cengControl"
    CENG_EXP = "cengExpControl"
    CONTEXT = "context"
    CONCURRENT_GROUP = "context.concurrent_group_registration"
    GRAPH_SPLITTING = "context.graph_splitting_configs"
    GROUP_CONTEXT = "groupContext"
    MEMORY = "memory"
    OUTER_TOP = "outer file"
    BACKEND_EXTENSIONS = "backend_extensions"
    CONTEXT_CONFIGS = "context_configs"
    GRAPH_CONFIGS = "graph_configs[]"

    __str__ = str.__str__


class Type(str, enum.Enum):
    """The type of a key's value, as messages name it."""

    BOOL = "true or false"
    INTEGER = "an integer"
    WHOLE = "a whole number"
    NUMBER = "a number"
    TEXT = "a text"
    WORD = "one of its words"
    TEXTS = "a list of texts"
    TEXT_LISTS = "a list of lists of texts"
    INTEGERS = "a list of integers"
    OBJECT = "an object"
    OBJECTS = "a list of objects"
    OBJECT_OR_OBJECTS = "an object or a list of objects"
    INTEGER_OR_WORD = "an integer or one of its words"

    __str__ = str.__str__

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that a JSON value of this type may have."""
        return _KINDS[self]


_KINDS = {
    Type.BOOL: (Kind.BOOL,),
    Type.INTEGER: (Kind.INTEGER,),
    Type.INTEGER_OR_WORD: (Kind.INTEGER, Kind.TEXT),
    **dict.fromkeys((Type.WHOLE, Type.NUMBER), (Kind.INTEGER, Kind.FRACTION)),
    **dict.fromkeys((Type.TEXT, Type.WORD), (Kind.TEXT,)),
    **dict.fromkeys((Type.TEXTS, Type.TEXT_LISTS, Type.INTEGERS, Type.OBJECTS), (Kind.LIST,)),
    Type.OBJECT: (Kind.OBJECT,),
    Type.OBJECT_OR_OBJECTS: (Kind.OBJECT, Kind.LIST),
}


class Source(str, enum.Enum):
    """The source of a key."""

    DOCUMENTED = "vendor's documentation, 2.39"
    DOCUMENTED_2_48 = "vendor's documentation, 2.48"
    MEASURED = "measured only: the vendor's parser accepts it"

    __str__ = str.__str__


class Key(NamedTuple):
    """A single key.

    Attributes:
        section: its section.
        name: its spelling.
        type: the type of its value.
        does: its effect, in a sentence.
        holds: the section of its object, or of the objects in its list; None if it has no known keys.
        default: the value that applies without the key; None if there is none, or if it is unknown.
        words: the allowed words.
        limits: the range of numbers that the parser accepts.
        useful: the documented range, if the parser accepts more.
        since: the first version that knows it; ``OLDEST`` for keys that may be older.
        source: the source of the key.
        power: whether it affects votes.
        required: whether its object is refused without it.
        note: additional remarks.
    """

    section: Section
    name: str
    type: Type
    does: str
    holds: Section | None = None
    default: Any = None
    words: tuple[str, ...] = ()
    limits: Limits | None = None
    useful: Limits | None = None
    since: tuple[int, int] = OLDEST
    source: Source = Source.DOCUMENTED
    power: bool = False
    required: bool = False
    note: str = ""

    @property
    def place(self) -> str:
        """Its section and name, such as ``devices[].cores[].perf_profile``."""
        return self.name if self.section in (Section.TOP, Section.OUTER_TOP) else f"{self.section}.{self.name}"


_IN_CUSTOM = (
    *(Section.CUSTOM_ITEM, Section.CUSTOM_OBJECT, Section.DCVS, Section.DCVS_EXP),
    *(Section.HMX, Section.CENG, Section.CENG_EXP),
)
# The sections where an unknown key makes the vendor's parser refuse the whole file; in all other sections it silently
# ignores the key. An unknown key whose value is null is ignored everywhere.
REFUSES_UNKNOWN = frozenset((Section.GRAPH, Section.CORE, *_IN_CUSTOM))
# The sections whose keys all affect votes.
VOTE_SECTIONS = frozenset((Section.CORE_HMX, Section.CORNER_PAIR, Section.DCVS_OBJECT, *_IN_CUSTOM))
# The keys of a core in addition to its profile.
BESIDE: Mapping[str, str] = MappingProxyType(
    {
        "rpc_control_latency": "rpc_control_latency_us",
        "rpc_polling_time": "rpc_polling_time_us",
        "adaptive_polling_time": "adaptive_polling_time_us",
        "hmx_timeout_us": "hmx_timeout_us",
        "ddr_perf_mode": "ddr_perf_mode",
    }
)
# The clock blocks of an item; hmxControl is also a block of a core.
BLOCKS: Mapping[str, str] = MappingProxyType(
    {
        "dcvsControl": "dcvs_v3",
        "dcvsExpControl": "dcvs_v3_exp",
        "hmxControl": "hmx_v2",
        "cengControl": "ceng",
        "cengExpControl": "ceng_exp",
    }
)
# The keys of a core that affect votes: an export sets or removes each of them.
CORE_KEYS = ("perf_profile", *BESIDE, "hmxControl", "custom")


# The llm_decode profiles exist from 2.48 on, and only for Hexagon V79 and later.
LLM_DECODE = "llm_decode_"
PERF_PROFILES = (
    *("low_balanced", "balanced", "default", "high_performance", "sustained_high_performance", "burst"),
    *("low_power_saver", "power_saver", "high_power_saver", "extreme_power_saver", "system_settings", "custom"),
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
