"""The architecture of an extension file, and profiles without the votes that an architecture lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Severity
from htppower.profiles.fields import spell
from htppower.profiles.lost import Lost
from htppower.profiles.profile import with_states
from htppower.rules.platforms import ARCHITECTURES, Platform
from htppower.rules.socs import SOCS
from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.keys import Section
from htppower.tools.extensions.lost import written_states
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile
    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.votes.options import Option
    from htppower.votes.vote_set import VoteSet

_ARCH = re.compile(r"v([0-9]{1,4})")


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
    sets = [(("votes",), profile.votes), *((at, state.votes) for at, state in written_states(profile))]
    lost = tuple(each for at, votes in sets for each in _lost(at, votes, platform))
    relax = profile.relax
    if relax is not None:
        relax = with_states(relax, lambda state: attrs.evolve(state, votes=_kept(state.votes, platform)))
    return attrs.evolve(profile, votes=_kept(profile.votes, platform), relax=relax), lost


def harmful_elsewhere(profile: Profile) -> tuple[Lost, ...]:
    """Return the votes of a profile that some SoCs lack, and that may make others fail in a file for any SoC.

    The DDR performance mode is a warning: a SoC without it loses all raised votes. The others are notes.
    """
    sets = (("votes",), profile.votes), *((at, state.votes) for at, state in written_states(profile))
    return tuple(lost for at, votes in sets for lost in _lacked_by_some(at, votes))


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
