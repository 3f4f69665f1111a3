"""What an import and an export check in a file: what the vendor's parser refuses it for, which then votes nothing.

The rules of ``refusals`` say of a whole file what the parser refuses; those here see to it that what is read has the
type that its key says, and are told in its place where they find something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, shortened
from htppower.extensions.extension_file import FileKind
from htppower.extensions.json_nodes import Kind
from htppower.extensions.key_table import KEYS, known
from htppower.extensions.keys import REFUSES_UNKNOWN, Section, Type
from htppower.extensions.refusals.refused import refused
from htppower.profiles.did_you_mean import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.extensions.extension_file import Block, ExtensionFile
    from htppower.extensions.json_nodes import Member, Node
    from htppower.extensions.keys import Key

_ITEMS = {
    Type.TEXTS: (Kind.TEXT, "a text"),
    Type.INTEGERS: (Kind.INTEGER, "an integer"),
    Type.TEXT_LISTS: (Kind.LIST, "a list of texts"),
    Type.OBJECTS: (Kind.OBJECT, "an object"),
    Type.OBJECT_OR_OBJECTS: (Kind.OBJECT, "an object"),
}
_CONTAINERS = (Kind.OBJECT, Kind.LIST)


def problems(file: ExtensionFile) -> tuple[Finding, ...]:
    """Return why the vendor's parser refuses a file, in the order of the file; nothing where it takes it."""
    found = [finding for block in file.blocks for finding in _of_block(file, block)]
    if file.text.byte_order_mark:
        mark = Finding("JSON-1", (), "a byte order mark", "save the file without it", place=file.text.place(0))
        found.insert(0, mark)
    if not found:
        found = [
            Finding(each.rule, (), each.message, each.hint, place=file.text.place(each.at.start))
            for each in refused(file)
        ]
    return tuple(sorted(found, key=lambda finding: (finding.line, finding.column)))


def _of_block(file: ExtensionFile, block: Block) -> Iterator[Finding]:
    seen: set[str] = set()
    for member, key in block.members():
        if key is None:
            if block.section in REFUSES_UNKNOWN and member.node.kind is not Kind.NULL:
                names = known(block.section)
                message = f"unknown key {shortened(member.key)!r}"
                yield file.problem("KEY-1", member, message, did_you_mean(member.key, names))
        elif member.key not in seen or member.node.kind in _CONTAINERS:
            # Of a word or number that is given twice the parser reads the first alone.
            yield from _of_value(file, member.node, key)
        seen.add(member.key)
    for name in known(block.section):
        key_of = KEYS[block.section, name]
        if key_of.required and name not in seen:
            yield file.problem("KEY-2", block.node, f"{name} is missing", f"write {key_of.type}")
    if block.section is Section.CORE:
        yield from _of_core(file, block)
    elif block.section is Section.CUSTOM_ITEM:
        yield from _of_item(file, block)


def _of_value(file: ExtensionFile, node: Node, key: Key) -> Iterator[Finding]:
    if file.kind is FileKind.OUTER and node.kind is Kind.NULL:
        return
    if node.kind not in key.type.kinds:
        said = f"{key.name} is {_shown(node)}, where {key.type} is needed"
        yield file.problem("TYPE-1", node, said, _what_to_write(key))
        return
    values = node.items if node.kind is Kind.LIST else (node,)
    wanted, said = _ITEMS.get(key.type, (node.kind, ""))
    for value in values:
        if node.kind is Kind.LIST and value.kind is not wanted:
            yield file.problem("TYPE-1", value, f"{_shown(value)} in {key.name}, where {said} is needed")
        elif value.kind is Kind.TEXT and key.words and value.value not in key.words:
            message = f"{shortened(value.value)!r} is not known as {key.name}"
            yield file.problem("VALUE-1", value, message, did_you_mean(value.value, key.words))
        elif value.kind is Kind.INTEGER and key.limits is not None and not key.limits.hold(value.value):
            yield file.problem("VALUE-1", value, f"{key.name} is {_shown(value)}", str(key.limits))


def _of_core(file: ExtensionFile, block: Block) -> Iterator[Finding]:
    custom = _member(block, "custom")
    profile = block.get("perf_profile")
    is_custom = profile is not None and profile.value == "custom"
    if is_custom and custom is None and profile is not None:
        yield file.problem("KEY-2", profile, "perf_profile is custom, and there is no key custom", "add it")
    elif custom is not None and not is_custom:
        yield file.problem("KEY-1", custom, "custom beside another perf_profile", "write perf_profile: custom")
    elif custom is not None and custom.node.kind is Kind.LIST and not custom.node.items:
        yield file.problem("VALUE-1", custom.node, "custom has no item", "add one for each state")


def _of_item(file: ExtensionFile, block: Block) -> Iterator[Finding]:
    if block.get("dcvsControl") is None and block.get("dcvsExpControl") is None:
        yield file.problem("KEY-2", block.node, "dcvsControl is missing", "write it, or dcvsExpControl")
    states = block.get("graphState")
    if states is None or states.kind is not Kind.LIST:
        return
    if not states.items:
        yield file.problem("VALUE-1", states, "graphState is empty", "name at least one state")
    for number, item in enumerate(states.items):
        if item.value in [earlier.value for earlier in states.items[:number]]:
            yield file.problem("VALUE-1", item, f"{_shown(item)} is there twice", "state it once")


def _member(block: Block, name: str) -> Member | None:
    return next((member for member in block.node.members if member.key == name), None)


def _what_to_write(key: Key) -> str:
    if key.type is Type.WORD:
        return f"write one of {', '.join(key.words)}"
    return f"write {key.type}"


def _shown(node: Node) -> str:
    if node.kind in (Kind.TEXT, Kind.INTEGER, Kind.FRACTION):
        return f"{shortened(node.value)!r}" if node.kind is Kind.TEXT else shortened(str(node.value))
    return str(node.kind)
