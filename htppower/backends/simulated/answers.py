"""The answers of the vendor's library to each power config option, by version, architecture and state of the id.

Measured on the ``libQnnHtp.so`` of five QAIRT versions for x86-64 Linux, call by call; the tests hold it against the
real library on every run. The 13004 to RPC options on QNX is assumed: no such library was measured.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.votes.native_codes import INVALID_INPUT, SUCCESS, UNSUPPORTED, UNSUPPORTED_CONFIG
from htppower.votes.options import VOTE_OPTIONS, Option
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from htppower.rules.platforms import Platform
    from htppower.votes.native import NativeConfig
    from htppower.votes.option import VoteOption

_LARGEST_LEGACY_CORNER = 0xFF
# The library reads perf modes as signed numbers: those from 2**31 on are negative for it, and are accepted.
_WRONG_PERF_MODES = range(256, 2**31)


@attrs.frozen
class LibraryVersion:
    """The differences of a version of the library from the others.

    Attributes:
        name: the version of QAIRT, such as ``2.51``; the HTP API of QAIRT 2.N is 5.N.
        hmx_on_v89: whether it accepts HMX and CENG votes on V89.
        checks_hmx: whether it refuses legacy corners and wrong perf modes in an HMX vote.
    """

    name: str
    hmx_on_v89: bool
    checks_hmx: bool


LIBRARY_VERSIONS = MappingProxyType(
    {
        version.name: version
        for version in (
            LibraryVersion("2.47", hmx_on_v89=False, checks_hmx=False),
            LibraryVersion("2.48", hmx_on_v89=False, checks_hmx=False),
            LibraryVersion("2.49", hmx_on_v89=False, checks_hmx=False),
            LibraryVersion("2.50", hmx_on_v89=True, checks_hmx=True),
            LibraryVersion("2.51", hmx_on_v89=False, checks_hmx=True),
        )
    }
)
NEWEST = "2.51"


def find_version(name: str) -> LibraryVersion:
    """Return the version with this name, such as ``2.51`` or ``2.51.0``.

    Raises:
        ValueError: it was not measured; the message names the measured versions.
    """
    found = LIBRARY_VERSIONS.get(".".join(name.split(".")[:2]))
    if found is None:
        raise ValueError(f"no library version {name!r}; one of {', '.join(LIBRARY_VERSIONS)}")
    return found


def answer(
    version: LibraryVersion,
    platform: Platform,
    config: NativeConfig,
    power_config_id: int,
    *,
    has_hvx_vote: bool,
    earlier: Collection[int] = (),
) -> int:
    """Return the code that the library answers to one option in a list, after the ``earlier`` options.

    ``has_hvx_vote``: an HVX vote was accepted on the id, by an earlier call or before it in the list.
    """
    if config.number not in VOTE_OPTIONS:
        return UNSUPPORTED_CONFIG
    option = Option(config.number)
    if version.name < VOTE_OPTIONS[option].since:
        return UNSUPPORTED_CONFIG
    # A list may hold only one form of a vote, plain or expanded; checked before the architecture.
    if VOTE_OPTIONS[option].other_form in earlier:
        return INVALID_INPUT
    # Measured on x86-64: DDR_PERF_MODE is refused on every architecture.
    if option is Option.DDR_PERF_MODE or not has_option(version, platform, option):
        return UNSUPPORTED
    return SUCCESS if _is_valid(version, option, config.fields, power_config_id, has_hvx_vote) else INVALID_INPUT


def _is_valid(
    version: LibraryVersion, option: Option, fields: Mapping[str, int], power_config_id: int, has_hvx_vote: bool
) -> bool:
    about = VOTE_OPTIONS[option]
    if about.has_context_id and fields.get("contextId", 0) != power_config_id:
        return False
    if about.needs_hvx and not has_hvx_vote:
        return False
    if option in (Option.DCVS_V3_EXP, Option.CENG_EXP) or (option is Option.HMX_V2 and version.checks_hmx):
        return _is_expanded(about, fields)
    if option is Option.HMX_TIMEOUT_INTERVAL_US:
        return LIMITS[VoteSet, about.field].hold(fields[about.member])
    return True


def has_option(version: LibraryVersion, platform: Platform, option: Option) -> bool:
    """Return whether a version of the library accepts an option on a platform."""
    # An assumption for CENG_EXP: this version knows no SoC with V89.
    on_v89 = platform.arch is not None and platform.arch in VOTE_OPTIONS[option].not_on_archs and version.hmx_on_v89
    return on_v89 or platform.has(option)


def _is_expanded(about: VoteOption, fields: Mapping[str, int]) -> bool:
    """Return whether no set corner is a legacy one, and every perf mode is in range."""
    for field in about.fields:
        if field.name.endswith("perf_mode") and fields.get(field.native[0], 0) in _WRONG_PERF_MODES:
            return False
        is_set = not field.flag or fields.get(field.flag)
        corners = [fields.get(name, 0) for name in field.native if "VoltageCorner" in name] if is_set else []
        if any(0 < corner <= _LARGEST_LEGACY_CORNER for corner in corners):
            return False
    return True
