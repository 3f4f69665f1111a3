"""Finds the runtime of an enumerator in code, by the names before it and by the function that receives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.runtimes.litert import C_MODE
from htppower.tools.runtimes.voting_settings import OPTIONS, Where

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.tools.runtimes.tokens import Token

# Enumerations with unique names.
_OWN: Mapping[str, tuple[Where, str]] = {
    **{name: (Where.LITERT_PYTHON, name) for name in ("HTP_PERFORMANCE_MODE", "QualcommHtpPerformanceMode")},
    "QnnExecuTorchHtpPerformanceMode": (Where.EXECUTORCH_ENUM, "QnnExecuTorchHtpPerformanceMode"),
    "TfLiteQnnDelegateHtpPerformanceMode": (Where.DELEGATE_C, "performance_mode"),
    "HtpPerfCtrlStrategy": (Where.DELEGATE_JAVA, "HtpPerfCtrlStrategy"),
    "HtpPerfCtrlMode": (Where.LITERT_CPP, "HtpPerfCtrlMode"),
}
# Enumerations whose names are not unique: the function that receives the enumerator identifies them.
_TAKEN_BY: Mapping[str, tuple[tuple[str, ...], Where]] = {
    "PerfProfile": (("setperfprofileglobal", "inference", "perf_profile"), Where.APPBUILDER),
    "PerformanceMode": (("with_performance_mode",), Where.ORT_RUST),
    "QNNExecutionProviderPerformanceMode": (("with_performance_mode",), Where.ORT_RUST),
}
_SHARED = "HtpPerformanceMode"


def enumerator(names: Sequence[Token], function: str, *, of_qnn: bool) -> tuple[Where, str, Token] | None:
    """Return the kind of setting, the key and the mode of a qualified name; None if it is not a mode.

    ``function`` receives the mode, in lower case: the function of a call, or the target of an assignment. ``of_qnn``
    says whether the text mentions QNN.
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
    """Return the owner of the shared enumeration name: LiteRT in Kotlin and C++, or the delegate in Java."""
    if "QnnDelegate" in owners or mode.startswith("HTP_PERFORMANCE_"):
        return Where.DELEGATE_JAVA
    if mode.startswith("kHtp"):
        return None  # a nested class of ONNX Runtime
    if mode[:1] == "k" and mode[1:2].isupper():
        return Where.LITERT_CPP
    return Where.LITERT_KOTLIN if mode[:1].isupper() else None


def _bare(mode: Token, function: str) -> tuple[Where, str, Token] | None:
    """Return the setting of an enumerator without its enumeration; None for a constant of the host itself."""
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
