"""ExecuTorch's QNN backend: the mode in the program, or a run-time option, by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.expressed import nearest
from htppower.tools.runtimes.litert import NUMBERS
from htppower.tools.runtimes.settings import Part, Settings

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

TITLE = "ExecuTorch"
KNOWN = "ExecuTorch's votes were read in its public source."
RUN_TIME_OPTION = "qnn_runtime_htp_performance_mode"


def enumerator(mode: str) -> str:
    """Return the enumerator of a mode, such as ``kHtpBurst``."""
    return f"kHtp{''.join(word.capitalize() for word in mode.split('_'))}"


def write(profile: Profile) -> Settings:
    """Return a profile as ExecuTorch's mode. There is no extreme_power_saver."""
    found = nearest(profile, ("executorch",))
    number = NUMBERS[found.mode]
    parts = (
        Part(
            "when the program is built",
            f"htp_options.performance_mode = QnnExecuTorchHtpPerformanceMode.{enumerator(found.mode)}",
            "python",
        ),
        Part(
            "at run time, in C++",
            f'backend_options.set_option("{RUN_TIME_OPTION}", {number});',
            "cpp",
            note=f"The number {number} is {enumerator(found.mode)}: a value that is not an int is silently ignored.",
        ),
        Part("command line of qnn_executor_runner", f"--htp_performance_mode={number}", "shell"),
    )
    return Settings(parts, found.lost, KNOWN)
