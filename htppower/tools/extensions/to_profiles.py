"""Imports extension files as profiles: one for the cores of a device, and one for each graph with other settings."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError, printable, shortened
from htppower.profiles.loading import load_profile
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.profiles.paths import stem_of
from htppower.profiles.yaml_text import ProfileFiles, profile_lines, profile_name, state_text
from htppower.rules.socs import SOCS
from htppower.tools.extensions.extension_file import FileKind, Remark
from htppower.tools.extensions.json_parser import Kind, Member
from htppower.tools.extensions.key_checks import found_by_get, unknown_keys
from htppower.tools.extensions.keys import CORE_KEYS, VOTE_SECTIONS, Section
from htppower.tools.extensions.one_core import as_one_core, core_id, cores_by_device, with_strays
from htppower.tools.extensions.performance import RELAXED, RELEASED, core_performance, graph_performance
from htppower.tools.extensions.refusals import refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.profiles.profile import PowerState, Profile
    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.performance import Performance

_WIDTH = 110
# Keys that are voted, or that have their own sentence.
_TOLD = frozenset(
    {
        (Section.GRAPH, "perf_profile"),
        (Section.GRAPH, "graph_names"),
        (Section.CORE, "core_id"),
        *((Section.CORE, name) for name in CORE_KEYS if name not in ("hmxControl", "custom")),
    }
)


@attrs.frozen
class Imported:
    """A profile that is imported from an extension file.

    Attributes:
        profile: its votes and power states.
        base: the shipped profile that its file extends; None if the file states everything.
        of: a description of the part of the extension file that it comes from.
        remarks: settings of the extension file that the profile does not express.
        left_out: the settings of the extension file that do not affect votes.
    """

    profile: Profile
    base: Profile | None
    of: str
    remarks: tuple[Remark, ...]
    left_out: tuple[str, ...]

    @property
    def states(self) -> tuple[PowerState, ...]:
        """Its power states that are not shipped ones."""
        relax = self.profile.relax
        found = () if relax is None else (relax.to, relax.after_deinit_to)
        return tuple(dict.fromkeys(state for state in found if state.source is None))

    def texts(self) -> dict[str, str]:
        """Return its files, by path below the profile folder: its own, then the files of its power states."""
        comments = map(printable, (self.of, *map(str, self.remarks), *self.left_out))
        wrapped = (line for each in comments for line in textwrap.wrap(each, _WIDTH, subsequent_indent="  "))
        lines = [f"# {line}" for line in wrapped]
        lines += [line for _, line in profile_lines(self.profile, self.base)]
        states = {state.name: state_text(state) + "\n" for state in self.states}
        return ProfileFiles(self.profile.name, "\n".join(lines) + "\n", states).texts()


def to_profiles(file: ExtensionFile, *, core: int | None = None, name: str = "") -> tuple[Imported, ...]:
    """Return a profile for each device, and for each graph with its own profile; of equal profiles only the first.

    Args:
        file: an inner file.
        core: use only cores with this id, and ignore others. By default all cores of a device are combined, as the
            vendor's voter reads them.
        name: the name of the profiles; if there are several, each gets a suffix. By default the file's name.

    Raises:
        ProfileError: the vendor's parser refuses the file, it is an outer file, or it has no such core.
    """
    if file.kind is FileKind.OUTER:
        found = Finding.of_file(file.path, "TYPE-1", "an outer file, which names the file of the settings", "read that")
        raise ProfileError([found])
    if broken := refusals(file):
        raise ProfileError(broken)
    left_out = _left_out_settings(file)
    unread = tuple(_unread(file))
    parts = list(_parts(file, core))
    distinct: dict[tuple[object, ...], tuple[str, str, Performance]] = {}
    for suffix, of, performance in parts:
        key = (performance.perf_profile, performance.profile, performance.remarks)
        if key in distinct:
            first_suffix, first, _ = distinct[key]
            distinct[key] = (first_suffix, f"{first}, {of}", performance)
        else:
            distinct[key] = (suffix, of, performance)
    stem = profile_name(name or stem_of(file.path))
    made = []
    for suffix, of, voted in distinct.values():
        called = stem if len(distinct) == 1 else f"{stem}_{suffix}"
        performance = attrs.evolve(voted, remarks=(*voted.remarks, *unread))
        made.append(_imported(called, f"{printable(os.path.basename(file.path))}, {of}", performance, left_out))
    return tuple(made)


def _unread(file: ExtensionFile) -> Iterator[Remark]:
    """Yield a remark for each unknown key: what the parser does with it, and whether the profile expresses it."""
    for block, wrong in unknown_keys(file):
        missing = isinstance(wrong.at, Member) and not found_by_get(block, wrong.at)
        left_out = "; omitted here" if missing else ""
        yield Remark(file.place(wrong.at), f"{wrong.message}{left_out} ({wrong.rule}: {wrong.hint})")


def _parts(file: ExtensionFile, wanted: int | None) -> Iterator[tuple[str, str, Performance]]:
    """Yield each device and graph with a profile: the suffix of its name, its description, and its votes."""
    file = with_strays(file)
    devices = list(cores_by_device(file).values())
    ids = [[core_id(core) for core in cores] for cores in devices]
    if wanted is not None and not any(wanted in each for each in ids):
        known = ", ".join(map(str, sorted({each for device in ids for each in device}))) or "none"
        raise ProfileError([Finding.of_file(file.path, "NAME-1", f"no core {wanted}", f"it has {known}")])
    several = _several_cores(file, devices[0] if devices else [])
    file, cores = as_one_core(file, wanted)
    first = next((each.core for each in cores if each.device == 0), None)
    if first is None and wanted is None:
        performance = core_performance(file, None)
        which = "whose first device has no core" if cores else "which has no core"
        yield "core0", f"{which}: {performance.perf_profile}", performance
    for number, named, core in cores:
        suffix = f"core{named[0]}"
        where = f"device {number}, {'cores' if len(named) > 1 else 'core'} {', '.join(map(str, named))}"
        performance = core_performance(file, core)
        of = f"{where}: {performance.perf_profile}"
        if number == 0:
            yield suffix, of, attrs.evolve(performance, remarks=(*performance.remarks, *several))
        else:
            ignored = "(the vendor's voter reads only the first device)"
            yield f"device{number}_{suffix}", f"{of} {ignored}", performance
    for number, graph in enumerate(file.of(Section.GRAPH)):
        if graph.get("perf_profile") is not None:
            performance = graph_performance(file, first, graph)
            yield f"graphs{number}", f"{_graphs(graph)}: {performance.perf_profile}", performance


def _several_cores(file: ExtensionFile, cores: list[Block]) -> tuple[Remark, ...]:
    """Return the remark on a device whose cores differ: the last value of a key counts for all cores."""
    said = {
        tuple((member.key, repr(member.node.plain())) for member in core.node.members if member.key != "core_id")
        for core in cores
    }
    if len(said) <= 1:
        return ()
    says = "of several cores, the vendor's voter uses the settings of the last; --core selects the cores of one id"
    return (Remark(file.place(cores[-1].node), says),)


def _graphs(graph: Block) -> str:
    names = graph.get("graph_names")
    said = ", ".join(printable(str(item.value)) for item in (() if names is None else names.items))
    return f"graphs {said}" if said else "graphs without a name"


def _imported(name: str, of: str, performance: Performance, left_out: tuple[str, ...]) -> Imported:
    profile = performance.profile
    relax = profile.relax
    if relax is not None:
        to, last = _named(relax.to, name), _named(relax.after_deinit_to, name)
        relax = attrs.evolve(relax, to=to, after_deinit_to=last)
    summary = f"{performance.perf_profile} as in {of.partition(',')[0]}."
    profile = attrs.evolve(profile, name=name, summary=summary, relax=relax, lineage=(name,))
    base = _base(performance)
    return Imported(profile, base, f"Imported from {of}.", performance.remarks, left_out)


def _named(state: PowerState, profile: str) -> PowerState:
    """Return a power state with its own name, unless it is a shipped one."""
    if state.source is not None:
        return state
    return attrs.evolve(state, name=f"{profile}_{state.name if state.name in (RELAXED, RELEASED) else RELAXED}")


def _base(performance: Performance) -> Profile | None:
    """Return the shipped profile that a profile is based on, or equal to."""
    name = performance.perf_profile
    if name == "custom":
        shipped = map(load_profile, SHIPPED_PROFILES)
        mine = performance.profile
        return next((each for each in shipped if (each.votes, each.relax) == (mine.votes, mine.relax)), None)
    base = load_profile("balanced" if name == "default" else name)
    return base if base.votes or not performance.profile.votes else None


def _left_out_settings(file: ExtensionFile) -> tuple[str, ...]:
    """Return sentences about the settings that do not affect votes: the device of the file, and the rest."""
    of_device, others = [], []
    for block in file.blocks:
        if block.section in VOTE_SECTIONS:
            continue
        for member, key in block.members():
            if key is None:
                continue  # a remark covers it
            if (
                member.node.kind in (Kind.OBJECT, Kind.LIST)
                and member.node.plain()
                and _holds_blocks(file, block, member.key)
            ):
                continue
            if (block.section, member.key) in _TOLD:
                continue
            said = printable(shortened(file.text.text[member.node.start : member.node.end].replace("\n", " "), 40))
            if block.section is Section.DEVICE:
                of_device.append(f"{member.key} {said}{_soc(block, member.key)}")
            else:
                others.append(".".join((*block.at, member.key)))
    sentences = []
    if of_device:
        sentences.append(f"Settings of the host, not of the profile: {', '.join(dict.fromkeys(of_device))}.")
    if others:
        sentences.append(f"Not about votes, and omitted: {', '.join(map(printable, others))}.")
    return tuple(sentences)


def _holds_blocks(file: ExtensionFile, block: Block, key: str) -> bool:
    below = (*block.at, key)
    return any(each.at[: len(below)] == below for each in file.blocks)


def _soc(block: Block, key: str) -> str:
    node = block.get(key)
    if key != "soc_model" or node is None:
        return ""
    names = [f" ({', '.join(soc.names)}, V{soc.arch})" for soc in SOCS if soc.model == node.value]
    return names[0] if names else ""
