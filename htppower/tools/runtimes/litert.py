"""LiteRT's options for the HTP: on the command line by name, in TOML by number, in Python by enumerator."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.profiles.expressed import Nearest, nearest
from htppower.tools.runtimes.settings import Part, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.profile import Profile

TITLE = "LiteRT"
KNOWN = "LiteRT's votes were read in its public source; its flags were tried on ai-edge-litert 2.3.0."
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


def enumerator(mode: str) -> str:
    """Return the enumerator of a mode in C++, such as ``kBurst``."""
    return f"k{''.join(word.capitalize() for word in mode.split('_'))}"


def chosen(profile: Profile) -> tuple[Nearest, str]:
    """Return the nearest mode, and whether its votes are held (manual) or sent around each inference (auto)."""
    held, automatic = (nearest(profile, (runtime,)) for runtime in ("litert", "litert-auto"))
    best = nearest(profile, ("litert", "litert-auto"))
    return best, "auto" if best == automatic and best != held else "manual"


def write(profile: Profile) -> Settings:
    """Return a profile as LiteRT's options."""
    found, control = chosen(profile)
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
    cpp = f"litert::qualcomm::QualcommOptions::HtpPerformanceMode::{enumerator(held.mode)}"
    in_code = (
        Part("Kotlin", kotlin, "kotlin", note=note, lost=held.lost),
        Part("C++", f"qualcomm_options.SetHtpPerformanceMode(\n    {cpp});", "cpp", note=note, lost=held.lost),
    )
    return Settings(parts, found.lost, KNOWN, in_code)
