"""Causes in the NPU's driver of Windows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from htppower.tools.doctor.causes import Cause, Evidence
from htppower.tools.doctor.npu_driver import RPC, USER_DRIVER
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
        folder = Path(evidence.library).parent
        there = f"the NPU's driver has no {USER_DRIVER}" if USER_DRIVER in lacking else f"can't load {USER_DRIVER}"
        return (
            f"The library needs {USER_DRIVER} of the NPU's driver if stub, skel or QnnHtpPrepare.dll are not in "
            f"{folder}: {there}. Add these files of the library's release, or update the driver."
        )
    there = "has none" if RPC in lacking else "has a file of that name"
    return f"The stub needs {RPC} of the NPU's driver, which {there}: update the driver."


_INSTALL = (
    "Install the Qualcomm Hexagon NPU driver: from Windows Update, the maker of the laptop, or the vendor. Device "
    "Manager then lists the NPU under Neural processors."
)
DRIVER_CAUSES = (
    Cause(
        "npu_driver",
        lambda evidence: _not_started(evidence) and bool(_named(evidence)),
        _seen,
        _says,
        lambda _: _GET_DRIVER,
    ),
)
