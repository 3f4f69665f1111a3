"""Profiles, power states and extension files that have another name on the new side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import attrs

from htppower.profiles.regular_file import read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.tools.review.diff.sides import Side

_Value = TypeVar("_Value")

# Two files are alike, as in git, if this share of their lines is in both.
_ALIKE = 0.5
# With more pairs of files than this, or more lines in all pairs, no names are paired: the list is too long to read.
_MOST_PAIRS = 10_000
_MOST_LINES = 3_000_000


@attrs.frozen(repr=False)
class Rename:
    """The old and the new name of a profile, a power state or an extension file, and its new file."""

    old: str
    new: str
    path: str


def renames(old: Side, new: Side) -> tuple[Rename, ...]:
    """Return the files with another name on the new side: at least half of their lines are in both files.

    The files that are most alike are paired first, and each file is in one pair.
    """
    found: list[Rename] = []
    for before, after in zip(_paths(old), _paths(new), strict=True):
        gone, come = before.keys() - after.keys(), after.keys() - before.keys()
        if len(gone) * len(come) > _MOST_PAIRS:
            continue
        lines = {name: _lines(before[name]) for name in gone}
        others = {name: _lines(after[name]) for name in come}
        if len(come) * sum(map(len, lines.values())) + len(gone) * sum(map(len, others.values())) > _MOST_LINES:
            continue
        for likeness, name, other in sorted((-_likeness(lines[a], others[b]), a, b) for a in gone for b in come):
            if -likeness >= _ALIKE and name in gone and other in come:
                gone.remove(name)
                come.remove(other)
                found.append(Rename(name, other, after[other]))
    return tuple(found)


def with_new_names(old: Side, moved: Iterable[Rename]) -> Side:
    """Return the old side with the new names, so that each file is compared with its renamed file."""
    names = {each.old: each.new for each in moved}

    def renamed(values: Mapping[str, _Value]) -> dict[str, _Value]:
        return {names.get(name, name): value for name, value in values.items()}

    return attrs.evolve(
        old,
        profiles=renamed(old.profiles),
        states=renamed(old.states),
        extensions=renamed(old.extensions),
        parts=renamed(old.parts),
    )


def _paths(side: Side) -> Iterator[dict[str, str]]:
    """Yield the files of the profiles, of the power states and of the extension files, by name."""
    yield {name: each.file.path for name, each in side.profiles.items()}
    yield {name: each.file.path for name, each in side.states.items()}
    yield {name: file.path for name, file in side.extensions.items()}


def _lines(path: str) -> Counter[bytes]:
    """Return the lines of a file, except the line of its name, which a rename changes."""
    try:
        lines = map(bytes.strip, read_regular_file(path).splitlines())
    except (OSError, ValueError):
        return Counter()
    return Counter(line for line in lines if line and not line.startswith((b"profile:", b"state:")))


def _likeness(one: Counter[bytes], other: Counter[bytes]) -> float:
    return 2 * sum((one & other).values()) / max(1, one.total() + other.total())
