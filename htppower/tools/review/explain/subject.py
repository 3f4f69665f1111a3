"""Something to explain that is not a profile."""

from collections.abc import Mapping
from typing import NamedTuple

# Annotations are not postponed here: a named tuple would compile each of its types anew, which slows the start.


class Subject(NamedTuple):
    """Something that is explained.

    Attributes:
        kind: ``rule``, ``code``, ``corner`` or ``key``.
        id: its id, number or name; for a key its place.
        says: what it is, in a sentence or a name.
        facts: all facts by label, as texts to wrap.
        example: files that break it, by name; empty if a fact describes the breach.
        mended: the files that keep it.
        finds: the command that finds it in the example.
    """

    kind: str
    id: str
    says: str
    facts: tuple[tuple[str, str], ...]
    example: Mapping[str, str] = {}
    mended: Mapping[str, str] = {}
    finds: str = ""
