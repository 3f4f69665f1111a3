"""Causes in the skel, the DSP's half of the library: missing, not loadable, not unsigned, of another release."""

from __future__ import annotations

from htppower.backends.qnn.skels import SKEL_VARIABLES, skel_name
from htppower.tools.doctor.causes import Cause, Evidence, never
from htppower.tools.doctor.skel_paths import PLACEHOLDER, line_with_skel_first
from htppower.tools.review.explain.fastrpc_codes import Mend
from htppower.votes.native_codes import DEVICE_INVALID_CONFIG

_OTHER_VERSION = 1008


def _line(evidence: Evidence) -> tuple[str, ...]:
    """Return the line for the variables: what mends their faults, else what puts the skel first."""
    lines = evidence.skel_paths.lines
    return lines or (line_with_skel_first(evidence.environment, evidence.arch, evidence.library),)


def _says_not_loaded(evidence: Evidence) -> str:
    says = f"{evidence.fastrpc}The DSP can't load {skel_name(evidence.arch)}"
    faults = "; ".join(evidence.skel_paths.faults)
    if not faults and any(evidence.environment.get(name) for name in SKEL_VARIABLES):
        return f"{says}, though a folder of the variables has it: it may be damaged, or FastRPC may not read it."
    return f"{says}: {faults or 'put its folder first in ADSP_LIBRARY_PATH'}.{_where(evidence)}"


def _where(evidence: Evidence) -> str:
    """Return where the skel comes from if it is not near the library."""
    if not any(PLACEHOLDER in line for line in _line(evidence)):
        return ""
    folder = f"lib/hexagon-v{evidence.arch or 'NN'}/unsigned"
    return f" It is not near the library: copy it from {folder} of the SDK of the library's release."


def _says_version(evidence: Evidence) -> str:
    versions = evidence.log.versions
    differ = f": the log names {versions[0]} and {versions[1]}" if versions else ""
    return f"{skel_name(evidence.arch)} is of another release than the library{differ}."


SKEL_CAUSES = (
    Cause(
        "skel_not_unsigned",
        lambda evidence: evidence.of_opening and evidence.mend is Mend.UNSIGNED,
        never,
        lambda evidence: (
            f"{evidence.fastrpc}The skel is not one for an unsigned process domain, or its signature is not this "
            "device's: take it from a folder named unsigned/ of the library's release."
        ),
        lambda evidence: (line_with_skel_first(evidence.environment, evidence.arch, evidence.library),),
    ),
    Cause(
        "skel_not_loaded",
        lambda evidence: evidence.of_opening and evidence.mend is Mend.SKEL,
        lambda evidence: evidence.code == DEVICE_INVALID_CONFIG and bool(evidence.skel_paths.faults),
        _says_not_loaded,
        _line,
    ),
    Cause("skel_of_another_release", lambda evidence: evidence.code == _OTHER_VERSION, never, _says_version, _line),
)
