"""How the vendor's parser treats each key of an object: it refuses the value, ignores the key, or reads it as another.

Its first pass checks each known key by type, words and range.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.errors import ProfileError, shortened
from htppower.profiles.did_you_mean import did_you_mean, nearest
from htppower.rules.soc_names import soc_of
from htppower.tools.extensions.extension_file import WHOLE_FILE, Wrong, is_by_words
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.key_words import ARCH, is_whole, named_leaves, path_of, read_as
from htppower.tools.extensions.keys import KEYS, UINT32, Section, Type, known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_parser import Member, Node
    from htppower.tools.extensions.keys import Key

# The top-level key for suppressions: the vendor's parser ignores it.
OURS = "htppower"
# Keys that only the second pass checks, which skips null and empty values.
_ONLY_LEAVES = {
    (Section.CORE, "core_id"),
    (Section.GRAPH, "enable_predication"),
    (Section.CUSTOM_OBJECT, "hmxControl"),
    (Section.CUSTOM_OBJECT, "cengControl"),
}
_UNCHECKED = (Section.OUTER_TOP, Section.BACKEND_EXTENSIONS, Section.CONTEXT_CONFIGS, Section.GRAPH_CONFIGS)
_IN_LIST = {
    Type.TEXTS: Kind.TEXT,
    Type.INTEGERS: Kind.INTEGER,
    Type.OBJECTS: Kind.OBJECT,
    Type.OBJECT_OR_OBJECTS: Kind.OBJECT,
    Type.TEXT_LISTS: Kind.LIST,
}
_NUMBER = re.compile(r"0|[1-9][0-9]*")


def refused_values(block: Block) -> Iterator[Wrong]:
    """Yield the reasons to refuse the file in an object: its values, the objects in its lists, its missing keys."""
    if block.section in _UNCHECKED:
        return
    if block.section in (Section.HMX, Section.CENG) and block.at[-2] == "custom":
        # In the object form of custom, these are read only by their words.
        return
    seen: dict[str, Node] = {}
    for member, key in block.members():
        first = seen.setdefault(member.key, member.node)
        if key is not None and (block.section, member.key) not in _ONLY_LEAVES:
            yield from _of_value(key, member.node, first=block.read and first is member.node)
    missing = [name for name in known(block.section) if KEYS[block.section, name].required and name not in seen]
    if missing:
        said = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing: {WHOLE_FILE}"
        yield Wrong("EXT-16", block.node, said, f"add {missing[0]}")


def _of_value(key: Key, node: Node, *, first: bool) -> Iterator[Wrong]:
    """Yield the problems of a value; if a key is given twice, only the type of the later values is checked."""
    takes_fractions = key.type in (Type.WHOLE, Type.NUMBER)
    too_long = node.kind is Kind.INTEGER and not node.is_integer and not takes_fractions
    if node.kind not in key.type.kinds:
        yield Wrong(
            "EXT-11", node, f"{key.name} must be {key.type}, not {node.kind}: {WHOLE_FILE}", meant_by(key, node)
        )
    elif too_long or (key.type is Type.WHOLE and not is_whole(node) and (first or not node.is_integer)):
        yield _range(key, node)
    elif node.kind is Kind.INTEGER and not takes_fractions:
        if first and not _fits(key, node):
            yield _range(key, node)
    elif node.kind is Kind.TEXT and key.words and (first or key.name == "mem_type"):
        # The parser compares a text up to a NUL, where C ends it; for mem_type it compares the whole text.
        said = node.value if key.name == "mem_type" else node.c_text
        if not (ARCH.match(said) if key.name == "dsp_arch" else said in key.words):
            yield _unknown_word(key, node)
    elif node.kind is Kind.LIST:
        yield from _words_of_list(key, node) if key.words else _items(key, node)


def _fits(key: Key, node: Node) -> bool:
    """Return whether an integer is in the range of a key; the parser refuses negative numbers for every key."""
    return bool(0 <= node.value <= (UINT32 if key.limits is None else key.limits).high)


def _range(key: Key, node: Node) -> Wrong:
    limits = UINT32 if key.limits is None else key.limits
    said = f"{key.name} {node.value} is not from {max(limits.low, 0)} to {limits.high}: {WHOLE_FILE}"
    if key.type is Type.WHOLE:
        said = f"{key.name} must be a whole number from 0 to {UINT32.high}, not {node.value}: {WHOLE_FILE}"
    return Wrong("EXT-13", node, said)


def _unknown_word(key: Key, node: Node) -> Wrong:
    lower = [word for word in key.words if word.lower() == node.value.strip().lower()]
    hint = f"write {lower[0]}" if lower else did_you_mean(node.value, key.words) or _one_of(key)
    return Wrong("EXT-12", node, f"{key.name} has no word {shortened(node.value)!r}: {WHOLE_FILE}", hint)


def _one_of(key: Key) -> str:
    return f"write one of {', '.join(key.words)}"


def _items(key: Key, node: Node) -> Iterator[Wrong]:
    wanted = _IN_LIST[key.type]
    for item in node.items:
        if item.kind is not wanted or (item.kind is Kind.INTEGER and not item.is_integer):
            yield _in_list(key, item)
        elif wanted is Kind.INTEGER and not UINT32.hold(item.value):
            yield Wrong("EXT-13", item, f"{item.value} in {key.name} is not from {UINT32}: {WHOLE_FILE}")
        elif wanted is Kind.LIST:
            yield from (_in_list(key, each) for each in item.items if each.kind is not Kind.TEXT)


def _in_list(key: Key, item: Node) -> Wrong:
    return Wrong("EXT-11", item, f"{key.name} must be {key.type}, but it contains {item.kind}: {WHOLE_FILE}")


def _words_of_list(key: Key, node: Node) -> Iterator[Wrong]:
    """Yield the problems of a list of words, which must not be empty or repeat a word."""
    told: set[str] = set()
    for item in node.items:
        if item.kind is not Kind.TEXT:
            yield _in_list(key, item)
        elif item.value not in key.words:
            yield _unknown_word(key, item)
        elif item.value in told:
            yield Wrong("EXT-15", item, f"{item.value} is in {key.name} twice: {WHOLE_FILE}", "keep one")
        told.add(str(item.value))
    if not node.items:
        yield Wrong("EXT-15", node, f"{key.name} is empty: {WHOLE_FILE}", _one_of(key))


def meant_by(key: Key, node: Node) -> str:
    """Return a correction for a value of the wrong type; empty if it is not known."""
    if key.type in (Type.OBJECTS, Type.TEXTS, Type.INTEGERS):
        form = ", as [{...}]" if key.type is Type.OBJECTS else ""
        old = ": an object without a list is the form of SDK 2.20 and older" if key.name == "graphs" else ""
        return f"put it into a list{form}{old}" if node.kind is _IN_LIST[key.type] else ""
    if node.kind is not Kind.TEXT or key.type not in (Type.BOOL, Type.INTEGER, Type.WHOLE):
        return ""
    if key.type is Type.BOOL:
        return "write it without quotes" if node.value in ("true", "false") else "write true or false"
    if _NUMBER.fullmatch(node.value):
        return "write it without quotes"
    soc = soc_of(node.value) if key.name in ("soc_model", "soc_id") else None
    if soc is not None:
        return f"write {soc.model}"
    such = f", such as {key.default}" if key.default else ""
    return f"write a number{such if key.useful is None else f' from {key.useful}'}"


def unknown_keys(file: ExtensionFile) -> Iterator[tuple[Block, Wrong]]:
    """Yield the ignored keys (EXT-20), and the keys that are read as others (EXT-24), each with its object.

    If a key is given twice, only the first is reported.
    """
    for block in file.blocks:
        told: set[str] = set()
        for member, key in block.members():
            if key is None and member.key not in told and (block.at or member.key != OURS):
                yield block, unknown_key(block, member)
            told.add(member.key)


def unknown_key(block: Block, member: Member) -> Wrong:
    """Return what the parser does with an unknown key of an object, and the correction."""
    where = block.section if block.at else "the file"
    if others := read_as(block.at, member):
        names = ", ".join(others)
        said = f"{shortened(member.key)!r} in {where} is read as {names}, because of the words in it"
        return Wrong("EXT-24", member, said, f"write {names}, or delete it")
    said = f"{shortened(member.key)!r} in {where} is silently ignored"
    homes = [str(section) for (section, name), _ in KEYS.items() if name == member.key and section is not block.section]
    if homes:
        return Wrong("EXT-20", member, said, f"it is read in {homes[0]}")
    near = nearest(member.key, known(block.section))
    return Wrong("EXT-20", member, said, f"did you mean {near}?" if near else "delete it")


def refuse_others(file: ExtensionFile, name: str = "") -> None:
    """Refuse a file of another kind: a file in which the vendor's parser reads no key.

    ``name`` is the kind of the file, if it is known.

    Raises:
        ProfileError: it is such a file. A file without any key is an extension file without settings.
    """
    top = file.blocks[0]
    names = known(top.section)
    if not top.node.members or any(
        key is not None or member.key == OURS or read_as((), member) for member, key in top.members()
    ):
        return
    near = next(filter(None, (nearest(member.key, names) for member in top.node.members)), None)
    hint = f"did you mean {near}?" if near else f"an extension file has {' or '.join(names)}"
    message = "no key here belongs to an extension file, or is a mode of a runtime"
    message += f": this is {name}" if name else ""
    raise ProfileError([file.problem("KEY-1", top.node.members[0], message, hint)])


def found_by_get(block: Block, member: Member) -> bool:
    """Return whether ``Block.get`` finds the known key that an unknown key is read as, in a file of ``with_strays``."""
    if block.section in (Section.CORE, Section.GRAPH) or not {"cores", "graphs"}.isdisjoint(block.at):
        sections = (Section.GRAPH,) if "graphs" in block.at else (Section.CORE, Section.DEVICE)
        return all(any(is_by_words(each, name) for each in sections) for name in read_as(block.at, member))
    return all(
        "devices" in leaf.path or "graphs" in leaf.path
        for leaf in named_leaves(member.node, path_of((*block.at, member.key)))
    )
