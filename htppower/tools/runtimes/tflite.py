"""The older QNN delegate of TensorFlow Lite: only numbers, as keys and values, and as a text for GStreamer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.runtimes.in_code import calls
from htppower.tools.runtimes.litert import CONTROL, NUMBERS, chosen
from htppower.tools.runtimes.settings import Part, Settings

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

TITLE = "TensorFlow Lite's QNN delegate"
KNOWN = "The delegate is assumed to vote like LiteRT, whose votes were read in its public source."
_GSTREAMER = "delegate=external external-delegate-path=libQnnTFLiteDelegate.so external-delegate-options"


def enumerator(mode: str) -> str:
    """Return the enumerator of a mode in Java, such as ``HTP_PERFORMANCE_BURST``."""
    return f"HTP_PERFORMANCE_{mode.upper()}"


def write(profile: Profile) -> Settings:
    """Return a profile as options of the delegate."""
    found, control = chosen(profile)
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
        f"options.setHtpPerformanceMode(QnnDelegate.Options.HtpPerformanceMode.{enumerator(found.mode)})",
        f"options.setHtpPerfCtrlStrategy(QnnDelegate.Options.HtpPerfCtrlStrategy.HTP_PERF_CTRL_{control.upper()})",
    )
    insert = 'TfLiteExternalDelegateOptionsInsert(&delegate_options, "{}", "{}");'
    in_code = (
        Part("QnnDelegate.Options", "\n".join(f"{each};" for each in of_java), "java"),
        Part("QnnDelegate.Options", "\n".join(of_java), "kotlin"),
        *calls("external delegate", {"cpp": insert}, options, note),
    )
    return Settings(parts, found.lost, KNOWN, in_code)
