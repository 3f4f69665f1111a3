"""What the vendor's parser refuses: then it uses nothing of the file, and the vendor's tools run without any vote.

Measured on QAIRT 2.51 with thousands of files (``tests/vendor/test_extension_files.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, shortened
from htppower.profiles.did_you_mean import nearest
from htppower.tools.extensions.extension_file import WHOLE_FILE, FileKind, Wrong, inner_blocks
from htppower.tools.extensions.json_parser import Kind, Member
from htppower.tools.extensions.key_table import KEYS, known
from htppower.tools.extensions.key_words import leaves, refused_leaves
from htppower.tools.extensions.keys import CORE_KEYS, VOTE_SECTIONS, Section
from htppower.tools.extensions.refused_lists import refused_custom, refused_lists
from htppower.tools.extensions.refused_values import meant_by, refused_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.extensions.json_parser import Node
    from htppower.tools.extensions.json_text import JsonText
    from htppower.tools.extensions.key_words import Leaf

# Keys of an outer file; the code that reads them reads no inner file.
_OF_OUTER = ("backend_extensions", "context_configs", "graph_configs")
# The keys of each section that vote; None if all of them do.
_OF_VOTES: Mapping[Section, frozenset[str] | None] = {
    Section.TOP: frozenset({"devices", "graphs"}),
    Section.DEVICE: frozenset({"cores"}),
    Section.GRAPH: frozenset({"perf_profile"}),
    Section.CORE: frozenset(CORE_KEYS),
    **dict.fromkeys(VOTE_SECTIONS),
}


def refusals(file: ExtensionFile) -> tuple[Finding, ...]:
    """Return why the vendor's parser refuses a file, in the order of the file; empty if the parser accepts it.

    In a template, a placeholder for votes is a finding, too, since the votes are unknown.
    """
    found = [file.problem(*each) for each in refused(file)]
    if (at_text := refused_text(file.text)) is not None:
        offset, message, hint = at_text
        found.append(Finding("EXT-10", (), message, hint, place=file.text.place(offset)))
    found += _unfilled(file)
    return tuple(sorted(dict.fromkeys(found), key=lambda finding: (finding.line, finding.column)))


def refused(file: ExtensionFile) -> list[Wrong]:
    """Return the reasons to refuse a file, in the order of its objects."""
    found: list[Wrong] = []
    for block in inner_blocks(file):
        found += refused_values(block)
        found += refused_custom(block)
    told = {leaf.node.start for each in found for leaf in leaves(_value(each.at))}
    root = file.text.accepted()
    for leaf in refused_leaves(root):
        is_of_outer = file.kind is FileKind.OUTER and leaf.path.startswith(_OF_OUTER)
        if leaf.node.start not in told and not is_of_outer:
            found.append(_unknown(leaf))
    found += refused_lists(root)
    return [each for each in found if not file.text.placeholder(each.at)]


def refused_text(text: JsonText) -> tuple[int, str, str] | None:
    """Return place, reason and correction if the parser does not accept a text as a JSON object; otherwise None."""
    if text.byte_order_mark:
        return 0, "a byte order mark", "save the file as UTF-8 without one"
    root = text.root
    if root is not None and root.kind is not Kind.OBJECT:
        return root.start, f"{root.kind} where an object is needed", 'write {"devices": []}'
    return None


def _value(at: Node | Member) -> Node:
    return at.node if isinstance(at, Member) else at


def _unknown(leaf: Leaf) -> Wrong:
    """Return the problem of a value that no key accepts: its key if no word matches, otherwise the value."""
    where = Section.GRAPH if "graphs" in leaf.path else Section.CORE
    name = leaf.path.rpartition(".")[2]
    if leaf.word:
        said = f"{leaf.node.kind} at {shortened(leaf.path)}, which no key of that name accepts: {WHOLE_FILE}"
        key = KEYS.get((where, name))
        return Wrong("EXT-11", leaf.node, said, "" if key is None else meant_by(key, leaf.node))
    near = nearest(name, known(where))
    said = f"the unknown key {shortened(leaf.path)}: {WHOLE_FILE}"
    return Wrong("EXT-14", leaf.key or leaf.node, said, f"did you mean {near}?" if near else "delete it")


def _unfilled(file: ExtensionFile) -> Iterator[Finding]:
    """Yield the placeholders that replace votes, or objects with votes."""
    for block in file.blocks:
        keys = _OF_VOTES.get(block.section, frozenset())
        for member in block.node.members:
            for node in (member.node.items or (member.node,)) if keys is None or member.key in keys else ():
                if placeholder := file.text.placeholder(node):
                    message = f"{shortened(member.key)} is the placeholder {shortened(placeholder)}"
                    yield file.problem("EXT-12", node, message, "fill it in")
