"""A backend extension file: its objects, each with the section that it is, and where every key of them stands."""

from __future__ import annotations

import enum
import functools
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError
from htppower.extensions.by_words import by_words
from htppower.extensions.json_nodes import Kind, Node
from htppower.extensions.json_text import JsonText, parse_json, read_json
from htppower.extensions.key_table import KEYS
from htppower.extensions.keys import UINT32, Section, Type

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from htppower.errors import KeyPath, Place
    from htppower.extensions.json_nodes import Member
    from htppower.extensions.keys import Key
    from htppower.extensions.refusals.leaves import Leaf

_OF_ITEM = {
    "dcvsControl": Section.DCVS,
    "dcvsExpControl": Section.DCVS_EXP,
    "hmxControl": Section.HMX,
    "cengControl": Section.CENG,
    "cengExpControl": Section.CENG_EXP,
}
_CORNERS = tuple(f"{clock}VoltageCorner{limit}" for clock in ("bus", "core") for limit in ("Min", "Target", "Max"))
# The sections that keys lead to: of an object, and of the objects in a list. A key that takes both has both.
_OBJECT_AT: Mapping[tuple[Section, str], Section] = MappingProxyType(
    {
        (Section.TOP, "context"): Section.CONTEXT,
        (Section.TOP, "groupContext"): Section.GROUP_CONTEXT,
        (Section.TOP, "memory"): Section.MEMORY,
        (Section.GRAPH, "hmx_op_bounding"): Section.HMX_OP_BOUNDING,
        (Section.CORE, "hmxControl"): Section.CORE_HMX,
        (Section.CORE, "custom"): Section.CUSTOM_OBJECT,
        (Section.CUSTOM_OBJECT, "dcvsControl"): Section.DCVS_OBJECT,
        (Section.CUSTOM_OBJECT, "hmxControl"): Section.HMX,
        (Section.CUSTOM_OBJECT, "cengControl"): Section.CENG,
        **{(Section.CUSTOM_ITEM, name): section for name, section in _OF_ITEM.items()},
        **{(Section.DCVS_OBJECT, name): Section.CORNER_PAIR for name in _CORNERS},
        (Section.CONTEXT, "concurrent_group_registration"): Section.CONCURRENT_GROUP,
        (Section.CONTEXT, "graph_splitting_configs"): Section.GRAPH_SPLITTING,
        (Section.OUTER_TOP, "backend_extensions"): Section.BACKEND_EXTENSIONS,
        (Section.OUTER_TOP, "context_configs"): Section.CONTEXT_CONFIGS,
    }
)
_OBJECTS_AT: Mapping[tuple[Section, str], Section] = MappingProxyType(
    {
        (Section.TOP, "graphs"): Section.GRAPH,
        (Section.TOP, "devices"): Section.DEVICE,
        (Section.TOP, "context"): Section.CONTEXT,
        (Section.DEVICE, "cores"): Section.CORE,
        (Section.CORE, "custom"): Section.CUSTOM_ITEM,
        (Section.OUTER_TOP, "graph_configs"): Section.GRAPH_CONFIGS,
    }
)
# The sections whose plain values are read by words, as was measured.
_BY_WORDS = frozenset({Section.DEVICE, Section.CORE, Section.GRAPH})
_PLAIN = frozenset({Type.BOOL, Type.INTEGER, Type.NUMBER, Type.TEXT, Type.WORD, Type.INTEGER_OR_WORD})


class FileKind(str, enum.Enum):
    """Which of the vendor's two files it is.

    Attributes:
        INNER: the settings of the HTP backend, which Genie takes directly.
        OUTER: that which the vendor's tools take as ``--config_file``, and which names the inner one.
    """

    INNER = "inner"
    OUTER = "outer"

    __str__ = str.__str__


def is_by_words(section: Section, name: str) -> bool:
    """Return whether a key of a section is read by the words in the names of keys."""
    key = KEYS.get((section, name))
    return section in _BY_WORDS and key is not None and key.type in _PLAIN


