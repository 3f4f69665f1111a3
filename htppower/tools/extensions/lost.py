"""The fields of a profile that an extension file can't express, or that its architecture lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Severity
from htppower.profiles.expressed import Lost
from htppower.profiles.fields import CPU_LATENCY, spell
from htppower.profiles.profile import Lowering, power_states, with_states
from htppower.profiles.sustain import VENDOR_SUSTAIN_US, Adaptive, first_us
from htppower.rules.platforms import ARCHITECTURES, Platform
from htppower.rules.socs import SOCS
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import BESIDE, Section
from htppower.votes.clock_votes import DcvsV3
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import PowerState, Profile, Relax
    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.votes.options import Option
    from htppower.votes.vote_set import VoteSet

_BESIDE = tuple(BESIDE.values())
# The votes that the vendor's voter sends only once, when the device is created.
_CAST_ONCE = tuple(field for field in _BESIDE if field != "ddr_perf_mode")
_ARCH = re.compile(r"v([0-9]{1,4})")


def written_states(profile: Profile) -> tuple[tuple[KeyPath, PowerState], ...]:
    """Return the power states that a file can express; it can't express the second one."""
    return tuple((at, state) for at, state in power_states(profile) if "then" not in at)


def sustains(relax: Relax) -> bool:
    """Return whether a sustain time is nearer to the 300 ms of the vendor's voter than to 0."""
    return first_us(relax.after_inference_us) >= VENDOR_SUSTAIN_US / 2


def lost_fields(profile: Profile) -> tuple[Lost, ...]:
    """Return the lost fields of a profile: warnings and notes, in the order of the fields."""
    votes, relax = profile.votes, profile.relax
    if relax is None:
        return ()
    found = [*_of_clocks(("votes",), votes), *_of_raised(votes)]
    for at, state in written_states(profile):
        found += _of_clocks(at, state.votes)
        found += _of_lowered(at, votes, state.votes)
    found += _taken_back(_sets(profile))
    found += _of_times(relax)
    if all(each.hvx is None for _, each in _sets(profile)):
        found = [each for each in found if each.field[-1] in _BESIDE]
        if not any(getattr(votes, name) for name in _CAST_ONCE) and votes.ddr_perf_mode is None:
            asks = "votes that ask for nothing"
            found += [_note(("votes",), asks, "nothing is voted"), _note(("relax",), asks, "nothing is lowered")]
        elif relax.after_inference_us or relax.after_init_us or relax.lowering is Lowering.BACKGROUND:
            found.append(_note(("relax",), "when the votes are lowered", "they are sent once, and stay"))
    if profile.cpu_latency_us is not None:
        found.append(Lost(CPU_LATENCY, f"{profile.cpu_latency_us} us", "the voter makes no request for the CPUs"))
    return tuple(dict.fromkeys(found))


def _sets(profile: Profile) -> list[tuple[KeyPath, VoteSet]]:
    """Return the votes of a profile and of the power states that a file can express."""
    return [(("votes",), profile.votes), *((at, state.votes) for at, state in written_states(profile))]


def _of_clocks(at: KeyPath, votes: VoteSet) -> Iterator[Lost]:
    """Yield the lost fields among the votes on clocks."""
    hvx, field = votes.hvx, votes.hvx_field
    if hvx is None:
        yield _note((*at, field), "unset", "a vote that asks for nothing is sent, with all corners DISABLE")
    elif hvx.sleep_disable is not None:
        sleep = (*at, field, "sleep_disable")
        if isinstance(hvx, DcvsV3) and hvx.sleep_disable:
            yield Lost(sleep, "true", "the vendor's parser refuses sleep_disable, and false is voted")
        elif not hvx.sleep_disable:
            yield _note(sleep, "false", "the vendor's voter votes it whether it is unset or false")
    for name in ("dcvs_enable", "sleep_latency_us", "bus", "core") if hvx is not None else ():
        if hasattr(hvx, name) and getattr(hvx, name) is None:
            yield _note((*at, field, name), "unset", "the value that cancels an earlier vote is voted")
    if votes.hmx_v2 is None:
        yield _note((*at, "hmx_v2"), "unset", "the matrix unit follows the core, the same as without a vote")


def _of_raised(votes: VoteSet) -> Iterator[Lost]:
    """Yield the lost fields among the votes that are not on clocks."""
    if votes.rpc_control_latency_us is None:
        yield _note(("votes", "rpc_control_latency_us"), "unset", "0 is voted, which is not a vote")
    if votes.rpc_polling_time_us is None:
        yield _note(("votes", "rpc_polling_time_us"), "unset", "it is not voted, the same as for 0")
    if votes.adaptive_polling_time_us == 0:
        yield _note(("votes", "adaptive_polling_time_us"), "0 us", "it is not voted, the same as for unset")


def _of_lowered(at: KeyPath, raised: VoteSet, lowered: VoteSet) -> Iterator[Lost]:
    """Yield the lost fields among the votes of a power state that the vendor's voter sends only once, or by itself."""
    for name in _BESIDE:
        before, after = getattr(raised, name), getattr(lowered, name)
        says = "unset" if after is None else str(after).lower()
        if name == "ddr_perf_mode":
            if after is not None or before is not None:
                yield _note((*at, name), says, "the key of the core applies to all votes")
        elif after and after != before:
            yield Lost((*at, name), says, f"{before or 0}, which is voted once, stays")
        elif before or after is not None or name == "rpc_polling_time_us":
            yield _note((*at, name), says, f"{before or 0}, which is voted once, stays")


