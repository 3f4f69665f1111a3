"""The devices and graphs of extension files, as profiles, so that they can be compared with profiles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from htppower.errors import ProfileError
from htppower.profiles.loading import Examined
from htppower.profiles.paths import stem_of
from htppower.profiles.strict_yaml import Document
from htppower.tools.extensions.clock_blocks import (
    DEINIT_DONE,
    DEINIT_START,
    INFERENCE_DONE,
    INFERENCE_START,
    INIT_DONE,
    INIT_START,
    custom_votes,
)
from htppower.tools.extensions.extension_file import read_extension_file
from htppower.tools.extensions.inner_files import inner_files, named_paths
from htppower.tools.extensions.key_checks import refuse_others
from htppower.tools.extensions.keys import Section
from htppower.tools.extensions.one_core import as_one_core
from htppower.tools.extensions.performance import core_performance, graph_performance
from htppower.tools.extensions.refusals import refusals
from htppower.tools.review.diff.change import ExtensionSource
from htppower.tools.review.diff.extension_keys import as_written, origins
from htppower.tools.runtimes.other_kinds import other_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.errors import KeyPath, Place
    from htppower.profiles.profile import PowerState, Profile
    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.performance import Performance
    from htppower.votes.vote_set import VoteSet


class Part(NamedTuple):
    """The cores of a device, joined as the vendor's voter joins them, or a graph with a profile of its own.

    Attributes:
        name: the name, such as ``core 0``, ``device 1 cores 0+1`` or ``graph decode``.
        profile: what it votes.
        device: the number of the device, from 0; None for a graph.
    """

    name: str
    profile: Examined[Profile]
    device: int | None = None

    @property
    def is_graph(self) -> bool:
        """Whether it is a graph. Without a profile of its own, a graph votes as the first device does."""
        return self.device is None

    @property
    def paired_by(self) -> object:
        """The key that pairs it with a part of another file: the number of the device, or the name of the graph."""
        return self.name if self.device is None else self.device


def read_extension_files(path: str, find: Callable[[str, str], str]) -> tuple[ExtensionFile, ...]:
    """Return an extension file. If it is an outer file, return the files that it names, which ``find`` looks up.

    Raises:
        ProfileError: a file can't be read, is of another kind, or is refused by the vendor's parser, so that it votes
            nothing.
    """
    named = read_extension_file(path)
    kind = other_kind(named)
    refuse_others(named, "" if kind is None else kind.name)
    files = inner_files(named, find)
    if found := [finding for file in files for finding in refusals(file)]:
        raise ProfileError(found)
    return files


def paths_named_by(path: str) -> tuple[str, ...]:
    """Return the paths that an extension file names, as they are written; none if the file is broken."""
    try:
        return named_paths(read_extension_file(path))
    except ProfileError:
        return ()


def parts_of(file: ExtensionFile) -> Iterator[Part]:
    """Yield the devices of a file, then the graphs with a profile of their own, by their names."""
    file, cores = as_one_core(file)
    first = next((each.core for each in cores if each.device == 0), None)
    if first is None:
        yield Part("core 0", _examined(file, None, None, core_performance(file, None)), 0)
    for device, ids, core in cores:
        # Commas separate names in lists, so the cores are joined by "+".
        name = f"{'core' if len(ids) == 1 else 'cores'} {'+'.join(map(str, ids))}"
        examined = _examined(file, core, None, core_performance(file, core))
        yield Part(f"device {device} {name}" if device else name, examined, device)
    seen: dict[str, int] = {}
    for number, graph in enumerate(file.of(Section.GRAPH)):
        if graph.get("perf_profile") is None:
            continue
        examined = _examined(file, first, graph, graph_performance(file, first, graph))
        named = graph.get("graph_names")
        names = [] if named is None else [str(each.value) for each in named.items]
        for name in names or [f"{number} without a name"]:
            yield Part(_numbered(f"graph {name}", seen), examined)


def _numbered(name: str, seen: dict[str, int]) -> str:
    """Return a name, with a number appended if it was there before."""
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name} ({seen[name]})"


def _examined(
    file: ExtensionFile, core: Block | None, graph: Block | None, performance: Performance
) -> Examined[Profile]:
    said = f"{performance.perf_profile} as in {os.path.basename(file.path)}."
    profile = attrs.evolve(performance.profile, name=stem_of(file.path), summary=said, source=file.path)
    relax = profile.relax
    remarked = frozenset(remark.place for remark in performance.remarks)
    named: dict[tuple[str, ...], Examined[PowerState]] = {}
    if relax is not None:
        named["relax", "to"] = _state(relax.to, _source(file, core, graph, INFERENCE_DONE, remarked))
        if relax.after_deinit_to is not relax.to:
            last = _source(file, core, graph, DEINIT_DONE, remarked)
            named["relax", "after_deinit_to"] = _state(relax.after_deinit_to, last)
    raised = _source(file, core, graph, INFERENCE_START, remarked)
    profile = attrs.evolve(profile, votes=as_written(profile.votes, raised.values))
    if graph is None and core is not None and _is_custom(core, None):
        raised = attrs.evolve(raised, phases=_phases(file, core))
    return Examined(profile, raised, (), readable=True, named=named)


def _phases(file: ExtensionFile, core: Block) -> dict[str, tuple[VoteSet, ExtensionSource]]:
    in_force = custom_votes(file, core).in_force
    usual = {INIT_START: INFERENCE_START, INIT_DONE: INFERENCE_DONE, DEINIT_START: INFERENCE_START}
    if all(in_force[state] == in_force[other] for state, other in usual.items()):
        return {}
    sources = {state: _source(file, core, None, state) for state in usual}
    return {state: (as_written(in_force[state], source.values), source) for state, source in sources.items()}


def _state(state: PowerState, source: ExtensionSource) -> Examined[PowerState]:
    written = attrs.evolve(state, votes=as_written(state.votes, source.values))
    return Examined(written, source, (), readable=True)


def _is_custom(core: Block | None, graph: Block | None) -> bool:
    """Return whether the votes are those of the core's ``custom``."""
    holder = graph or core
    named = holder is not None and holder.word("perf_profile") == "custom"
    return named and core is not None and core.get("custom") is not None


