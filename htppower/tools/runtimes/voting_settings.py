"""The only table of the runtimes' voting settings: kind, accepted values, and the effect of any other value.

The effect of wrong values was measured on onnxruntime 1.31.1 with onnxruntime-qnn 2.7.0, onnxruntime-genai 0.18.0,
ai-edge-litert 2.3.0 and libGenie.so of QAIRT 2.51, or read in public sources (the others).
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.hosts.qnn_provider import SPINNING
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.tools.runtimes import litert
from htppower.tools.runtimes.litert import RUN_TIME_OPTION, camel_case, java_enumerator
from htppower.tools.runtimes.settings import MODES
from htppower.tools.runtimes.snpe import MLPERF_MODES

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
        runtime: the runtime whose records have the mode; empty for an additional setting, which selects no mode.
        any_case: upper and lower case are equal.
        unknown: what happens with any other value.
    """

    where: Where
    key: str
    takes: Takes
    modes: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    runtime: str = ""
    any_case: bool = False
    unknown: str = ""

    @property
    def is_mode(self) -> bool:
        """Whether it selects a mode."""
        return bool(self.runtime)


# The value default changes nothing.
APPBUILDER_MODES = MappingProxyType(
    {"burst": "burst", "high_performance": "high_performance", "default": "system_settings"}
)
# Other options of ONNX Runtime's provider: in a list of these names, the next name is not the value of a key. Source:
# ONNX Runtime's page of the QNN execution provider.
OTHER_OPTIONS = frozenset(
    (
        *("backend_type", "backend_path", "profiling_level", "profiling_file_path", "vtcm_mb", "soc_model"),
        *("device_id", "qnn_saver_path", "qnn_context_priority", "op_packages", "offload_graph_io_quantization"),
        *("extended_udma", "dump_json_qnn_graph", "json_qnn_graph_dir", "skip_qnn_version_check", "share_ep_contexts"),
    )
)
OPTION_PREFIXES = ("htp_", "rpc_", "qnn_", "enable_", "disable_", "dsp_", "gpu_", "ep.", "qnn.")
# The prefix of a provider's option as a session config entry; as a provider option, such a key is ignored (measured).
OF_SESSIONS = "ep.qnnexecutionprovider."
# The keys of AI Hub's options for QNN, and for its other runtimes.
AIHUB_QNN_KEY, AIHUB_KEY = "context_htp_performance_mode", "qnn_htp_performance_mode"
_OF_ORT = (*MODES, "default")
_CONTROL_NUMBERS = {"0": "manual", "1": "auto"}
# What the threads of ONNX Runtime do while they wait. Any other value than 1 makes them sleep.
SPINS = "spins"
_WAITING = {"0": "sleeps", "1": SPINS}
# What happens with any other value.
_NOT_CREATED = "the session is not created"
_FLAGS_REFUSED = "the program refuses its flags"
_OPTIONS_REFUSED = "the options are refused"
_PROCESS_ENDS = "the process ends"
_NOT_DOCUMENTED = "AI Hub documents no such value"


def _same(names: tuple[str, ...]) -> Mapping[str, str]:
    return MappingProxyType({name: name for name in names})


def _numbers(most: int) -> Mapping[str, str]:
    return MappingProxyType({str(number): name for name, number in litert.NUMBERS.items() if number <= most})


def _name(where: Where, key: str, modes: Mapping[str, str], runtime: str, unknown: str) -> Option:
    return Option(where, key, Takes.NAME, modes, runtime, unknown=unknown)


def _number(where: Where, key: str, modes: Mapping[str, str], runtime: str, unknown: str) -> Option:
    return Option(where, key, Takes.NUMBER, modes, runtime, unknown=unknown)


def _enumerators(where: Where, key: str, modes: Mapping[str, str], runtime: str = "litert") -> Option:
    return _name(where, key, modes, runtime, "it does not compile")


def _spelt(spell: Callable[[str], str], names: Iterable[str] = litert.NUMBERS) -> Mapping[str, str]:
    return MappingProxyType({spell(name): name for name in names})


def _k(mode: str) -> str:
    return f"k{camel_case(mode)}"


def _k_htp(mode: str) -> str:
    return f"kHtp{camel_case(mode)}"


def _ort(where: Where, key: str) -> Option:
    unknown = "the provider warns once in its log, and votes nothing"
    return Option(where, key, Takes.NAME, _same(_OF_ORT), "onnxruntime", any_case=True, unknown=unknown)


def _time(where: Where, key: str, unknown: str) -> Option:
    return Option(where, key, Takes.TIME, unknown=unknown)


