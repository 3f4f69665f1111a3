"""The keys of graphs that do not affect votes: how graphs are prepared."""

from __future__ import annotations

from typing import Any

from htppower.tools.extensions.keys import UINT32, Key, Section, Source, Type
from htppower.votes.option import Limits


def _key(name: str, kind: Type, does: str, source: Source = Source.DOCUMENTED, **more: Any) -> Key:
    limits = UINT32 if kind is Type.INTEGER else None
    return Key(Section.GRAPH, name, kind, does, source=source, limits=limits, **more)


_MEASURED = Source.MEASURED
_2_48 = Source.DOCUMENTED_2_48
_SWITCH = Limits(0, 1)

GRAPH_KEYS = (
    _key(
        "graph_names",
        Type.TEXTS,
        "The graphs that the other settings of this object are for.",
        note="The name of a missing graph is silently ignored.",
    ),
    _key("vtcm_mb", Type.INTEGER, "How much vector memory the graph uses, in MB: 0 is all that the SoC has."),
    _key(
        "vtcm_size",
        Type.INTEGER,
        "How much vector memory the graph uses, in bytes.",
        note="For V81 and later; a multiple of 64 KiB.",
    ),
    _key(
        "hmx_op_bounding",
        Type.OBJECT,
        "The clocks for which ops on the matrix unit are planned.",
        _2_48,
        note="For V81 and later. It is not a vote, but is right only for the clocks of the profile.",
    ),
    _key(
        "fp16_relaxed_precision",
        Type.INTEGER,
        "Whether to compute in half precision.",
        note="Deprecated since 2.35.",
    ),
    _key("num_cores", Type.INTEGER, "On how many cores the graph runs.", default=1),
    _key(
        "dynamic_partitioning",
        Type.INTEGERS,
        "By its name, how the graph is split at run time.",
        _MEASURED,
        since=(2, 51),
    ),
    _key("hvx_threads", Type.INTEGER, "How many vector threads an inference uses."),
    _key(
        "O",
        Type.NUMBER,
        "How much time preparation spends on a better graph: 1 the least, 3 the most.",
        default=2,
        useful=Limits(1, 3),
    ),
    _key("assume_same_quant", Type.BOOL, "Whether all LoRA adapters share one quantization.", _MEASURED, default=False),
    _key("share_io_buffer", Type.BOOL, "By its name, whether inputs and outputs share a buffer.", _MEASURED),
    _key(
        "short_depth_conv_on_hmx_off",
        Type.BOOL,
        "Whether short depth convolutions stay off the matrix unit.",
        default=False,
    ),
    _key(
        "high_precision_sigmoid",
        Type.BOOL,
        "Whether sigmoids are computed in high precision.",
        _MEASURED,
        default=False,
        note="The documentation of 2.48 calls it use_high_precision_fp16_sigmoid, which refuses the file.",
    ),
    _key("monolithic_lstm", Type.BOOL, "Whether an LSTM stays one op.", _MEASURED, default=False),
    _key(
        "fold_relu_activation_into_conv_off",
        Type.BOOL,
        "Whether ReLUs are kept out of convolutions.",
        default=False,
    ),
    _key("weights_packing", Type.BOOL, "Whether weights are packed.", default=False),
    _key(
        "advanced_activation_fusion",
        Type.BOOL,
        "Whether convolutions are fused with activations such as GELU, in floating point.",
        _2_48,
        default=True,
    ),
    _key("precision_compensation", Type.BOOL, "By its name, a more exact computation.", _MEASURED, since=(2, 48)),
    _key("fp16_clamp_overflow", Type.BOOL, "By its name, clamping of half floats.", _MEASURED, since=(2, 49)),
    _key("enable_predication", Type.BOOL, "By its name, predication of ops.", _MEASURED, since=(2, 49)),
    _key(
        "dlbc",
        Type.INTEGER,
        "Whether activations are compressed on their way to memory: 1 or 0.",
        default=0,
        useful=_SWITCH,
    ),
    _key(
        "dlbc_weights",
        Type.INTEGER,
        "Whether weights are compressed on their way from memory: 1 or 0.",
        default=0,
        useful=_SWITCH,
    ),
    _key("sparse_weights_compression", Type.INTEGER, "How weights with many zeros are compressed.", _2_48),
    _key("slc_alloc_enable", Type.INTEGER, "Whether the system's cache is used: 1 or 0.", useful=_SWITCH),
    _key("cached_weights", Type.INTEGER, "By its name, caching of weights.", _MEASURED, since=(2, 48)),
    _key("vtcm_retention", Type.INTEGER, "By its name, what stays in vector memory.", _MEASURED, since=(2, 48)),
    _key(
        "finalize_config",
        Type.OBJECT,
        "Options of the graph's finalization, by letter.",
        _2_48,
        note="The documentation names P with 0 to 6, 8, 13, 15 to 17, 19 to 23; the parser accepts anything.",
    ),
    *(
        Key(
            Section.HMX_OP_BOUNDING,
            name,
            Type.NUMBER,
            f"The clock of the {what}.",
            source=_2_48,
            required=True,
        )
        for name, what in (("hmx_frequency", "matrix unit"), ("dsp_core_frequency", "DSP's core"))
    ),
)
