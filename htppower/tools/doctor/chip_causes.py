"""Causes in the chip and the release of the library: the chip's number, chips without an HTP, chips not served."""

from __future__ import annotations

import shlex
from pathlib import Path

import attrs

from htppower.backends.qnn.library import GIVEN, PACKAGE, SDK_VARIABLES, VARIABLE, library_name
from htppower.errors import BackendUnavailable, Step, Unavailable
from htppower.rules.soc_names import NO_HTP, by_kernel_number, old_by_kernel_number
from htppower.tools.doctor.causes import Cause, Evidence, never, pip_install
from htppower.tools.doctor.containers import run_lines
from htppower.tools.doctor.machine import SOC_ID
from htppower.tools.doctor.skel_paths import release_of
from htppower.tools.environment.lines import powershell_line, sh_line
from htppower.tools.review.explain.log_texts import LogText
from htppower.votes.native_codes import DEVICE_INVALID_CONFIG

_NO_CHIP = 4000
_NOT_SERVED = 14002
_WHEEL = "onnxruntime-qnn"
_OTHER_TARGET = "The SDK has libraries for other systems and chips, and a table of the chips that it supports."
_WITH_WHEEL = ("linux", "windows")


def _finds_no_chip(evidence: Evidence) -> bool:
    return evidence.code == _NO_CHIP and evidence.machine.system in ("linux", "android")


def _no_number(evidence: Evidence) -> bool:
    return _finds_no_chip(evidence) and evidence.machine.soc_number is None


def _says_no_number(evidence: Evidence) -> str:
    where = " In a container it must be mounted." if evidence.machine.container else ""
    trouble = evidence.machine.soc_trouble
    return f"The library finds the chip by its number in {SOC_ID}, but {trouble}.{where}"


def _lines_for_number(evidence: Evidence) -> tuple[str, ...]:
    machine = evidence.machine
    if machine.system == "android":
        return (f"adb shell cat {SOC_ID}",)
    if machine.engine:
        return run_lines(machine)
    if "does not exist" in machine.soc_trouble:
        return ("sudo modprobe socinfo",)
    return (f"sudo chmod a+r {SOC_ID}",) if "can't be read" in machine.soc_trouble else (f"cat {SOC_ID}",)


def _has_no_htp(evidence: Evidence) -> bool:
    number = evidence.machine.soc_number
    if not _finds_no_chip(evidence) or number is None:
        return False
    known = old_by_kernel_number(number) is not None
    return known or (by_kernel_number(number) is None and evidence.log.message(LogText.SOC_UNSUPPORTED) is not None)


def _says_no_htp(evidence: Evidence) -> str:
    number = evidence.machine.soc_number
    part = None if number is None else old_by_kernel_number(number)
    says = f"{part} (chip number {number}) {NO_HTP}" if part else f"The chip with number {number} has no HTP"
    return f"{says}. No release of the library serves it: run the model on its CPU or GPU."


def _is_unknown(evidence: Evidence) -> bool:
    return _finds_no_chip(evidence) and evidence.machine.soc_number is not None and not _has_no_htp(evidence)


def _chip(evidence: Evidence) -> str:
    number = evidence.machine.soc_number
    soc = None if number is None else by_kernel_number(number)
    if soc is not None:
        return f"{'/'.join(soc.names)} (chip number {number})"
    return "this chip" if number is None else f"the chip with number {number}"


def _release(evidence: Evidence) -> str:
    release = release_of(evidence.library)
    return f"This release of the library, {release}," if release else "This release of the library"


def _needed(evidence: Evidence) -> str:
    """Return the first release that serves the chip, in a sentence; empty if it is not known."""
    number = evidence.machine.soc_number
    soc = None if number is None else by_kernel_number(number)
    return f"{'/'.join(soc.names)} needs QAIRT {soc.first_sdk} or later." if soc is not None and soc.first_sdk else ""


