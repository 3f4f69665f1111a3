"""A backend extension file: its objects, the section of each, and the places of all keys."""

from __future__ import annotations

import enum
import functools
from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.errors import Finding, ProfileError
from htppower.tools.extensions.json_parser import Kind, Node
from htppower.tools.extensions.json_text import JsonText, parse_json, read_json
from htppower.tools.extensions.key_words import by_words
from htppower.tools.extensions.keys import KEYS, UINT32, Section, Type

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from htppower.errors import KeyPath, Place
    from htppower.tools.extensions.json_parser import Member
    from htppower.tools.extensions.key_words import Leaf
    from htppower.tools.extensions.keys import Key

# The sections whose plain values are read by words (measured).
_BY_WORDS = frozenset({Section.DEVICE, Section.CORE, Section.GRAPH})
_PLAIN = frozenset({Type.BOOL, Type.INTEGER, Type.WHOLE, Type.NUMBER, Type.TEXT, Type.WORD, Type.INTEGER_OR_WORD})


WHOLE_FILE = "the vendor's tools refuse the whole file"


class Wrong(NamedTuple):
    """A problem at a place of an extension file, before it becomes a finding.

    Attributes:
        rule: the id of the broken rule.
        at: the value or key with the problem.
        message: what is wrong, and what the vendor's tools do.
        hint: what to write instead; may be empty.
    """

    rule: str
    at: Node | Member
    message: str
    hint: str = ""


class Remark(NamedTuple):
    """A setting of an extension file that a profile can't express, or expresses differently.

    Attributes:
        place: its place in the file.
        says: the setting, and what happened to it.
    """

    place: Place
    says: str

    def __str__(self) -> str:
        """Return the remark with its line, for a comment in a profile that is imported from the file."""
        return f"line {self.place.line}: {self.says}"


class FileKind(str, enum.Enum):
    """The two kinds of the vendor's files.

    Attributes:
        INNER: the settings of the HTP backend; Genie reads this file directly.
        OUTER: the file for ``--config_file`` of the vendor's tools, which names the inner file.
    """

    INNER = "inner"
    OUTER = "outer"

    __str__ = str.__str__


def is_by_words(section: Section, name: str) -> bool:
    """Return whether a key of a section is read by the words in key names."""
    key = KEYS.get((section, name))
    return section in _BY_WORDS and key is not None and key.type in _PLAIN


@attrs.frozen(repr=False, eq=False)
class Block:
    """An object of the file.

    Attributes:
        section: the section of the object.
        at: the keys on the path to it; list items by their index.
        node: the object itself.
        read: whether its values are read: not under the second occurrence of a key.
    """

    section: Section
    at: KeyPath
    node: Node
    read: bool = True

    def get(self, name: str) -> Node | None:
        """Return the value that the vendor's parser reads for a key, or None.

        A plain value of a device, core or graph is found by the words in key names, and the last of several counts. For
        any other key that is given twice, the first counts.
        """
        leaf = self._by_words.get(name) if is_by_words(self.section, name) else None
        return self.node.get(name) if leaf is None else leaf.node

    def member(self, name: str) -> Member | None:
        """Return the member whose value ``get`` returns."""
        leaf = self._by_words.get(name) if is_by_words(self.section, name) else None
        first = next((member for member in self.node.members if member.key == name), None)
        return first if leaf is None else leaf.key

    def word(self, name: str) -> str:
        """Return the text of a key up to a NUL, where C ends a text. Empty without a text."""
        node = self.get(name)
        return "" if node is None or node.kind is not Kind.TEXT else node.c_text

    def number(self, name: str) -> int | None:
        """Return the number of a key, as 32 bits without a sign, or None. true is 1."""
        node = self.get(name)
        if node is None or not (node.is_number or node.kind is Kind.BOOL):
            return None
        return int(node.value) if UINT32.hold(node.value) else None

    @functools.cached_property
    def _by_words(self) -> Mapping[str, Leaf]:
        return by_words(self.at, self.node)

    def members(self) -> Iterator[tuple[Member, Key | None]]:
        """Yield its members in their order, each with its known key, or None for an unknown one."""
        for member in self.node.members:
            yield member, KEYS.get((self.section, member.key))


