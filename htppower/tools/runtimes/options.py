"""The only table of the runtimes' voting settings: kind, accepted values, and the effect of any other value.

The effect of wrong values was measured on onnxruntime 1.31.1 with onnxruntime-qnn 2.7.0, onnxruntime-genai 0.18.0,
ai-edge-litert 2.3.0 and libGenie.so of QAIRT 2.51, or read in public sources (the others).
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.tools.runtimes import aihub, litert, mlperf
from htppower.tools.runtimes.executorch import RUN_TIME_OPTION, enumerator
from htppower.tools.runtimes.tflite import enumerator as tflite_enumerator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Where(str, enum.Enum):
    """The kind of place that contains a setting."""

    PROVIDER = "ONNX Runtime's provider options"
    SESSION = "ONNX Runtime's session config entries"
    RUN = "ONNX Runtime's run options"
    DYNAMIC = "ONNX Runtime's dynamic options"
    GENAI = "genai_config.json's options"
    LITERT_FLAG = "LiteRT's flags"
    LITERT_TOML = "LiteRT's TOML options"
    LITERT_PYTHON = "LiteRT's enumerators in Python"
    LITERT_KOTLIN = "LiteRT's enumerators in Kotlin"
    LITERT_CPP = "LiteRT's enumerators in C++"
    DELEGATE = "the QNN delegate's options"
    DELEGATE_C = "the QNN delegate's enumerators in C"
    DELEGATE_JAVA = "the QNN delegate's enumerators in Java"
    EXECUTORCH_FLAG = "qnn_executor_runner's flags"
    EXECUTORCH_OPTION = "ExecuTorch's run-time options"
    EXECUTORCH_ENUM = "ExecuTorch's enumerators"
    ORT_RUST = "the modes of ONNX Runtime's Rust binding"
    APPBUILDER = "AppBuilder's profiles"
    GENIEX = "GenieX's flags"
    AIHUB_QNN = "AI Hub's --qnn_options"
    AIHUB_ONNX = "AI Hub's --onnx_options"
    AIHUB_TFLITE = "AI Hub's --tflite_options"
    POLICY = "Genie's policies"
    TOOL_FLAG = "the flags of qnn-net-run and snpe-net-run"
    MLPERF = "MLPerf's custom settings"

    __str__ = str.__str__


class Takes(enum.Enum):
    """The kind of value of a setting.

    Attributes:
        NAME: one of its words.
        NUMBER: the number of one of its words.
        TIME: a whole number of us.
    """

    NAME = "a name"
    NUMBER = "a number"
    TIME = "a whole number of us"


@attrs.frozen
class Option:
    """A voting setting.

    Attributes:
        where: the kind of place that contains it.
        key: its spelling there.
        takes: the kind of its value.
        modes: the profile name of the mode for each accepted spelling; for NUMBER by number, as text.
        runtime: the runtime whose records have the mode.
        any_case: upper and lower case are equal.
        unknown: what happens with any other value.
        is_mode: it selects a mode; False for an additional setting.
    """

    where: Where
    key: str
    takes: Takes
    modes: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    runtime: str = ""
    any_case: bool = False
    unknown: str = ""
    is_mode: bool = True


_NINE = aihub.MODES
# The value default changes nothing.
APPBUILDER_MODES = MappingProxyType(
    {"burst": "burst", "high_performance": "high_performance", "default": "system_settings"}
)
# Other options of ONNX Runtime's provider: in a list of these names, the next name is not the value of a key. Source:
# ONNX Runtime's page of the QNN execution provider.
OTHER_OPTIONS = frozenset(
    (
        *(
            "backend_type",
            "backend_path",
            "profiling_level",
            "profiling_file_path",
            "vtcm_mb",
            "soc_model",
            "device_id",
        ),
        *("qnn_saver_path", "qnn_context_priority", "op_packages", "offload_graph_io_quantization", "extended_udma"),
        *("dump_json_qnn_graph", "json_qnn_graph_dir", "skip_qnn_version_check", "share_ep_contexts"),
    )
)
OPTION_PREFIXES = ("htp_", "rpc_", "qnn_", "enable_", "disable_", "dsp_", "gpu_", "ep.", "qnn.")
# The prefix of a provider's option as a session config entry; as a provider option, such a key is ignored (measured).
OF_SESSIONS = "ep.qnnexecutionprovider."
_OF_ORT = (*_NINE, "default")
_ORT_UNKNOWN = "the provider warns once in its log, and votes nothing"


def _same(names: tuple[str, ...]) -> Mapping[str, str]:
    return MappingProxyType({name: name for name in names})


def _numbers(most: int) -> Mapping[str, str]:
    return MappingProxyType({str(number): name for name, number in litert.NUMBERS.items() if number <= most})


def _enumerators(
    where: Where, key: str, modes: Mapping[str, str], runtime: str = "litert", *, is_mode: bool = True
) -> Option:
    return Option(where, key, Takes.NAME, modes, runtime, unknown="it does not compile", is_mode=is_mode)


def _spelt(spell: Callable[[str], str], names: Iterable[str] = litert.NUMBERS) -> Mapping[str, str]:
    return MappingProxyType({spell(name): name for name in names})


def _ort(where: Where, key: str, unknown: str = _ORT_UNKNOWN) -> Option:
    return Option(where, key, Takes.NAME, _same(_OF_ORT), "onnxruntime", any_case=True, unknown=unknown)


def _time(where: Where, key: str, unknown: str) -> Option:
    return Option(where, key, Takes.TIME, unknown=unknown, is_mode=False)


_ALL = (
    _ort(Where.PROVIDER, "htp_performance_mode"),
    _time(Where.PROVIDER, "rpc_control_latency", "the session is not created"),
    _ort(Where.SESSION, f"{OF_SESSIONS}htp_performance_mode"),
    _time(Where.SESSION, f"{OF_SESSIONS}rpc_control_latency", "the session is not created"),
    _ort(Where.RUN, "qnn.htp_perf_mode"),
    _ort(Where.RUN, "qnn.htp_perf_mode_post_run"),
    _time(Where.RUN, "qnn.rpc_control_latency", "the process ends"),
    _ort(Where.DYNAMIC, "ep.dynamic.qnn_htp_performance_mode"),
    _ort(Where.GENAI, "htp_performance_mode"),
    _time(Where.GENAI, "rpc_control_latency", "the session is not created"),
    Option(
        Where.LITERT_FLAG,
        "qualcomm_htp_performance_mode",
        Takes.NAME,
        _same(tuple(litert.NUMBERS)),
        "litert",
        unknown="the program refuses its flags",
    ),
    Option(
        Where.LITERT_FLAG,
        "qualcomm_htp_perf_ctrl_mode",
        Takes.NAME,
        _same(("manual", "auto")),
        unknown="the program refuses its flags",
        is_mode=False,
    ),
    Option(
        Where.LITERT_TOML,
        "htp_performance_mode",
        Takes.NUMBER,
        _numbers(9),
        "litert",
        unknown="the options are refused",
    ),
    Option(
        Where.LITERT_TOML,
        "htp_perf_ctrl_mode",
        Takes.NUMBER,
        MappingProxyType({"0": "manual", "1": "auto"}),
        unknown="the options are refused",
        is_mode=False,
    ),
    *(
        Option(
            Where.LITERT_PYTHON,
            key,
            Takes.NAME,
            _spelt(str.upper),
            "litert",
            unknown="the program ends with an error",
        )
        for key in ("HTP_PERFORMANCE_MODE", "QualcommHtpPerformanceMode")
    ),
    _enumerators(Where.LITERT_KOTLIN, "HtpPerformanceMode", _spelt(str.upper)),
    _enumerators(Where.LITERT_CPP, "HtpPerformanceMode", _spelt(litert.enumerator)),
    _enumerators(Where.LITERT_CPP, litert.C_MODE, _spelt(lambda name: f"{litert.C_MODE}{enumerator(name)[4:]}")),
    _enumerators(Where.LITERT_CPP, "HtpPerfCtrlMode", _spelt(litert.enumerator, litert.CONTROL), is_mode=False),
    _enumerators(Where.DELEGATE_JAVA, "HtpPerformanceMode", _spelt(tflite_enumerator)),
    _enumerators(
        Where.DELEGATE_JAVA,
        "HtpPerfCtrlStrategy",
        _spelt(lambda name: f"HTP_PERF_CTRL_{name.upper()}", litert.CONTROL),
        is_mode=False,
    ),
    _enumerators(Where.DELEGATE_C, "performance_mode", _spelt(enumerator)),
    _enumerators(
        Where.DELEGATE_C,
        "perf_ctrl_strategy",
        _spelt(lambda name: f"kHtpPerfCtrl{name.capitalize()}", litert.CONTROL),
        is_mode=False,
    ),
    _enumerators(
        Where.EXECUTORCH_ENUM,
        "QnnExecuTorchHtpPerformanceMode",
        _spelt(enumerator, tuple(litert.NUMBERS)[:-1]),
        "executorch",
    ),
    _enumerators(Where.ORT_RUST, "PerformanceMode", _spelt(lambda name: enumerator(name)[4:], _OF_ORT), "onnxruntime"),
    Option(
        Where.APPBUILDER,
        "PerfProfile",
        Takes.NAME,
        MappingProxyType({spelt: mode for name, mode in APPBUILDER_MODES.items() for spelt in (name, name.upper())}),
        "vendor",
        unknown="AppBuilder votes nothing for it",
    ),
    Option(
        Where.GENIEX,
        "power-mode",
        Takes.NAME,
        MappingProxyType({**_same(_NINE), "default": "burst"}),
        "vendor",
        unknown="the program refuses its flags",
    ),
    Option(Where.DELEGATE, "htp_performance_mode", Takes.NUMBER, _numbers(9), "litert", unknown="the process ends"),
    Option(
        Where.DELEGATE,
        "htp_perf_ctrl_strategy",
        Takes.NUMBER,
        MappingProxyType({"0": "manual", "1": "auto"}),
        unknown="the process ends",
        is_mode=False,
    ),
    Option(
        Where.EXECUTORCH_FLAG,
        "htp_performance_mode",
        Takes.NUMBER,
        _numbers(8),
        "executorch",
        unknown="the program refuses its flags, or votes nothing known",
    ),
    Option(
        Where.EXECUTORCH_OPTION,
        RUN_TIME_OPTION,
        Takes.NUMBER,
        _numbers(8),
        "executorch",
        unknown="it is ignored, or an error in the log",
    ),
    Option(
        Where.AIHUB_QNN,
        aihub.QNN_KEY,
        Takes.NAME,
        _spelt(str.upper, _NINE),
        "vendor",
        unknown="AI Hub documents no such value",
    ),
    Option(
        Where.AIHUB_ONNX,
        aihub.OTHER_KEY,
        Takes.NAME,
        _same(_OF_ORT),
        "onnxruntime",
        unknown="AI Hub documents no such value",
    ),
    Option(
        Where.AIHUB_TFLITE,
        aihub.OTHER_KEY,
        Takes.NAME,
        _spelt(enumerator),
        "litert",
        unknown="AI Hub documents no such value",
    ),
    Option(
        Where.POLICY,
        "policy",
        Takes.NAME,
        _same((*_NINE, *LLM_DECODE_PROFILES)),
        "vendor",
        unknown="GeniePerformanceConfig_createFromJson refuses it",
    ),
    Option(
        Where.TOOL_FLAG,
        "perf_profile",
        Takes.NAME,
        _same((*_NINE, "default", "system_settings", "custom", *LLM_DECODE_PROFILES)),
        "vendor",
        unknown="the tool refuses it, or uses high_performance",
    ),
    Option(
        Where.MLPERF,
        "perf_profile",
        Takes.NAME,
        MappingProxyType({**_same(mlperf.MODES), "default": "balanced"}),
        "vendor",
        unknown="the app uses burst instead",
    ),
)
LARGEST_TIME_US = 2**32 - 1
OPTIONS: Mapping[tuple[Where, str], Option] = MappingProxyType({(each.where, each.key): each for each in _ALL})


def time_us(value: str) -> int | None:
    """Return the value of a setting in us; None if it is not a whole number up to ``LARGEST_TIME_US``."""
    digits = value.lstrip("0") or value[-1:]
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > len(str(LARGEST_TIME_US)):
        return None
    return int(digits) if int(digits) <= LARGEST_TIME_US else None