_LITERT = _same(tuple(litert.NUMBERS))
_APPBUILDER = {spelt: mode for name, mode in APPBUILDER_MODES.items() for spelt in (name, name.upper())}
_TOOLS = (*MODES, "default", "system_settings", "custom", *LLM_DECODE_PROFILES)
_ALL = (
    _ort(Where.PROVIDER, "htp_performance_mode"),
    _time(Where.PROVIDER, "rpc_control_latency", _NOT_CREATED),
    _ort(Where.SESSION, f"{OF_SESSIONS}htp_performance_mode"),
    _time(Where.SESSION, f"{OF_SESSIONS}rpc_control_latency", _NOT_CREATED),
    *(_number(Where.SESSION, key, _WAITING, "", "the threads sleep while they wait") for key in SPINNING),
    _ort(Where.RUN, "qnn.htp_perf_mode"),
    _ort(Where.RUN, "qnn.htp_perf_mode_post_run"),
    _time(Where.RUN, "qnn.rpc_control_latency", _PROCESS_ENDS),
    _ort(Where.DYNAMIC, "ep.dynamic.qnn_htp_performance_mode"),
    _ort(Where.GENAI, "htp_performance_mode"),
    _time(Where.GENAI, "rpc_control_latency", _NOT_CREATED),
    _name(Where.LITERT_FLAG, "qualcomm_htp_performance_mode", _LITERT, "litert", _FLAGS_REFUSED),
    _name(Where.LITERT_FLAG, "qualcomm_htp_perf_ctrl_mode", _same(("manual", "auto")), "", _FLAGS_REFUSED),
    _number(Where.LITERT_TOML, "htp_performance_mode", _numbers(9), "litert", _OPTIONS_REFUSED),
    _number(Where.LITERT_TOML, "htp_perf_ctrl_mode", _CONTROL_NUMBERS, "", _OPTIONS_REFUSED),
    *(
        _name(Where.LITERT_PYTHON, key, _spelt(str.upper), "litert", "the program ends with an error")
        for key in ("HTP_PERFORMANCE_MODE", "QualcommHtpPerformanceMode")
    ),
    _enumerators(Where.LITERT_KOTLIN, "HtpPerformanceMode", _spelt(str.upper)),
    _enumerators(Where.LITERT_CPP, "HtpPerformanceMode", _spelt(_k)),
    _enumerators(Where.LITERT_CPP, litert.C_MODE, _spelt(lambda name: f"{litert.C_MODE}{camel_case(name)}")),
    _enumerators(Where.LITERT_CPP, "HtpPerfCtrlMode", _spelt(_k, litert.CONTROL), ""),
    _enumerators(Where.DELEGATE_JAVA, "HtpPerformanceMode", _spelt(java_enumerator)),
    _enumerators(
        Where.DELEGATE_JAVA,
        "HtpPerfCtrlStrategy",
        _spelt(lambda name: f"HTP_PERF_CTRL_{name.upper()}", litert.CONTROL),
        "",
    ),
    _enumerators(Where.DELEGATE_C, "performance_mode", _spelt(_k_htp)),
    _enumerators(
        Where.DELEGATE_C,
        "perf_ctrl_strategy",
        _spelt(lambda name: f"kHtpPerfCtrl{camel_case(name)}", litert.CONTROL),
        "",
    ),
    _enumerators(
        Where.EXECUTORCH_ENUM,
        "QnnExecuTorchHtpPerformanceMode",
        _spelt(_k_htp, tuple(litert.NUMBERS)[:-1]),
        "executorch",
    ),
    _enumerators(Where.ORT_RUST, "PerformanceMode", _spelt(camel_case, _OF_ORT), "onnxruntime"),
    _name(Where.APPBUILDER, "PerfProfile", _APPBUILDER, "vendor", "AppBuilder votes nothing for it"),
    _name(Where.GENIEX, "power-mode", {**_same(MODES), "default": "burst"}, "vendor", _FLAGS_REFUSED),
    _number(Where.DELEGATE, "htp_performance_mode", _numbers(9), "litert", _PROCESS_ENDS),
    _number(Where.DELEGATE, "htp_perf_ctrl_strategy", _CONTROL_NUMBERS, "", _PROCESS_ENDS),
    _number(
        Where.EXECUTORCH_FLAG,
        "htp_performance_mode",
        _numbers(8),
        "executorch",
        f"{_FLAGS_REFUSED}, or votes nothing known",
    ),
    _number(
        Where.EXECUTORCH_OPTION, RUN_TIME_OPTION, _numbers(8), "executorch", "it is ignored, or an error in the log"
    ),
    _name(Where.AIHUB_QNN, AIHUB_QNN_KEY, _spelt(str.upper, MODES), "vendor", _NOT_DOCUMENTED),
    _name(Where.AIHUB_ONNX, AIHUB_KEY, _same(_OF_ORT), "onnxruntime", _NOT_DOCUMENTED),
    _name(Where.AIHUB_TFLITE, AIHUB_KEY, _spelt(_k_htp), "litert", _NOT_DOCUMENTED),
    _name(
        Where.POLICY,
        "policy",
        _same((*MODES, *LLM_DECODE_PROFILES)),
        "vendor",
        "GeniePerformanceConfig_createFromJson refuses it",
    ),
    _name(Where.TOOL_FLAG, "perf_profile", _same(_TOOLS), "vendor", "the tool refuses it, or uses high_performance"),
    _name(
        Where.MLPERF,
        "perf_profile",
        {**_same(MLPERF_MODES), "default": "balanced"},
        "vendor",
        "the app uses burst instead",
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
