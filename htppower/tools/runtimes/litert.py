"""LiteRT, the older QNN delegate of TensorFlow Lite, and ExecuTorch: all number their modes alike."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.profiles.expressed import Nearest, nearest
from htppower.tools.runtimes.settings import Part, Runtime, Settings, calls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.profile import Profile

_KNOWN_LITERT = "LiteRT's votes were read in its public source; its flags were tried on ai-edge-litert 2.3.0."
# The enumeration of LiteRT, of the older delegate, and, except for the last mode, of ExecuTorch. Source:
# litert/c/options/litert_qualcomm_options.h.
NUMBERS: Mapping[str, int] = MappingProxyType(
    {
        "default": 0,
        "sustained_high_performance": 1,
        "burst": 2,
        "high_performance": 3,
        "power_saver": 4,
        "low_power_saver": 5,
        "high_power_saver": 6,
        "low_balanced": 7,
        "balanced": 8,
        "extreme_power_saver": 9,
    }
)
# The prefix of each mode in the C API.
C_MODE = "kLiteRtQualcommHtpPerformanceMode"
CONTROL = MappingProxyType({"manual": 0, "auto": 1})
MODE_FLAG = "--qualcomm_htp_performance_mode"
CONTROL_FLAG = "--qualcomm_htp_perf_ctrl_mode"
_AUTO = (
    "Auto raises on a thread of its own, so a vote may come after its inference began; it is for one inference at a "
    "time."
)
_HELD_IN_CODE = "The option for the control mode is omitted here: the votes are held."
_HELD_IN_PYTHON = "ai-edge-litert 2.3.0 has no Python option for the control mode: the votes are held."
_KNOWN_TFLITE = "The delegate is assumed to vote like LiteRT, whose votes were read in its public source."
_GSTREAMER = "delegate=external external-delegate-path=libQnnTFLiteDelegate.so external-delegate-options"
_KNOWN_EXECUTORCH = "ExecuTorch's votes were read in its public source."
# The run-time option of ExecuTorch.
RUN_TIME_OPTION = "qnn_runtime_htp_performance_mode"


def camel_case(mode: str) -> str:
    """Return a mode as it ends an enumerator, such as ``LowBalanced`` of ``kLowBalanced`` and ``kHtpLowBalanced``."""
    return "".join(word.capitalize() for word in mode.split("_"))


def java_enumerator(mode: str) -> str:
    """Return the enumerator of a mode in the older delegate's Java API, such as ``HTP_PERFORMANCE_BURST``."""
    return f"HTP_PERFORMANCE_{mode.upper()}"


def _chosen(profile: Profile) -> tuple[Nearest, str]:
    """Return the nearest mode, and whether its votes are held (manual) or sent around each inference (auto)."""
    held, automatic = (nearest(profile, (runtime,)) for runtime in ("litert", "litert-auto"))
    best = nearest(profile, ("litert", "litert-auto"))
    return best, "auto" if best == automatic and best != held else "manual"


def _write_litert(profile: Profile) -> Settings:
    found, control = _chosen(profile)
    mode, number = found.mode, NUMBERS[found.mode]
    # If the control mode can't be stated, votes are held.
    held = nearest(profile, ("litert",))
    parts = (
        Part("command line", f"{MODE_FLAG}={mode} {CONTROL_FLAG}={control}", "shell", note=_AUTO * (control == "auto")),
        Part(
            "TOML options",
            f"htp_performance_mode = {number}\nhtp_perf_ctrl_mode = {CONTROL[control]}",
            "toml",
            note="Numbers only: a name is an error there.",
        ),
        Part(
            "Python",
            f"QualcommOptions(htp_performance_mode=QualcommOptions.HTP_PERFORMANCE_MODE.{held.mode.upper()})",
            "python",
            note=_HELD_IN_PYTHON * (control == "auto"),
            lost=held.lost,
        ),
    )
    note = _HELD_IN_CODE * (control == "auto")
    options = "CompiledModel.QualcommOptions"
    kotlin = f"{options}(\n    htpPerformanceMode = {options}.HtpPerformanceMode.{held.mode.upper()},\n)"
    cpp = f"litert::qualcomm::QualcommOptions::HtpPerformanceMode::k{camel_case(held.mode)}"
    in_code = (
        Part("Kotlin", kotlin, "kotlin", note=note, lost=held.lost),
        Part("C++", f"qualcomm_options.SetHtpPerformanceMode(\n    {cpp});", "cpp", note=note, lost=held.lost),
    )
    return Settings(parts, found.lost, _KNOWN_LITERT, in_code)


def _write_tflite(profile: Profile) -> Settings:
    found, control = _chosen(profile)
    options = {
        "backend_type": "htp",
        "htp_performance_mode": str(NUMBERS[found.mode]),
        "htp_perf_ctrl_strategy": str(CONTROL[control]),
    }
    keys = ";".join(f"{name}:{value}" for name, value in options.items())
    of_gstreamer = ",".join(
        f"{name}=(string){value}" if value.isdecimal() else f"{name}={value}" for name, value in options.items()
    )
    python = ", ".join(f'"{name}": "{value}"' for name, value in options.items())
    note = f"The number {options['htp_performance_mode']} is {found.mode}: a name instead ends the process."
    parts = (
        Part("delegate options", f"--external_delegate_options='{keys}'", "shell", note=note),
        Part("Python", f"load_delegate('libQnnTFLiteDelegate.so', options={{{python}}})", "python"),
        Part("GStreamer, qtimltflite", f'{_GSTREAMER}="QNNExternalDelegate,{of_gstreamer};"', "shell"),
    )
    of_java = (
        f"options.setHtpPerformanceMode(QnnDelegate.Options.HtpPerformanceMode.{java_enumerator(found.mode)})",
        f"options.setHtpPerfCtrlStrategy(QnnDelegate.Options.HtpPerfCtrlStrategy.HTP_PERF_CTRL_{control.upper()})",
    )
    insert = 'TfLiteExternalDelegateOptionsInsert(&delegate_options, "{}", "{}");'
    in_code = (
        Part("QnnDelegate.Options", "\n".join(f"{each};" for each in of_java), "java"),
        Part("QnnDelegate.Options", "\n".join(of_java), "kotlin"),
        *calls("external delegate", {"cpp": insert}, options, note),
    )
    return Settings(parts, found.lost, _KNOWN_TFLITE, in_code)


def _write_executorch(profile: Profile) -> Settings:
    """Return a profile as ExecuTorch's mode. There is no extreme_power_saver."""
    found = nearest(profile, ("executorch",))
    number, spelt = NUMBERS[found.mode], f"kHtp{camel_case(found.mode)}"
    parts = (
        Part(
            "when the program is built",
            f"htp_options.performance_mode = QnnExecuTorchHtpPerformanceMode.{spelt}",
            "python",
        ),
        Part(
            "at run time, in C++",
            f'backend_options.set_option("{RUN_TIME_OPTION}", {number});',
            "cpp",
            note=f"The number {number} is {spelt}: a value that is not an int is silently ignored.",
        ),
        Part("command line of qnn_executor_runner", f"--htp_performance_mode={number}", "shell"),
    )
    return Settings(parts, found.lost, _KNOWN_EXECUTORCH)


LITERT = Runtime("LiteRT", _write_litert)
TFLITE = Runtime("TensorFlow Lite's QNN delegate", _write_tflite)
EXECUTORCH = Runtime("ExecuTorch", _write_executorch)
