"""Causes in the NPU's driver of Windows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from htppower.tools.doctor.causes import Cause, Evidence
from htppower.tools.doctor.npu_driver import RPC, USER_DRIVER
from htppower.tools.report.words import sentence
from htppower.tools.review.explain.log_texts import LogText

if TYPE_CHECKING:
    from htppower.tools.doctor.machine import Machine

_LIBRARIES = (RPC, USER_DRIVER)
# The vendor's page has the driver for laptops whose maker offers none (docs/backend/snapdragon/windows.md of
# https://github.com/ggml-org/llama.cpp).
_GET_DRIVER = (
    "start ms-settings:windowsupdate-optionalupdates",
    "start https://softwarecenter.qualcomm.com/catalog/item/Qualcomm_HND",
)
_INSTALL = (
    "Install the Qualcomm Hexagon NPU driver: from Windows Update, the maker of the laptop, or the vendor. Device "
    "Manager then lists the NPU under Neural processors."
)
_NOT_LOADED = f"the stub can't load {RPC}, though the NPU's driver has it"


def _not_started(evidence: Evidence) -> bool:
    return evidence.machine.system == "windows" and evidence.of_opening and evidence.code is not None


def _lacking(machine: Machine) -> list[str]:
    """Return the libraries that no driver has."""
    having = {name for driver in machine.drivers for name in driver.libraries}
    return [name for name in _LIBRARIES if name not in having]


def _named(evidence: Evidence) -> str:
    """Return the library of the driver that the log says is not loaded; empty if it names none."""
    messages = [message for line in evidence.log.lines for message in line.messages]
    if any(message.text is LogText.NO_USER_DRIVER for message in messages):
        return USER_DRIVER
    files = {message.file.lower() for message in messages if message.text is LogText.LIBRARY_MISSING}
    return next((name for name in _LIBRARIES if name.lower() in files), "")


def _seen(evidence: Evidence) -> bool:
    is_snapdragon = evidence.machine.processor == "aarch64"
    return _not_started(evidence) and is_snapdragon and bool(_lacking(evidence.machine))


def _says(evidence: Evidence) -> str:
    lacking, named = _lacking(evidence.machine), _named(evidence)
    if len(lacking) == len(_LIBRARIES):
        return f"The NPU's driver is not installed: Windows has no {RPC} and no {USER_DRIVER}. {_INSTALL}"
    if named == USER_DRIVER or (not named and USER_DRIVER in lacking):
        trouble = "the NPU's driver has none" if USER_DRIVER in lacking else "can't load the one of the NPU's driver"
        return (
            f"The library needs {USER_DRIVER} if stub, skel or QnnHtpPrepare.dll are not in "
            f"{Path(evidence.library).parent}, and {trouble}. Add these files of the library's release, or update the "
            "driver."
        )
    trouble = f"the NPU's driver has no {RPC}, which the stub needs" if RPC in lacking else _NOT_LOADED
    return f"{sentence(trouble)}: update the driver."


DRIVER_CAUSES = (
    Cause(
        "npu_driver",
        lambda evidence: _not_started(evidence) and bool(_named(evidence)),
        _seen,
        _says,
        lambda _: _GET_DRIVER,
    ),
)