def _taken_back(sets: list[tuple[KeyPath, VoteSet]]) -> Iterator[Lost]:
    """Yield the votes on the compression engine that one set leaves unset and another one sets."""
    for name in ("ceng", "ceng_exp"):
        if any(getattr(votes, name) is not None for _, votes in sets):
            for at, votes in sets:
                if getattr(votes, name) is None:
                    yield _note((*at, name), "unset", "the vote that cancels it is sent")


def _of_times(relax: Relax) -> Iterator[Lost]:
    at = ("relax", "after_init_us")
    if relax.after_init_us:
        yield Lost(at, f"{relax.after_init_us} us", "the votes are lowered as soon as INIT has ended")
    if relax.after_inference_us not in (0, VENDOR_SUSTAIN_US):
        kept = f"{VENDOR_SUSTAIN_US} us" if sustains(relax) else "0 us"
        learnt = isinstance(relax.after_inference_us, Adaptive)
        says = f"{spell(relax.after_inference_us)}{'' if learnt else ' us'}"
        yield Lost(("relax", "after_inference_us"), says, f"{kept}: the voter knows only 0 and {VENDOR_SUSTAIN_US} us")
    if relax.lowering is Lowering.BACKGROUND:
        yield Lost(("relax", "lowering"), "background", "the voter lowers before the inference returns")
    if relax.then is not None:
        yield Lost(("relax", "then"), relax.then.to.name, "the voter relaxes once")
    if relax.raise_ahead_us:
        yield Lost(("relax", "raise_ahead_us"), f"{relax.raise_ahead_us} us", "the voter raises as an inference begins")


def _note(at: KeyPath, says: str, instead: str) -> Lost:
    return Lost(at, says, instead, Severity.NOTE)


def architecture(file: ExtensionFile) -> int | None:
    """Return the Hexagon architecture that a file's first device names, such as 79, or None."""
    for block in file.of(Section.DEVICE)[:1]:
        said = block.get("dsp_arch")
        named = None if said is None or said.kind is not Kind.TEXT else _ARCH.fullmatch(said.value)
        if named is not None:
            return int(named[1])
        model = block.get("soc_model")
        for soc in SOCS:
            if model is not None and model.value == soc.model:
                return soc.arch
    return None


def without_missing(profile: Profile, arch: int | None) -> tuple[Profile, tuple[Lost, ...]]:
    """Return a profile without the votes that an architecture lacks, and the lost fields.

    In a file, such a vote can make the other votes of its call fail (EXT-30). An HVX vote stays, since the vendor's
    parser requires one. For an unknown architecture, nothing is omitted.
    """
    platform = Platform(arch)
    lost = tuple(each for at, votes in _sets(profile) for each in _lost(at, votes, platform))
    relax = profile.relax
    if relax is not None:
        relax = with_states(relax, lambda state: attrs.evolve(state, votes=_kept(state.votes, platform)))
    return attrs.evolve(profile, votes=_kept(profile.votes, platform), relax=relax), lost


def harmful_elsewhere(profile: Profile) -> tuple[Lost, ...]:
    """Return the votes of a profile that some SoCs lack, and that may make others fail in a file for any SoC.

    The DDR performance mode is a warning: a SoC without it loses all raised votes. The others are notes.
    """
    return tuple(lost for at, votes in _sets(profile) for lost in _lacked_by_some(at, votes))


def _lacked_by_some(at: KeyPath, votes: VoteSet) -> Iterator[Lost]:
    for option in votes.options:
        about = VOTE_OPTIONS[option]
        vote = votes.get(option)
        if vote in (about.taken_back, about.default) or all(Platform(arch).has(option) for arch in ARCHITECTURES):
            continue
        is_ddr = about.field == "ddr_perf_mode"
        others = "the raised votes" if is_ddr else "other votes of its call"
        does = f"written anyway: it is for {Platform.needs(option)}, and a SoC without it loses {others}, too"
        severity = Severity.WARNING if is_ddr else Severity.NOTE
        yield Lost((*at, about.field), spell(vote), f"{does}; name the SoC with --soc", severity)


def _missing(votes: VoteSet, platform: Platform) -> Iterator[tuple[Option, bool]]:
    """Yield the options of a set that a platform lacks, each with whether its vote can be omitted."""
    for option in votes.options:
        if not platform.has(option):
            yield option, VOTE_OPTIONS[option].field != votes.hvx_field


def _kept(votes: VoteSet, platform: Platform) -> VoteSet:
    left_out = {VOTE_OPTIONS[option].field: None for option, can_be in _missing(votes, platform) if can_be}
    return attrs.evolve(votes, **left_out)


def _lost(at: KeyPath, votes: VoteSet, platform: Platform) -> Iterator[Lost]:
    for option, can_be in _missing(votes, platform):
        about = VOTE_OPTIONS[option]
        vote = votes.get(option)
        asks = vote not in (about.taken_back, about.default)
        why = f"Hexagon V{platform.arch} has no such vote, which is for {platform.needs(option)}"
        done = "omitted" if can_be else "written anyway"
        severity = Severity.WARNING if asks else Severity.NOTE
        yield Lost((*at, about.field), spell(vote), f"{done}: {why}", severity)
