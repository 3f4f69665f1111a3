"""Keys that no runtime reads, written by mistake for a voting setting, and the correct keys.

The effect of such a key has the same sources as the settings: it was measured, or read in public sources.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.runtimes import aihub
from htppower.tools.runtimes.options import OF_SESSIONS, OPTIONS, Where

if TYPE_CHECKING:
    from collections.abc import Mapping

# ONNX Runtime ignores an unknown key; the others refuse it.
_SPELT_FREELY = (Where.PROVIDER, Where.SESSION, Where.RUN, Where.DYNAMIC, Where.GENAI)
# Similarity: two swapped letters or one extra letter are above it, other options of the provider are below. Keys of
# other kinds begin with these prefixes.
_MISSPELT_ABOVE = 0.9
_OTHER_KEYS = ("dsp_", "gpu_")
_MOST_LETTERS_OFF = 2
# By kind of setting: wrong keys that no runtime reads, and the keys that it reads.
MISTAKEN: Mapping[tuple[Where, str], str] = MappingProxyType(
    {
        (Where.RUN, "qnn.perf_mode"): "qnn.htp_perf_mode",
        (Where.RUN, "qnn.perf_mode_post_run"): "qnn.htp_perf_mode_post_run",
        (Where.RUN, "qnn.htp_performance_mode"): "qnn.htp_perf_mode",
        (Where.RUN, "htp_performance_mode"): "qnn.htp_perf_mode",
        (Where.RUN, "rpc_control_latency"): "qnn.rpc_control_latency",
        **{
            (where, key): "htp_performance_mode"
            for where in (Where.PROVIDER, Where.GENAI)
            for key in ("htp_perf_mode", "perf_profile", "performance_mode", "perf_mode", "qnn.perf_mode")
        },
        **{
            (where, f"{OF_SESSIONS}{key}"): key
            for where in (Where.PROVIDER, Where.GENAI)
            for key in ("htp_performance_mode", "rpc_control_latency")
        },
        **{(where, "qnn.htp_perf_mode"): "htp_performance_mode" for where in (Where.PROVIDER, Where.GENAI)},
        **{(where, "qnn.rpc_control_latency"): "rpc_control_latency" for where in (Where.PROVIDER, Where.GENAI)},
        (Where.DELEGATE, "htp_perf_ctrl_mode"): "htp_perf_ctrl_strategy",
        (Where.LITERT_TOML, "htp_perf_ctrl_strategy"): "htp_perf_ctrl_mode",
        (Where.AIHUB_QNN, "htp_performance_mode"): aihub.QNN_KEY,
        (Where.AIHUB_QNN, aihub.OTHER_KEY): aihub.QNN_KEY,
        (Where.AIHUB_ONNX, "htp_performance_mode"): aihub.OTHER_KEY,
        (Where.AIHUB_ONNX, aihub.QNN_KEY): aihub.OTHER_KEY,
        (Where.AIHUB_TFLITE, "htp_performance_mode"): aihub.OTHER_KEY,
        (Where.AIHUB_TFLITE, aihub.QNN_KEY): aihub.OTHER_KEY,
        (Where.MLPERF, "core_voltage_done"): "",
    }
)


def meant(where: Where, key: str) -> str | None:
    """Return the key that is read instead of a wrong one: empty if none is; None if the wrong key is not known."""
    found = MISTAKEN.get((where, key))
    if found is not None or (where, key) in OPTIONS or where not in _SPELT_FREELY or key.startswith(_OTHER_KEYS):
        return found
    import difflib  # noqa: PLC0415 - needed only for an unknown key

    known = [spelt for at, spelt in OPTIONS if at is where and abs(len(spelt) - len(key)) <= _MOST_LETTERS_OFF]
    near = difflib.get_close_matches(key, known, n=1, cutoff=_MISSPELT_ABOVE)
    return near[0] if near else None


def is_of(where: Where, key: str) -> bool:
    """Return whether a key is a voting setting, or a wrong key for one."""
    return (where, key) in OPTIONS or meant(where, key) is not None