def _source(
    file: ExtensionFile,
    core: Block | None,
    graph: Block | None,
    state: str,
    remarked: frozenset[Place] = frozenset(),
) -> ExtensionSource:
    """Return the keys that decide which votes are in force after a state."""
    holder = graph or core
    named = None if holder is None else holder.member("perf_profile")
    stated = origins(file, core, state, custom=_is_custom(core, graph))
    values = {at: member.node.value for at, member in stated.items() if member.node.value is not None}
    places: dict[KeyPath, Place] = {(): file.place(named or (file.text.accepted() if holder is None else holder.node))}
    for at, member in sorted(stated.items(), key=lambda pair: pair[1].start):
        # A part of a vote without a key of its own is where the first of its parts is.
        for length in range(2, len(at)):
            places.setdefault(at[:length], file.place(member))
        places[at] = file.place(member)
    if named is not None:
        values["extends",] = named.node.value
        places["extends",] = file.place(named)
    written = Document(file.path, _tree(values), places, {}, (), None)
    return ExtensionSource(
        path=file.path,
        tree=written.tree,
        places=places,
        key_places={},
        problems=(),
        version=None,
        lineage=(stem_of(file.path),),
        complete=True,
        documents=(written,),
        values=values,
        unsaid=frozenset(at for at, member in stated.items() if file.place(member.node) in remarked),
    )


def _tree(values: Mapping[KeyPath, Any]) -> dict[str, Any]:
    """Return values by their keys as a tree."""
    tree: dict[str, Any] = {}
    for at, value in values.items():
        within = tree
        for key in at[:-1]:
            within = within.setdefault(key, {})
        within[at[-1]] = value
    return tree
