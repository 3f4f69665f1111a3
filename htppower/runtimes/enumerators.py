"""Modes in code that are enumerators: which runtime's each is, by what stands before it and what takes it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.runtimes.litert import C_MODE
from htppower.runtimes.options import OPTIONS, Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.runtimes.tokens import Token

# Enumerations with a name of their own.
_OWN: Mapping[str, tuple[Where, str]] = MappingProxyType(
    {
        **{name: (Where.LITERT_PYTHON, name) for name in ("HTP_PERFORMANCE_MODE", "QualcommHtpPerformanceMode")},
        "QnnExecuTorchHtpPerformanceMode": (Where.EXECUTORCH_ENUM, "QnnExecuTorchHtpPerformanceMode"),
        "TfLiteQnnDelegateHtpPerformanceMode": (Where.DELEGATE_C, "performance_mode"),
        "HtpPerfCtrlStrategy": (Where.DELEGATE_JAVA, "HtpPerfCtrlStrategy"),
        "HtpPerfCtrlMode": (Where.LITERT_CPP, "HtpPerfCtrlMode"),
    }
)
# Enumerations whose names others have, too: the function that takes them tells.
_TAKEN_BY: Mapping[str, tuple[tuple[str, ...], Where]] = MappingProxyType(
    {
        "PerfProfile": (("setperfprofileglobal", "inference", "perf_profile"), Where.APPBUILDER),
        "PerformanceMode": (("with_performance_mode",), Where.ORT_RUST),
        "QNNExecutionProviderPerformanceMode": (("with_performance_mode",), Where.ORT_RUST),
    }
)
_SHARED = "HtpPerformanceMode"


def enumerator(names: Sequence[Token], function: str, *, of_qnn: bool) -> tuple[Where, str, Token] | None:
    """Return what a name with others before it is a mode of, its key, and the mode; None where it is none.

    ``function`` is what takes it, in lower case: a call, or what it is assigned to. ``of_qnn`` says whether the text
    speaks of QNN at all.
    """
    owners = [each.word for each in names[:-1]]
    for number, owner in enumerate(owners):
        mode = names[number + 1]
        if owner in _OWN:
            return (*_OWN[owner], mode)
        if owner == _SHARED:
            where = _of_shared(mode.word, owners)
            return None if where is None else (where, _SHARED, mode)
        taken_by, where = _TAKEN_BY.get(owner, ((), Where.PROVIDER))
        if function.endswith(taken_by):
            key = "PerformanceMode" if where is Where.ORT_RUST else owner
            return (where, key, mode) if of_qnn or where is Where.APPBUILDER else None
    return _bare(names[-1], function) if len(names) == 1 else None


def _of_shared(mode: str, owners: Sequence[str]) -> Where | None:
    """Return whose enumeration it is: LiteRT's in Kotlin and in C++, and the delegate's in Java, share a name."""
    if "QnnDelegate" in owners or mode.startswith("HTP_PERFORMANCE_"):
        return Where.DELEGATE_JAVA
    if mode.startswith("kHtp"):
        return None  # ONNX Runtime has it within
    if mode[:1] == "k" and mode[1:2].isupper():
        return Where.LITERT_CPP
    return Where.LITERT_KOTLIN if mode[:1].isupper() else None


def _bare(mode: Token, function: str) -> tuple[Where, str, Token] | None:
    """Return what an enumerator without its enumeration is; a constant of the host's own is none."""
    if mode.word.startswith(C_MODE):
        return Where.LITERT_CPP, C_MODE, mode
    if mode.word.startswith("HTP_PERFORMANCE_") and function.endswith("sethtpperformancemode"):
        return Where.DELEGATE_JAVA, _SHARED, mode
    taken_by = {"performance_mode": Where.DELEGATE_C, "perf_ctrl_strategy": Where.DELEGATE_C}.get(function)
    if taken_by is not None and mode.word in OPTIONS[taken_by, function].modes:
        return taken_by, function, mode
    if function.endswith("sethtpperformancemode") and mode.word in OPTIONS[Where.LITERT_CPP, _SHARED].modes:
        return Where.LITERT_CPP, _SHARED, mode
    return None