@attrs.frozen(repr=False, eq=False)
class Block:
    """An object of the file.

    Attributes:
        section: what it is.
        at: the keys that lead to it, items of lists by number.
        node: it.
        read: whether its values are read: not behind a key that is given a second time.
    """

    section: Section
    at: KeyPath
    node: Node
    read: bool = True

    def get(self, name: str) -> Node | None:
        """Return the value that the vendor's parser reads for a key; None where there is none.

        A plain value of a device, core or graph is found by the words in the names of keys, and of several the last
        counts; of any other key that is given twice the first.
        """
        leaf = self._by_words.get(name) if is_by_words(self.section, name) else None
        return self.node.get(name) if leaf is None else leaf.node

    def member(self, name: str) -> Member | None:
        """Return the key whose value ``get`` returns."""
        leaf = self._by_words.get(name) if is_by_words(self.section, name) else None
        first = next((member for member in self.node.members if member.key == name), None)
        return first if leaf is None else leaf.key

    def word(self, name: str) -> str:
        """Return the text of a key, as far as C reads it: up to a NUL. Empty where there is none."""
        node = self.get(name)
        return "" if node is None or node.kind is not Kind.TEXT else str(node.value).partition("\0")[0]

    def number(self, name: str) -> int | None:
        """Return the number of a key, of 32 bits and without a sign; None where there is none. true is 1."""
        node = self.get(name)
        if node is None or node.kind not in (Kind.INTEGER, Kind.FRACTION, Kind.BOOL):
            return None
        return int(node.value) if UINT32.hold(node.value) else None

    @functools.cached_property
    def _by_words(self) -> Mapping[str, Leaf]:
        return by_words(self.at, self.node)

    def members(self) -> Iterator[tuple[Member, Key | None]]:
        """Yield its keys in their order, each with what is known of it; None where nothing is."""
        for member in self.node.members:
            yield member, KEYS.get((self.section, member.key))


@attrs.frozen(repr=False, eq=False)
class ExtensionFile:
    """A backend extension file.

    Attributes:
        text: its text and tree.
        kind: whether it is the inner or the outer file.
        blocks: its objects of a known section, each before those in it, in the order of the file.
    """

    text: JsonText
    kind: FileKind
    blocks: tuple[Block, ...]

    @property
    def path(self) -> str:
        """The file, or the name under which its text is spoken of."""
        return self.text.path

    def of(self, section: Section, below: KeyPath = ()) -> tuple[Block, ...]:
        """Return the objects of a section that are read, or those of them to which the keys ``below`` lead."""
        found = self._by_section.get(section, ())
        return tuple(block for block in found if block.at[: len(below)] == below)

    @functools.cached_property
    def _by_section(self) -> Mapping[Section, Sequence[Block]]:
        found: dict[Section, list[Block]] = {}
        for block in self.blocks:
            if block.read:
                found.setdefault(block.section, []).append(block)
        return found

    def place(self, node: Node | Member) -> Place:
        """Return where a value or a key stands."""
        return self.text.place(node.start)

    def problem(self, rule: str, node: Node | Member, message: str, hint: str = "") -> Finding:
        """Return a finding at a value or a key."""
        return Finding(rule, (), message, hint, place=self.place(node))


def read_extension_file(path: str | os.PathLike[str]) -> ExtensionFile:
    """Return what is in a file.

    Raises:
        ProfileError: it can't be read, is larger than 1 MiB, or no JSON object. What stands in it is not checked.
    """
    return extension_file(read_json(path))


def parse_extension_file(data: bytes | str, path: str = "-") -> ExtensionFile:
    """Return what is in a text.

    Raises:
        ProfileError: it is no JSON object.
    """
    return extension_file(parse_json(data, path))


def extension_file(text: JsonText) -> ExtensionFile:
    """Return a JSON text as an extension file.

    Raises:
        ProfileError: it is no JSON object.
    """
    root = text.accepted()
    if root.kind is not Kind.OBJECT:
        message = f"{root.kind} where the object of an extension file is needed"
        raise ProfileError([Finding("TYPE-1", (), message, 'write {"devices": []}', place=text.place(root.start))])
    kind = FileKind.INNER if root.get("backend_extensions") is None else FileKind.OUTER
    top = Section.TOP if kind is FileKind.INNER else Section.OUTER_TOP
    return ExtensionFile(text, kind, tuple(_walk(Block(top, (), root))))


def inner_blocks(file: ExtensionFile) -> tuple[Block, ...]:
    """Return the objects of a file as a reader of inner files finds them, in an outer file, too."""
    return file.blocks if file.kind is FileKind.INNER else tuple(_walk(Block(Section.TOP, (), file.text.accepted())))


def as_inner(file: ExtensionFile) -> ExtensionFile:
    """Return a file as Genie reads it, which takes an outer file for an inner one, too."""
    return attrs.evolve(file, kind=FileKind.INNER, blocks=inner_blocks(file))


def with_tree(file: ExtensionFile, root: Node) -> ExtensionFile:
    """Return an inner file with another tree of the same text."""
    return ExtensionFile(file.text, file.kind, tuple(_walk(Block(Section.TOP, (), root))))


def _walk(block: Block) -> Iterator[Block]:
    yield block
    seen: set[str] = set()
    for member in block.node.members:
        at = (block.section, member.key)
        read = block.read and member.key not in seen
        seen.add(member.key)
        if member.node.kind is Kind.OBJECT and at in _OBJECT_AT:
            yield from _walk(Block(_OBJECT_AT[at], (*block.at, member.key), member.node, read))
        elif member.node.kind is Kind.LIST and at in _OBJECTS_AT:
            for number, item in enumerate(member.node.items):
                if item.kind is Kind.OBJECT:
                    yield from _walk(Block(_OBJECTS_AT[at], (*block.at, member.key, str(number)), item, read))
