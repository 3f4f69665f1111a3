"""Writes a profile as the settings of a core in a new or an existing extension file.

A profile becomes ``custom`` with its items, and other keys. In an existing file, every other byte stays unchanged.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, ProfileError, Severity
from htppower.tools.extensions.clock_blocks import (
    DEINIT_DONE,
    DEINIT_START,
    INFERENCE_DONE,
    INFERENCE_START,
    INIT_DONE,
    INIT_START,
)
from htppower.tools.extensions.extension_file import FileKind, extension_file
from htppower.tools.extensions.json_edits import new_text, with_value, without
from htppower.tools.extensions.json_parser import Member
from htppower.tools.extensions.key_checks import unknown_keys
from htppower.tools.extensions.key_words import read_as
from htppower.tools.extensions.keys import BESIDE, CORE_KEYS, KEYS, VOTE_SECTIONS, Section
from htppower.tools.extensions.lost import lost_fields, sustains, without_missing
from htppower.tools.extensions.one_core import core_id, with_one_core
from htppower.tools.extensions.performance import core_performance
from htppower.tools.extensions.refusals import refusals
from htppower.votes.clock_votes import HVX_EXP_REMOVED, HVX_REMOVED, DcvsV3
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.profiles.expressed import Lost
    from htppower.profiles.profile import Profile, Relax
    from htppower.rules.socs import Soc
    from htppower.tools.extensions.extension_file import ExtensionFile, Wrong
    from htppower.votes.clock_votes import Ceng, CengExp, DcvsV3Exp
    from htppower.votes.vote_set import VoteSet
_OF_CUSTOM = frozenset(name for section, name in KEYS if section in VOTE_SECTIONS)


@attrs.frozen
class Exported:
    """A profile as the settings of a core.

    Attributes:
        profile: the profile.
        settings: the keys of the core that affect votes.
        lost: the fields of the profile that the settings can't express, or express differently.
    """

    profile: Profile
    settings: dict[str, Any]
    lost: tuple[Lost, ...]

    @property
    def lossless(self) -> bool:
        """Whether the vendor's voter sends the same votes as the controller here; notes don't count."""
        return all(lost.severity is Severity.NOTE for lost in self.lost)

    def text(self, soc: Soc | None = None, core: int = 0) -> str:
        """Return an extension file with only these settings, for a SoC and a core of the first device."""
        device = {**device_settings(soc), "cores": [{"core_id": core, **self.settings}]}
        return new_text({"devices": [device]})


def from_profile(profile: Profile, arch: int | None = None) -> Exported:
    """Return a profile as the settings of a core.

    It is written as ``custom``, so that the file contains every vote. A profile without votes on clocks is written as
    ``system_settings`` with its other votes.

    Args:
        profile: the profile.
        arch: the Hexagon architecture that the file is for, such as 79. Votes that it lacks are omitted, and are among
            the lost ones. None if it is unknown: then all votes are written.
    """
    there, missing = without_missing(profile, arch)
    if not there.votes:
        # Nothing is raised, so nothing is lowered.
        there = attrs.evolve(there, relax=None)
    told = {each.field for each in missing}
    lost = (*missing, *(each for each in lost_fields(there) if each.field not in told))
    votes, relax = there.votes, there.relax
    sets = [votes] if relax is None else [votes, relax.to.votes, relax.after_deinit_to.votes]
    settings: dict[str, Any] = {"perf_profile": "system_settings"}
    settings.update(_beside(votes))
    if any(each.hvx is not None for each in sets):
        settings["perf_profile"] = "custom"
        settings["custom"] = _items(*_stated_alike(sets), sustain=relax is not None and sustains(relax))
    return Exported(profile, settings, lost)


def device_settings(soc: Soc | None) -> dict[str, Any]:
    """Return the keys of a device that name the SoC; empty without a SoC."""
    return {} if soc is None else {"soc_model": soc.model, "dsp_arch": f"v{soc.arch}"}


def _beside(votes: VoteSet) -> dict[str, Any]:
    """Return the other keys of the core, always with a latency: without one the voter votes 100 us; 0 is not a vote."""
    keys: dict[str, Any] = {"rpc_control_latency": votes.rpc_control_latency_us or 0}
    for key, field in BESIDE.items():
        value = getattr(votes, field)
        # The voter does not vote a polling time of 0.
        if value or (value is not None and not key.endswith("polling_time")):
            keys[key] = value
    return keys


def _stated_alike(sets: list[VoteSet]) -> list[VoteSet]:
    """Return vote sets in which each set votes on the matrix unit and compression engine if any of them does.

    If a set leaves such a vote unset, the controller here sends the vote that cancels it.
    """
    filled = list(sets)
    for about in BY_FIELD.values():
        if about.needs_hvx and about.fields and any(getattr(each, about.field) is not None for each in sets):
            for number, each in enumerate(filled):
                if each.get(about.option) is None and (about.other_form is None or each.get(about.other_form) is None):
                    filled[number] = attrs.evolve(each, **{about.field: about.taken_back})
    return filled


def _items(raised: VoteSet, relaxed: VoteSet, released: VoteSet, *, sustain: bool) -> list[dict[str, Any]]:
    done = [INIT_DONE, INFERENCE_DONE]
    last = _item_blocks(released)
    lowered = _item_blocks(relaxed)
    if last == lowered:
        done.append(DEINIT_DONE)
    items: list[dict[str, Any]] = [
        {"graphState": [INIT_START, INFERENCE_START, DEINIT_START], "sustainInferencePerfState": sustain},
        {"graphState": done, "sustainInferencePerfState": sustain},
    ]
    items[0].update(_item_blocks(raised))
    items[1].update(lowered)
    if last != lowered:
        items.append({"graphState": [DEINIT_DONE], "sustainInferencePerfState": sustain, **last})
    return items


def _item_blocks(votes: VoteSet) -> dict[str, Any]:
    """Return the blocks of a vote set; for a field that the HVX vote leaves unset, the value that cancels it."""
    hvx = votes.hvx
    blocks: dict[str, Any] = {}
    if hvx is None or isinstance(hvx, DcvsV3):
        blocks["dcvsControl"] = _dcvs(hvx or HVX_REMOVED)
    else:
        blocks["dcvsExpControl"] = _dcvs_exp(hvx)
    if votes.hmx_v2 is not None:
        hmx = votes.hmx_v2
        # 2.47 accepts it only with all its corners.
        blocks["hmxControl"] = {
            "hmxPickDefault": int(hmx.pick_default),
            "hmxPerfMode": int(hmx.perf_mode),
            **_corners("hmx", hmx),
        }
    if votes.ceng is not None:
        blocks["cengControl"] = _ceng(votes.ceng)
    if votes.ceng_exp is not None:
        blocks["cengExpControl"] = _ceng(votes.ceng_exp)
    return blocks


def _dcvs(hvx: DcvsV3) -> dict[str, Any]:
    enable = HVX_REMOVED.dcvs_enable if hvx.dcvs_enable is None else hvx.dcvs_enable
    return {"enableDcvs": enable, **_clocks(hvx, HVX_REMOVED)}


def _dcvs_exp(hvx: DcvsV3Exp) -> dict[str, Any]:
    sleep = {} if hvx.sleep_disable is None else {"sleepDisable": int(hvx.sleep_disable)}
    perf_modes = {"corePerfMode": int(hvx.core_perf_mode), "busPerfMode": int(hvx.bus_perf_mode)}
    return {**_clocks(hvx, HVX_EXP_REMOVED, sleep), **perf_modes}


def _clocks(hvx: Any, removed: Any, sleep: Mapping[str, int] = MappingProxyType({})) -> dict[str, Any]:
    """Return power mode, sleep and corners; for an unset field, the value that cancels an earlier vote."""
    return {
        "powerMode": hvx.power_mode.enumerator,
        "sleep_latency_us": removed.sleep_latency_us if hvx.sleep_latency_us is None else hvx.sleep_latency_us,
        **sleep,
        **_corners("bus", hvx.bus or removed.bus),
        **_corners("core", hvx.core or removed.core),
    }


def _ceng(ceng: Ceng | CengExp) -> dict[str, Any]:
    return {**_corners("ceng", ceng), "cengPerfMode": int(ceng.perf_mode)}


def _corners(clock: str, limits: Any) -> dict[str, str]:
    """Return min, target and max of a clock."""
    corners = (("Min", limits.min), ("Target", limits.target), ("Max", limits.max))
    return {f"{clock}VoltageCorner{name}": corner.enumerator for name, corner in corners}


def merged(file: ExtensionFile, exported: Exported, *, soc: Soc | None = None, core: int = 0) -> ExtensionFile:
    """Return a file with a profile in this core of its first device; core and device are added if they are missing.

    Other settings of the core stay. If a SoC is given, it becomes the device's SoC.

    Raises:
        ProfileError: the vendor's parser refuses the file before or after the change; it is an outer file; the settings
            of another core would override the profile; or an unknown key in its first device is read as one of the keys
            of the profile.
    """
    if file.kind is FileKind.OUTER:
        message = "an outer file, which only names the file with the settings"
        raise ProfileError([Finding.of_file(file.path, "TYPE-1", message, "merge into that file")])
    if broken := refusals(file):
        raise ProfileError(broken)
    if misread := [file.problem(*each) for each in _misread(file)]:
        raise ProfileError(misread)
    device: KeyPath = ("devices", "0")
    at = _core(file, core)
    text = file.text
    for name, value in device_settings(soc).items():
        text = with_value(text, (*device, name), value)
    if text.at(at) is None:
        text = with_value(text, at, {"core_id": core, **exported.settings})
    for name in CORE_KEYS:
        if name in exported.settings:
            text = with_value(text, (*at, name), exported.settings[name])
        else:
            text = without(text, (*at, name))
    done = extension_file(text)
    # The parser combines the settings of several cores; the last value of a key counts.
    if broken := refusals(done):
        raise _outvoted(file, broken[0].rule, broken[0].message)
    if _voted(done, at) != _voted(with_one_core(done), (*device, "cores")):
        said = f"core {core} would not be voted: of several cores, the last value of a key counts"
        raise _outvoted(file, "VALUE-1", said)
    return done


def _outvoted(file: ExtensionFile, rule: str, says: str) -> ProfileError:
    """Return the error that settings of other cores override the profile."""
    said = f"with the profile in it: {says}"
    return ProfileError([Finding.of_file(file.path, rule, said, "change its other cores first")])


def _voted(file: ExtensionFile, at: KeyPath) -> tuple[VoteSet, Relax | None]:
    """Return the votes of the only core at a place."""
    (core,) = file.of(Section.CORE, at)
    profile = core_performance(file, core).profile
    return profile.votes, profile.relax


def _misread(file: ExtensionFile) -> Iterator[Wrong]:
    """Yield the unknown keys of the first device that are read as known keys, and may override them."""
    for block, wrong in unknown_keys(file):
        if block.at[:2] == ("devices", "0") and isinstance(wrong.at, Member):
            others = read_as(block.at, wrong.at)
            if any(name in CORE_KEYS or name in _OF_CUSTOM for name in others):
                yield wrong


def _core(file: ExtensionFile, core: int) -> KeyPath:
    """Return the path to a core of the first device, or to the place for a new one."""
    cores = file.of(Section.CORE, ("devices", "0"))
    for block in cores:
        if core_id(block) == core:
            return block.at
    return ("devices", "0", "cores", str(len(cores)))
