"""The first pass of the vendor's parser: each known key of each object is checked by type, words and range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.key_table import KEYS, known
from htppower.tools.extensions.keys import Section, Type
from htppower.tools.extensions.refusals.leaves import ARCH
from htppower.tools.extensions.refusals.meant import meant_by
from htppower.tools.extensions.refusals.numbers import is_integer, is_number, is_uint_like
from htppower.tools.extensions.refusals.wrong import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block
    from htppower.tools.extensions.json_nodes import Node
    from htppower.tools.extensions.keys import Key

_WHOLE = "the vendor's tools refuse the whole file"
# Keys that only the second pass checks, which skips null and empty values.
_ONLY_LEAVES = {
    (Section.CORE, "core_id"),
    (Section.GRAPH, "enable_predication"),
    (Section.CUSTOM_OBJECT, "hmxControl"),
    (Section.CUSTOM_OBJECT, "cengControl"),
}
# Keys that also accept a double with a whole value.
_UINT_LIKE = {
    (Section.GRAPH, name)
    for name in (
        "O",
        "dlbc",
        "dlbc_weights",
        "sparse_weights_compression",
        "slc_alloc_enable",
        "cached_weights",
        "vtcm_retention",
    )
}
_HIGHEST = {(Section.GRAPH, "vtcm_mb"): 4095, (Section.DEVICE, "device_type"): 1}
_UINT32 = 2**32 - 1
_UNCHECKED = (Section.OUTER_TOP, Section.BACKEND_EXTENSIONS, Section.CONTEXT_CONFIGS, Section.GRAPH_CONFIGS)


def refused_members(block: Block) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in an object: its values, the objects in its lists, its missing keys."""
    if block.section in _UNCHECKED:
        return
    if block.section in (Section.HMX, Section.CENG) and block.at[-2] == "custom":
        # In the object form of custom, these are read only by their words.
        return
    seen: dict[str, Node] = {}
    for member, key in block.members():
        first = seen.setdefault(member.key, member.node)
        if key is None or (block.section, member.key) in _ONLY_LEAVES:
            continue
        yield from _of_value(key, member.node, first=block.read and first is member.node)
    yield from _lacking(block, seen)


def _of_value(key: Key, node: Node, *, first: bool) -> Iterator[Wrong]:
    """Yield the problems of a value; if a key is given twice, only the type of the later values is checked."""
    place = (key.section, key.name)
    if place in _UINT_LIKE:
        if not (is_uint_like(node) or (is_integer(node) and not first)):
            yield _type(key, node) if not is_number(node) else _range(key, node)
        return
    too_long = node.kind is Kind.INTEGER and not is_integer(node) and key.type is not Type.NUMBER
    if node.kind not in key.type.kinds or too_long:
        yield _range(key, node) if node.kind is Kind.INTEGER and Kind.INTEGER in key.type.kinds else _type(key, node)
    elif key.type in (Type.INTEGER, Type.INTEGER_OR_WORD) and node.kind is Kind.INTEGER:
        lowest, highest = _limits(key)
        if not lowest <= node.value <= highest and first:
            yield _range(key, node)
    elif key.type in (Type.WORD, Type.INTEGER_OR_WORD) and (first or key.name == "mem_type"):
        yield from _word(key, node)
    elif node.kind is Kind.LIST:
        yield from _items(key, node)


def _limits(key: Key) -> tuple[int, int]:
    highest = _UINT32 if key.limits is None else int(key.limits.high)
    return 0, _HIGHEST.get((key.section, key.name), highest)


def _word(key: Key, node: Node) -> Iterator[Wrong]:
    # The parser compares a text up to a NUL, where C ends it; for mem_type it compares the whole text.
    said = node.value if key.name == "mem_type" else node.value.partition("\0")[0]
    is_known = ARCH.match(said) is not None if key.name == "dsp_arch" else said in key.words
    if not is_known:
        yield _unknown_word(key, node)


def _unknown_word(key: Key, node: Node) -> Wrong:
    said = shortened(node.value)
    lower = [word for word in key.words if word.lower() == node.value.strip().lower()]
    hint = f"write {lower[0]}" if lower else did_you_mean(node.value, key.words)
    return Wrong("EXT-12", node, f"{key.name} has no word {said!r}: {_WHOLE}", hint or _words(key))


def _words(key: Key) -> str:
    return f"write one of {', '.join(key.words)}"


def _type(key: Key, node: Node) -> Wrong:
    return Wrong("EXT-11", node, f"{key.name} takes {key.type}, not {node.kind}: {_WHOLE}", meant_by(key, node))


def _range(key: Key, node: Node) -> Wrong:
    lowest, highest = _limits(key)
    said = f"{key.name} {node.value} is not from {lowest} to {highest}: {_WHOLE}"
    if node.kind is Kind.FRACTION or key.type is Type.NUMBER:
        said = f"{key.name} takes a whole number from 0 to {_UINT32}, not {node.value}: {_WHOLE}"
    return Wrong("EXT-13", node, said)


_IN_LIST = {
    Type.TEXTS: Kind.TEXT,
    Type.INTEGERS: Kind.INTEGER,
    Type.OBJECTS: Kind.OBJECT,
    Type.OBJECT_OR_OBJECTS: Kind.OBJECT,
    Type.TEXT_LISTS: Kind.LIST,
}


def _items(key: Key, node: Node) -> Iterator[Wrong]:
    wanted = _IN_LIST[key.type]
    if key.words:
        yield from _words_of_list(key, node)
        return
    for item in node.items:
        if item.kind is not wanted or (item.kind is Kind.INTEGER and not is_integer(item)):
            yield _in_list(key, item)
        elif wanted is Kind.INTEGER and not 0 <= item.value <= _UINT32:
            yield Wrong("EXT-13", item, f"{item.value} in {key.name} is not from 0 to {_UINT32}: {_WHOLE}")
        elif wanted is Kind.LIST:
            yield from (_in_list(key, each) for each in item.items if each.kind is not Kind.TEXT)


def _in_list(key: Key, item: Node) -> Wrong:
    return Wrong("EXT-11", item, f"{key.name} takes {key.type}, but it contains {item.kind}: {_WHOLE}")


def _words_of_list(key: Key, node: Node) -> Iterator[Wrong]:
    """Yield the problems of a list of words, which must not be empty or repeat a word."""
    told: set[str] = set()
    for item in node.items:
        if item.kind is not Kind.TEXT:
            yield _in_list(key, item)
        elif item.value not in key.words:
            yield _unknown_word(key, item)
        elif item.value in told:
            yield Wrong("EXT-15", item, f"{item.value} is in {key.name} twice: {_WHOLE}", "keep one")
        told.add(str(item.value))
    if not node.items:
        yield Wrong("EXT-15", node, f"{key.name} is empty: {_WHOLE}", _words(key))


def _lacking(block: Block, seen: dict[str, Node]) -> Iterator[Wrong]:
    missing = [name for name in known(block.section) if KEYS[block.section, name].required and name not in seen]
    if missing:
        said = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: {_WHOLE}"
        yield Wrong("EXT-16", block.node, said, f"add {missing[0]}")
