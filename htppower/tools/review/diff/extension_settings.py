"""The differences between two extension files in keys that send no vote, such as ``soc_model`` and ``mem_type``.

They include votes of a core that a later core of its device overrides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.errors import shortened
from htppower.profiles.fields import UNSET
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import CORE_KEYS, Section
from htppower.tools.extensions.one_core import cores_by_device, outvoted
from htppower.tools.review.diff.causes import Cause
from htppower.tools.review.diff.change import Change
from htppower.tools.review.diff.effects import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.extensions.json_parser import Member, Node

_LONGEST = 60
# The keys whose effect is reported as an effect of votes, and the keys that pair graphs.
_OF_VOTES = {
    Section.CORE: frozenset(CORE_KEYS),
    Section.GRAPH: frozenset({"perf_profile", "graph_names"}),
}


def changed_settings(name: str, old: ExtensionFile, new: ExtensionFile) -> Iterator[Change]:
    """Yield the settings that differ and send no vote, in the order of the new file, then the removed settings."""
    before, after = dict(_settings(old)), dict(_settings(new))
    for at in dict.fromkeys((*after, *before)):
        one, other = before.get(at), after.get(at)
        if (one is None and old.text.at(at) is not None) or (other is None and new.text.at(at) is not None):
            # One side sends a vote with this key, which is reported with the votes.
            continue
        if one is not None and other is not None and _same(one.node.plain(), other.node.plain()):
            continue
        places = (_place(old, at, one), _place(new, at, other))
        cause = Cause(places[1]) if other is not None else Cause(places[0], removed=True)
        said = _said(old, one), _said(new, other)
        yield Change(name, "", ".".join(at), *said, Effect.NO_VOTE, places[1], places[0], cause)


def _settings(file: ExtensionFile) -> Iterator[tuple[KeyPath, Member]]:
    sections = {block.at: block.section for block in file.blocks}
    in_vain = {each.member.node.start for cores in cores_by_device(file).values() for each in outvoted(cores)}
    waiting: list[tuple[KeyPath, Node]] = [((), file.text.accepted())]
    while waiting:
        at, node = waiting.pop()
        of_votes = _OF_VOTES.get(sections[at], frozenset()) if at in sections else frozenset()
        told = set()
        for member in node.members:
            # If a key is given twice, the first counts.
            if member.key in told or (member.key in of_votes and member.node.start not in in_vain):
                continue
            told.add(member.key)
            below = (*at, member.key)
            items = [((*below, str(number)), item) for number, item in enumerate(member.node.items)]
            if any(key in sections for key, _ in items):
                waiting += [(key, item) for key, item in items if item.kind is Kind.OBJECT]
            elif member.node.kind is Kind.OBJECT and member.node.members:
                waiting.append((below, member.node))
            elif (file_section := sections.get(at)) is None or (file_section, member.key) not in _HOLDERS:
                yield below, member


# The keys that hold lists of blocks. An empty list has no effect.
_HOLDERS = frozenset({(Section.TOP, "devices"), (Section.TOP, "graphs"), (Section.DEVICE, "cores")})


def _same(old: Any, new: Any) -> bool:
    """Return whether two values are equal and of the same type: ``true`` is not 1."""
    return bool(old == new) and repr(old) == repr(new)


def _place(file: ExtensionFile, at: KeyPath, member: Member | None) -> Any:
    """Return the place of a key. If the file lacks the key, return the nearest object that would hold it."""
    if member is not None:
        return file.place(member)
    node = None
    while at and node is None:
        at = at[:-1]
        node = file.text.at(at)
    return file.place(node if node is not None else file.text.accepted())


def _said(file: ExtensionFile, member: Member | None) -> str:
    if member is None:
        return UNSET
    return shortened(" ".join(file.text.text[member.node.start : member.node.end].split()), _LONGEST)
