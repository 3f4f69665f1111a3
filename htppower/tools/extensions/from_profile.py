"""Writes a profile as the settings of a core in an extension file: ``custom`` with its items, and other keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Severity
from htppower.tools.extensions.custom_votes import (
    DEINIT_DONE,
    DEINIT_START,
    INFERENCE_DONE,
    INFERENCE_START,
    INIT_DONE,
    INIT_START,
)
from htppower.tools.extensions.json_edits import new_text
from htppower.tools.extensions.lost import lost_fields, sustains, without_missing
from htppower.votes.clock_votes import HVX_EXP_REMOVED, HVX_REMOVED, DcvsV3
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from htppower.profiles.expressed import Lost
    from htppower.profiles.profile import Profile
    from htppower.rules.socs import Soc
    from htppower.votes.clock_votes import Ceng, CengExp, DcvsV3Exp, HmxV2
    from htppower.votes.vote_set import VoteSet


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
    if votes.rpc_polling_time_us:
        keys["rpc_polling_time"] = votes.rpc_polling_time_us
    if votes.adaptive_polling_time_us:
        keys["adaptive_polling_time"] = votes.adaptive_polling_time_us
    if votes.hmx_timeout_us is not None:
        keys["hmx_timeout_us"] = votes.hmx_timeout_us
    if votes.ddr_perf_mode is not None:
        keys["ddr_perf_mode"] = votes.ddr_perf_mode
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
        blocks["hmxControl"] = _hmx_block(votes.hmx_v2)
    if votes.ceng is not None:
        blocks["cengControl"] = _ceng(votes.ceng)
    if votes.ceng_exp is not None:
        blocks["cengExpControl"] = _ceng(votes.ceng_exp)
    return blocks


def _hmx_block(hmx: HmxV2) -> dict[str, Any]:
    """Return an ``hmxControl``; 2.47 accepts it only with all its corners."""
    return {"hmxPickDefault": int(hmx.pick_default), "hmxPerfMode": int(hmx.perf_mode), **_corners("hmx", hmx)}


def _dcvs(hvx: DcvsV3) -> dict[str, Any]:
    return {
        "enableDcvs": HVX_REMOVED.dcvs_enable if hvx.dcvs_enable is None else hvx.dcvs_enable,
        "powerMode": hvx.power_mode.enumerator,
        "sleep_latency_us": HVX_REMOVED.sleep_latency_us if hvx.sleep_latency_us is None else hvx.sleep_latency_us,
        **_corners("bus", hvx.bus or HVX_REMOVED.bus),
        **_corners("core", hvx.core or HVX_REMOVED.core),
    }


def _dcvs_exp(hvx: DcvsV3Exp) -> dict[str, Any]:
    latency_us = HVX_EXP_REMOVED.sleep_latency_us if hvx.sleep_latency_us is None else hvx.sleep_latency_us
    return {
        "powerMode": hvx.power_mode.enumerator,
        "sleep_latency_us": latency_us,
        **({} if hvx.sleep_disable is None else {"sleepDisable": int(hvx.sleep_disable)}),
        **_corners("bus", hvx.bus or HVX_EXP_REMOVED.bus),
        **_corners("core", hvx.core or HVX_EXP_REMOVED.core),
        "corePerfMode": int(hvx.core_perf_mode),
        "busPerfMode": int(hvx.bus_perf_mode),
    }


def _ceng(ceng: Ceng | CengExp) -> dict[str, Any]:
    return {**_corners("ceng", ceng), "cengPerfMode": int(ceng.perf_mode)}


def _corners(clock: str, limits: Any) -> dict[str, str]:
    """Return min, target and max of a clock."""
    corners = (("Min", limits.min), ("Target", limits.target), ("Max", limits.max))
    return {f"{clock}VoltageCorner{name}": corner.enumerator for name, corner in corners}
