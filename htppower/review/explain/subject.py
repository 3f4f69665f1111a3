"""One thing that is explained besides a profile."""

from collections.abc import Mapping
from typing import NamedTuple

# No postponed annotations here: a named tuple would compile each of its types anew, which costs start-up.


class Subject(NamedTuple):
    """One thing explained.

    Attributes:
        kind: ``rule``, ``code``, ``corner`` or ``key``.
        id: its id, number or name; of a key its place.
        says: what it is, in a sentence or a name.
        facts: what there is to say, by label: texts to wrap.
        example: files that break it, by name; empty where a fact says it.
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