@attrs.frozen(repr=False, eq=False)
class ExtensionFile:
    """A backend extension file.

    Attributes:
        text: its text and tree.
        kind: whether it is the inner or the outer file.
        blocks: its objects with a known section, in the order of the file; an outer object comes before inner ones.
    """

    text: JsonText
    kind: FileKind
    blocks: tuple[Block, ...]

    @property
    def path(self) -> str:
        """The file, or the name of the text in messages."""
        return self.text.path

    def of(self, section: Section, below: KeyPath = ()) -> tuple[Block, ...]:
        """Return the objects of a section that are read, or only those under the keys ``below``."""
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
        """Return the place of a value or a key."""
        return self.text.place(node.start)

    def problem(self, rule: str, node: Node | Member, message: str, hint: str = "") -> Finding:
        """Return a finding about a value or a key."""
        return Finding(rule, (), message, hint, place=self.place(node))


def read_extension_file(path: str | os.PathLike[str]) -> ExtensionFile:
    """Return the content of a file; its keys and values are not checked.

    Raises:
        ProfileError: it can't be read, is larger than 1 MiB, or is not a JSON object.
    """
    return extension_file(read_json(path))


def parse_extension_file(data: bytes | str, path: str = "-") -> ExtensionFile:
    """Return the content of a text; its keys and values are not checked.

    Raises:
        ProfileError: it is not a JSON object.
    """
    return extension_file(parse_json(data, path))


def extension_file(text: JsonText) -> ExtensionFile:
    """Return a JSON text as an extension file.

    Raises:
        ProfileError: it is not a JSON object.
    """
    root = text.accepted()
    if root.kind is not Kind.OBJECT:
        message = f"{root.kind} where the object of an extension file is needed"
        raise ProfileError([Finding("TYPE-1", (), message, 'write {"devices": []}', place=text.place(root.start))])
    kind = FileKind.INNER if root.get("backend_extensions") is None else FileKind.OUTER
    top = Section.TOP if kind is FileKind.INNER else Section.OUTER_TOP
    return ExtensionFile(text, kind, tuple(_walk(Block(top, (), root))))


def inner_blocks(file: ExtensionFile) -> tuple[Block, ...]:
    """Return the objects of a file that a reader of inner files finds, even if it is an outer file."""
    return file.blocks if file.kind is FileKind.INNER else tuple(_walk(Block(Section.TOP, (), file.text.accepted())))


def as_inner(file: ExtensionFile) -> ExtensionFile:
    """Return a file as Genie reads it: Genie reads an outer file as an inner file, too."""
    return attrs.evolve(file, kind=FileKind.INNER, blocks=inner_blocks(file))


def with_tree(file: ExtensionFile, root: Node) -> ExtensionFile:
    """Return an inner file with a different tree for the same text."""
    return ExtensionFile(file.text, file.kind, tuple(_walk(Block(Section.TOP, (), root))))


def _walk(block: Block) -> Iterator[Block]:
    yield block
    seen: set[str] = set()
    for member, key in block.members():
        read = block.read and member.key not in seen
        seen.add(member.key)
        at = (*block.at, member.key)
        if key is None or key.holds is None or member.node.kind not in key.type.kinds:
            continue
        if member.node.kind is Kind.OBJECT:
            yield from _walk(Block(key.holds, at, member.node, read))
        # The items of a custom list have keys of their own; those of any other list are like a single object.
        section = Section.CUSTOM_ITEM if key.holds is Section.CUSTOM_OBJECT else key.holds
        for number, item in enumerate(member.node.items):
            if item.kind is Kind.OBJECT:
                yield from _walk(Block(section, (*at, str(number)), item, read))
