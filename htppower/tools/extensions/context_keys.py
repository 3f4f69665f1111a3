"""The keys of devices, contexts, groups and memory that do not affect votes."""

from __future__ import annotations

from typing import Any

from htppower.tools.extensions.keys import UINT32, UINT64, Key, Section, Source, Type
from htppower.votes.option import Limits

_MEASURED = Source.MEASURED
_2_48 = Source.DOCUMENTED_2_48
_CONTEXT, _DEVICE = Section.CONTEXT, Section.DEVICE


def _bool(section: Section, name: str, does: str, source: Source = Source.DOCUMENTED, **more: Any) -> Key:
    return Key(section, name, Type.BOOL, does, source=source, **more)


CONTEXT_KEYS = (
    Key(
        _DEVICE,
        "device_type",
        Type.INTEGER,
        "Whether the device is on the chip (0) or outside it (1).",
        limits=UINT32,
        useful=Limits(0, 1),
        source=_MEASURED,
    ),
    _bool(_DEVICE, "enable_async_execute", "By its name, whether inferences may be queued.", _MEASURED),
    Key(
        _DEVICE,
        "pd_session",
        Type.WORD,
        "Whether the process on the DSP is signed.",
        default="unsigned",
        words=("unsigned", "signed"),
    ),
    Key(
        _DEVICE,
        "profiling_level",
        Type.TEXT,
        "linting: the waiting times of each op are measured.",
        note="The parser accepts any text; only linting has an effect.",
    ),
    _bool(_DEVICE, "use_dynamic_partitioning", "By its name, splitting at run time.", _MEASURED, since=(2, 48)),
    _bool(_DEVICE, "enable_htp_extension", "Not known.", _MEASURED, since=(2, 48)),
    _bool(_DEVICE, "consolidate_htp_extension", "Not known.", _MEASURED, since=(2, 48)),
    Key(
        _CONTEXT,
        "contextKey",
        Type.TEXT,
        "The context, of several, that the other settings of this object are for.",
        source=_MEASURED,
        note="context is then a list.",
    ),
    _bool(_CONTEXT, "weight_sharing_enabled", "Whether the graphs of the context share weights.", default=False),
    Key(
        _CONTEXT,
        "max_spill_fill_buffer_for_group",
        Type.INTEGER,
        "The largest spill-fill buffer of a group of contexts, in bytes.",
        limits=UINT64,
        note="It needs group_id 0.",
    ),
    Key(
        _CONTEXT,
        "group_id",
        Type.INTEGER,
        "The group that the context is in: 0.",
        limits=UINT32,
        useful=Limits(0, 0),
    ),
    Key(
        _CONTEXT,
        "concurrent_group_registration",
        Type.OBJECT,
        "By its name, a group that contexts join at the same time.",
        source=_MEASURED,
    ),
    Key(
        _CONTEXT,
        "file_read_memory_budget_in_mb",
        Type.INTEGER,
        "How much memory reading a context binary may take, in MB.",
        default=0,
        limits=UINT64,
    ),
    _bool(_CONTEXT, "dsp_memory_profiling_enabled", "Whether memory on the DSP is measured.", _MEASURED),
    _bool(
        _CONTEXT,
        "io_memory_estimation",
        "Whether the memory of inputs and outputs is estimated when a binary is loaded.",
        default=False,
    ),
    _bool(_CONTEXT, "prepare_only", "By its name, whether the context is only prepared.", _MEASURED),
    _bool(_CONTEXT, "init_acceleration", "Whether a binary is loaded faster.", default=False),
    _bool(_CONTEXT, "skip_validation_on_binary_section", "Whether a binary is not checked.", _MEASURED),
    _bool(_CONTEXT, "extended_udma", "Whether DMA may reach addresses above 4 GiB."),
    _bool(_CONTEXT, "lora_weight_sharing", "Whether LoRA adapters share weights.", default=False),
    _bool(_CONTEXT, "detachable_buffers_enabled", "By its name, whether buffers may be detached.", _MEASURED),
    _bool(_CONTEXT, "lora_weight_sharing_ram_preload", "Whether shared adapters are loaded ahead.", _2_48),
    Key(
        _CONTEXT,
        "reused_io_limit_mb",
        Type.INTEGER,
        "How much memory reused inputs and outputs may take, in MB.",
        limits=UINT64,
        source=_2_48,
    ),
    _bool(
        _CONTEXT,
        "reference_weight_sharing_enabled",
        "Whether the contexts of several SoCs share weights.",
    ),
    _bool(_CONTEXT, "graph_splitting_enabled", "Whether graphs are split.", _MEASURED, note="Deprecated."),
    Key(
        _CONTEXT,
        "concurrent_deserialization_patch",
        Type.TEXT,
        "How several readers read a binary at the same time.",
        source=_2_48,
    ),
    _bool(_CONTEXT, "hard_detach_enabled", "By its name, how buffers are detached.", _MEASURED, since=(2, 48)),
    Key(
        _CONTEXT,
        "lora_preload_buffer_group",
        Type.TEXT_LISTS,
        "By its name, which adapters are loaded together.",
        since=(2, 49),
        source=_MEASURED,
    ),
    Key(
        _CONTEXT,
        "graph_splitting_configs",
        Type.OBJECT,
        "Whether and on how many threads graphs are split.",
        since=(2, 49),
        source=_MEASURED,
    ),
    Key(Section.CONCURRENT_GROUP, "group_id", Type.INTEGER, "The group.", limits=UINT32, source=_MEASURED),
    Key(
        Section.CONCURRENT_GROUP,
        "max_spill_fill_buffer_for_group",
        Type.INTEGER,
        "Its largest spill-fill buffer, in bytes.",
        limits=UINT64,
        source=_MEASURED,
    ),
    _bool(Section.GRAPH_SPLITTING, "graph_splitting_enabled", "Whether graphs are split.", _MEASURED, since=(2, 49)),
    Key(
        Section.GRAPH_SPLITTING,
        "num_prepare_threads",
        Type.INTEGER_OR_WORD,
        "On how many threads they are prepared.",
        words=("auto",),
        limits=UINT32,
        since=(2, 49),
        source=_MEASURED,
    ),
    _bool(
        Section.GROUP_CONTEXT,
        "share_resources",
        "Whether contexts share resources of the DSP.",
        default=False,
        note="Not with graph switching.",
    ),
    Key(
        Section.GROUP_CONTEXT,
        "share_resources_optimization_type",
        Type.INTEGER,
        "By its name, the savings of sharing.",
        limits=UINT32,
        source=_MEASURED,
    ),
    Key(
        Section.GROUP_CONTEXT,
        "reused_io_limit_mb",
        Type.INTEGER,
        "How much memory reused inputs and outputs may take, in MB.",
        limits=UINT64,
        source=_2_48,
    ),
    Key(
        Section.MEMORY,
        "mem_type",
        Type.WORD,
        "shared_buffer: inputs and outputs are shared with the DSP, and not copied.",
        words=("shared_buffer",),
        note="raw and memhandle refuse the file.",
    ),
)
