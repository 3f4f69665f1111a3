"""The values of a JSON text, each with its place."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class Kind(str, enum.Enum):
    """The kind of a node, as messages name it."""

    OBJECT = "an object"
    LIST = "a list"
    TEXT = "a text"
    INTEGER = "an integer"
    FRACTION = "a number with a fraction or an exponent"
    BOOL = "true or false"
    NULL = "null"

    __str__ = str.__str__


# Named tuples, since a file has one for each of its values.
class Node(NamedTuple):
    """A value, with its place.

    Attributes:
        kind: the kind of value.
        start, end: the offsets of its first character, and after its last.
        value: the value of a text, number, true, false or null; None for an object or list.
        members: the members of an object, in their order; a key that is given twice has two members.
        items: the items of a list.
    """

    kind: Kind
    start: int
    end: int
    value: Any = None
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def get(self, key: str) -> Node | None:
        """Return the value of a key; if it is given twice, the first, which the vendor's parser uses."""
        return next((member.node for member in self.members if member.key == key), None)

    @property
    def is_number(self) -> bool:
        """Whether it is any number."""
        return self.kind in (Kind.INTEGER, Kind.FRACTION)

    @property
    def is_integer(self) -> bool:
        """Whether a parser in C reads it as an integer; it reads an integer of more than 64 bits as a double."""
        return self.kind is Kind.INTEGER and -(2**63) <= self.value < 2**64

    @property
    def c_text(self) -> str:
        """Its text up to a NUL, where C ends a text."""
        return str(self.value).partition("\0")[0]

    def firsts(self) -> dict[str, Member]:
        """Return the members by key; if a key is given twice, the first member at the position of the last."""
        return dict(reversed({member.key: member for member in reversed(self.members)}.items()))

    def plain(self) -> Any:
        """Return the value as dict, list, str, int, float, bool or None; of a key given twice, the first value."""
        if self.kind is Kind.OBJECT:
            return {member.key: member.node.plain() for member in reversed(self.members)}
        if self.kind is Kind.LIST:
            return [item.plain() for item in self.items]
        return self.value


class Member(NamedTuple):
    """A key of an object, and its value.

    Attributes:
        key: the key, with its escapes resolved.
        start, end: the offsets of the key with its quotes.
        node: the value.
    """

    key: str
    start: int
    end: int
    node: Node
