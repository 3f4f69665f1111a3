"""What the vendor's parser refuses: then it uses nothing of the file, and the vendor's tools run without any vote.

It refuses single values (``key_checks``), values that no key accepts, and lists and ``custom`` as a whole.
Measured on QAIRT 2.51 with thousands of files (``tests/vendor/test_extension_files.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, shortened
from htppower.profiles.did_you_mean import nearest
from htppower.tools.extensions.extension_file import WHOLE_FILE, FileKind, Wrong, inner_blocks
from htppower.tools.extensions.json_parser import Kind, Member
from htppower.tools.extensions.key_checks import meant_by, refused_values
from htppower.tools.extensions.key_words import Words, found_in, leaves, named_leaves, refused_leaves, words_of
from htppower.tools.extensions.keys import CORE_KEYS, KEYS, VOTE_SECTIONS, Section, known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.tools.extensions.extension_file import Block, ExtensionFile
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
# Clock votes in custom, in both of its forms, and in its items.
_CUSTOM = words_of(r"cores.*custom(?:(?!custom)[^.\[])*[.\[].*dcvs(Exp)?Control")
_ITEMS = words_of(r"cores.*custom(?:(?!custom)[^.\[])*\[.*dcvs(Exp)?Control")


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
        found += _refused_custom(block)
    values = (each.at.node if isinstance(each.at, Member) else each.at for each in found)
    told = {leaf.node.start for value in values for leaf in leaves(value)}
    root = file.text.accepted()
    for leaf in refused_leaves(root):
        is_of_outer = file.kind is FileKind.OUTER and leaf.path.startswith(_OF_OUTER)
        if leaf.node.start not in told and not is_of_outer:
            found.append(_unknown(leaf))
    found += _refused_lists(root)
    return [each for each in found if not file.text.placeholder(each.at)]


def refused_text(text: JsonText) -> tuple[int, str, str] | None:
    """Return place, reason and correction if the parser does not accept a text as a JSON object; otherwise None."""
    if text.byte_order_mark:
        return 0, "a byte order mark", "save the file as UTF-8 without one"
    root = text.root
    if root is not None and root.kind is not Kind.OBJECT:
        return root.start, f"{root.kind} where an object is needed", 'write {"devices": []}'
    return None


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


def _refused_custom(block: Block) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in the clock votes of an item."""
    for member in block.node.members if block.section is Section.DCVS else ():
        if member.key == "sleep_disable":
            said = f"sleep_disable in an item of custom: {WHOLE_FILE}"
            yield Wrong("EXT-14", member, said, "delete it: only the object form of custom accepts it")


def _refused_lists(root: Node) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in its lists of graphs, devices and contexts as a whole."""
    for member in root.firsts().values():
        yield from _empty_before(member, root)
        if "devices" in member.key:
            # A list whose key contains the word devices is read as a list of devices, too.
            yield from _refused_profile(member.node)
    devices = root.get("devices")
    if devices is not None:
        yield from _client_context(devices, root)


def _refused_profile(devices: Node) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in the combined profiles of its cores.

    Of all cores of the first device the parser keeps the last profile and the last custom, and refuses the file if only
    one of the two exists. It looks for the items of a later device in the first device.
    """
    if not devices.items:
        return
    profile, custom = _of_device(devices.items[0])
    if _is_custom(profile) and custom is None and profile is not None:
        said = f"perf_profile custom without clock votes in custom: {WHOLE_FILE}"
        yield Wrong("EXT-17", profile, said, "add custom with dcvsControl in an item for each graph state")
    elif custom is not None and not _is_custom(profile):
        said = f"custom, and the last perf_profile of the cores is not custom: {WHOLE_FILE}"
        yield Wrong("EXT-17", profile or custom, said, 'write "perf_profile": "custom", or delete custom')
    elif custom is None:
        # The parser looks for the items of a list, but not for the older object form.
        for later, items in (_of_device(device, _ITEMS) for device in devices.items[1:]):
            if items is not None and _is_custom(later):
                said = f"custom in a device after one without it: {WHOLE_FILE}"
                yield Wrong("EXT-17", items, said, "only the first of several devices is used: delete the others")


def _of_device(device: Node, wanted: Words = _CUSTOM) -> tuple[Node | None, Node | None]:
    """Return the last profile of a device's cores, and a value of a custom whose item is voted."""
    profile: Node | None = None
    custom: Node | None = None
    unvoted = {leaf.node.start for item in _unvoted(device) for leaf in leaves(item)}
    for leaf in leaves(device):
        if "cores" in leaf.path and "perf_profile" in leaf.path:
            profile = leaf.node
        elif found_in(leaf.path, wanted) and leaf.node.start not in unvoted:
            custom = leaf.node
    return profile, custom


def _unvoted(node: Node) -> Iterator[Node]:
    """Yield the items of custom that are not voted, since later items in the same list name all their states."""
    for member in node.members:
        if member.key == "custom":
            last = {state: item.start for item in member.node.items for state in _states(item)}
            voted = set(last.values())
            yield from (item for item in member.node.items if any(_states(item)) and item.start not in voted)
        yield from _unvoted(member.node)
    for item in node.items:
        yield from _unvoted(item)


def _states(item: Node) -> Iterator[str]:
    for leaf in leaves(item):
        if "graphState" in leaf.path:
            yield leaf.node.c_text


def _is_custom(profile: Node | None) -> bool:
    return profile is not None and profile.kind is Kind.TEXT and profile.c_text == "custom"


def _empty_before(member: Member, root: Node) -> Iterator[Wrong]:
    """Yield an object without any value that comes before an object with values in the same list."""
    devices = root.get("devices")
    listed = () if devices is None else devices.items
    if "context" in member.key and any(item.get("use_client_context") for item in listed):
        # The parser identifies contexts by the word context, which use_client_context contains, too.
        return
    empty: Node | None = None
    for item in member.node.items:
        if next(leaves(item), None) is None:
            empty = empty or item
        elif empty is not None and any(named_leaves(item, f"{member.key}[]")):
            said = f"an object without values before another one in {member.key}: {WHOLE_FILE}"
            yield Wrong("EXT-18", empty, said, "delete it, or put it last")
            return


def _client_context(devices: Node, root: Node) -> Iterator[Wrong]:
    """Yield the key use_client_context, whose name contains the word context, in a device after one without it."""
    context = root.get("context")
    if context is None or next(leaves(context), None) is None or not devices.items:
        return
    for item in devices.items[1:]:
        node = item.get("use_client_context")
        if node is not None and devices.items[0].get("use_client_context") is None:
            said = f"use_client_context in a device after one without it, and context: {WHOLE_FILE}"
            yield Wrong("EXT-18", node, said, "only the first of several devices is used: delete the others")
            return
