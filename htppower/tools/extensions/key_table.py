"""The table of all keys of an extension file, including an outer file and the top level of an inner file."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.extensions.context_keys import CONTEXT_KEYS
from htppower.tools.extensions.custom_keys import CUSTOM_KEYS
from htppower.tools.extensions.graph_keys import GRAPH_KEYS
from htppower.tools.extensions.keys import UINT64, Key, Section, Type
from htppower.tools.extensions.power_keys import POWER_KEYS
from htppower.votes.option import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping

PRIORITIES = ("low", "normal", "normal_high", "high")
_INT64 = Limits(-(2**63), 2**63 - 1)
_CONTEXTS, _GRAPHS = Section.CONTEXT_CONFIGS, Section.GRAPH_CONFIGS

TOP_KEYS = (
    Key(
        Section.TOP,
        "graphs",
        Type.OBJECTS,
        "Settings of graphs.",
        note="The object form, which SDKs up to 2.20 accepted, refuses the file.",
    ),
    Key(Section.TOP, "devices", Type.OBJECTS, "Settings of devices and their cores.", power=True),
    Key(Section.TOP, "context", Type.OBJECT_OR_OBJECTS, "Settings of one context, or of several by contextKey."),
    Key(Section.TOP, "groupContext", Type.OBJECT, "Settings of a group of contexts."),
    Key(Section.TOP, "memory", Type.OBJECT, "The kind of memory for inputs and outputs."),
    Key(Section.DEVICE, "cores", Type.OBJECTS, "Settings of cores.", power=True),
)

OUTER_KEYS = (
    Key(Section.OUTER_TOP, "backend_extensions", Type.OBJECT, "The library of the backend, and its inner file."),
    Key(Section.OUTER_TOP, "context_configs", Type.OBJECT, "Settings of contexts for any backend."),
    Key(Section.OUTER_TOP, "graph_configs", Type.OBJECTS, "Settings of graphs for any backend."),
    Key(Section.BACKEND_EXTENSIONS, "shared_library_path", Type.TEXT, "The library that reads the inner file."),
    Key(Section.BACKEND_EXTENSIONS, "config_file_path", Type.TEXT, "The inner file."),
    Key(
        Section.BACKEND_EXTENSIONS,
        "per_soc_config_file_path",
        Type.TEXTS,
        "An inner file for each SoC, instead of config_file_path.",
    ),
    Key(_CONTEXTS, "context_priority", Type.WORD, "Which context runs first if several wait.", words=PRIORITIES),
    Key(_CONTEXTS, "async_execute_queue_depth", Type.INTEGER, "How many inferences may wait.", default=0),
    Key(_CONTEXTS, "enable_graphs", Type.TEXTS, "Which graphs of a binary are created."),
    Key(_CONTEXTS, "memory_limit_hint", Type.INTEGER, "How much memory to use, in MB.", default=0, limits=UINT64),
    Key(_CONTEXTS, "is_persistent_binary", Type.BOOL, "Whether the binary stays in memory.", default=False),
    Key(
        _CONTEXTS,
        "cache_compatibility_mode",
        Type.WORD,
        "Whether a binary that fits less well is accepted.",
        words=("permissive", "strict"),
    ),
    Key(_CONTEXTS, "graph_retention_order", Type.TEXTS, "Which graphs stay in memory first."),
    Key(_CONTEXTS, "spill_fill_buffer", Type.INTEGER, "The spill-fill buffer: -1 as needed.", limits=_INT64),
    Key(_CONTEXTS, "weights_buffer", Type.INTEGER, "The buffer of weights.", limits=_INT64),
    Key(_GRAPHS, "graph_name", Type.TEXT, "The graph."),
    Key(_GRAPHS, "graph_priority", Type.WORD, "Which graph runs first if several wait.", words=PRIORITIES),
    Key(_GRAPHS, "graph_profiling_num_executions", Type.INTEGER, "How many inferences are measured."),
)

# The 78 keys of the documentation and the measurements, in the order of their sections.
SETTINGS = (
    *(key for key in GRAPH_KEYS if key.section is Section.GRAPH),
    *POWER_KEYS,
    *(
        key
        for key in CONTEXT_KEYS
        if key.section in (Section.DEVICE, Section.CONTEXT, Section.GROUP_CONTEXT, Section.MEMORY)
    ),
)
_EVERY = (*TOP_KEYS, *OUTER_KEYS, *GRAPH_KEYS, *POWER_KEYS, *CUSTOM_KEYS, *CONTEXT_KEYS)
KEYS: Mapping[tuple[Section, str], Key] = MappingProxyType({(key.section, key.name): key for key in _EVERY})


def known(section: Section) -> tuple[str, ...]:
    """Return the names of the keys that an object may have."""
    return tuple(name for where, name in KEYS if where is section)