def _lines_for_later(evidence: Evidence) -> tuple[str, ...]:
    """Return the line that gets a later release: of the wheel if it is used, else of an SDK."""
    wheel = PACKAGE in Path(evidence.library).parts
    return (pip_install(f"--upgrade {_WHEEL}"),) if wheel else _lines_for_sdk(evidence)


def _lines_for_sdk(evidence: Evidence) -> tuple[str, ...]:
    name = Path(evidence.library).name or "libQnnHtp.so"
    target = {"android": "aarch64-android", "windows": "aarch64-windows-msvc"}.get(
        evidence.machine.system, "aarch64-oe-linux-gcc11.2"
    )
    if evidence.machine.system == "windows":
        return (powershell_line(VARIABLE, f"C:\\PATH\\TO\\QAIRT\\lib\\{target}\\{name}"),)
    return (sh_line(VARIABLE, f"/PATH/TO/QAIRT/lib/{target}/{name}"),)


def _reason(evidence: Evidence) -> Unavailable | None:
    return evidence.problem.reason if isinstance(evidence.problem, BackendUnavailable) else None


def _is_missing(evidence: Evidence) -> bool:
    return _reason(evidence) is Unavailable.NOT_FOUND


def _named(evidence: Evidence) -> Step | None:
    """Return the step of the search in the place that the user has named: a path, or a variable; else None."""
    tried = evidence.problem.tried if isinstance(evidence.problem, BackendUnavailable) else ()
    return next((step for step in reversed(tried) if step.origin in (GIVEN, VARIABLE, *SDK_VARIABLES)), None)


def _says_missing(evidence: Evidence) -> str:
    step = _named(evidence)
    where = getattr(evidence.problem, "message", "") if step is None else ": ".join(filter(None, attrs.astuple(step)))
    return f"The library was not found: {where}."


def _lines_for_missing(evidence: Evidence) -> tuple[str, ...]:
    step, windows = _named(evidence), evidence.machine.system == "windows"
    if step is not None and step.origin == VARIABLE:
        inside = Path(step.path, library_name())
        if inside.is_file():
            return (powershell_line(VARIABLE, str(inside)) if windows else sh_line(VARIABLE, str(inside)),)
        return (f"Remove-Item Env:{VARIABLE}" if windows else f"unset {VARIABLE}",)
    if step is not None and step.origin == GIVEN:
        return ("htppower doctor",)
    if step is not None and evidence.machine.system == "linux":
        return (f"find {shlex.quote(evidence.environment[step.origin])} -name {library_name()}",)
    return (pip_install(_WHEEL),) if evidence.machine.system in _WITH_WHEEL else ()


def _names_a_soc(evidence: Evidence) -> bool:
    return evidence.soc_model is not None and evidence.code == DEVICE_INVALID_CONFIG and not evidence.log.fastrpc_codes


CHIP_CAUSES = (
    Cause(
        "library_missing",
        _is_missing,
        never,
        _says_missing,
        _lines_for_missing,
    ),
    Cause("soc_number_unreadable", _no_number, never, _says_no_number, _lines_for_number),
    Cause("chip_without_htp", _has_no_htp, never, _says_no_htp),
    Cause(
        "soc_unknown",
        _is_unknown,
        never,
        lambda evidence: (
            f"{_release(evidence)} does not know {_chip(evidence)}. {_needed(evidence) or 'Use a later release.'}"
        ),
        _lines_for_later,
    ),
    Cause(
        "soc_not_served",
        lambda evidence: evidence.code == _NOT_SERVED,
        never,
        lambda evidence: (
            f"{_release(evidence)} knows {_chip(evidence)}, but does not serve it. {_needed(evidence) or _OTHER_TARGET}"
        ),
        lambda evidence: _lines_for_later(evidence) if _needed(evidence) else _lines_for_sdk(evidence),
    ),
    Cause(
        "soc_model_named",
        _names_a_soc,
        never,
        lambda evidence: f"The library may not know the SoC {evidence.soc_model}. On a device leave --soc out.",
        lambda _evidence: ("htppower doctor",),
    ),
)
