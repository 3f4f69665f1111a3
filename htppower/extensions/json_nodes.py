"""The values of a JSON text, each with where it stands."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class Kind(str, enum.Enum):
    """What a node is, as messages say it."""

    OBJECT = "an object"
    LIST = "a list"
    TEXT = "a text"
    INTEGER = "an integer"
    FRACTION = "a number with a fraction or an exponent"
    BOOL = "true or false"
    NULL = "null"

    __str__ = str.__str__


# Named tuples: a file has one for every value in it.
class Node(NamedTuple):
    """A value, and where it stands.

    Attributes:
        kind: what it is.
        start, end: its first character in the text, and the one behind its last.
        value: that of a text, number, true, false or null; None of an object or list.
        members: those of an object, in their order; a key that is given twice is there twice.
        items: those of a list.
    """

    kind: Kind
    start: int
    end: int
    value: Any = None
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def get(self, key: str) -> Node | None:
        """Return the value of a key, the first where it is given twice, as the vendor's parser takes it."""
        return next((member.node for member in self.members if member.key == key), None)

    def firsts(self) -> dict[str, Member]:
        """Return the members by their keys: of a key that is given twice the first, in the place of the last."""
        return dict(reversed({member.key: member for member in reversed(self.members)}.items()))

    def plain(self) -> Any:
        """Return the value as dict, list, str, int, float, bool or None; of a key given twice the first value."""
        if self.kind is Kind.OBJECT:
            return {member.key: member.node.plain() for member in reversed(self.members)}
        if self.kind is Kind.LIST:
            return [item.plain() for item in self.items]
        return self.value


class Member(NamedTuple):
    """A key of an object, and its value.

    Attributes:
        key: the key, its escapes resolved.
        start, end: where the key stands, its quotes included.
        node: the value.
    """

    key: str
    start: int
    end: int
    node: Node
