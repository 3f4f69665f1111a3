"""Pairs of the two sides: files of the same name, files with another name on the new side, devices and graphs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from htppower.profiles.regular_file import read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import Profile
    from htppower.tools.review.diff.extension_parts import Part
    from htppower.tools.review.diff.sides import Side

    _PartPair = tuple[str, Examined[Profile], Examined[Profile]]

_Value = TypeVar("_Value")
_Examined = TypeVar("_Examined", bound="Examined[Any]")

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

    profiles, states, extensions = renamed(old.profiles), renamed(old.states), renamed(old.extensions)
    return attrs.evolve(old, profiles=profiles, states=states, extensions=extensions, parts=renamed(old.parts))


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


def pairs_of(
    old: Mapping[str, _Examined], new: Mapping[str, _Examined], *, alone: bool
) -> list[tuple[str, _Examined, _Examined]]:
    """Return the pairs of the same name, or, with ``alone``, the pair of the only one on each side."""
    if alone and len(old) == len(new) == 1:
        ((_, before),) = old.items()
        ((name, after),) = new.items()
        return [(name, before, after)]
    return [(name, old[name], new[name]) for name in sorted(old.keys() & new.keys())]


def file_pairs(old: Side, new: Side, *, alone: bool) -> list[tuple[str, str]]:
    """Return the extension files that are on both sides by name, or, with ``alone``, the only one of each side."""
    if alone and len(old.parts) == len(new.parts) == 1:
        return [(next(iter(old.parts)), next(iter(new.parts)))]
    return [(name, name) for name in old.parts if name in new.parts]


def part_pairs(old: Side, new: Side, *, alone: bool) -> list[_PartPair]:
    """Return the pairs in files of the same name, each with its name: devices by number, graphs by name.

    With ``alone`` each side is one file. Two files are then a pair whatever their names, and a profile is compared with
    each device and graph. A graph that has its own profile only on one side is compared with the first device of the
    other side, because it votes like that device.
    """
    if alone and bool(old.extensions) is not bool(new.extensions):
        return _with_profile(old, new)
    pairs = []
    for file, called in file_pairs(old, new, alone=alone):
        one, other = ({part.paired_by: part for part in parts} for parts in (old.parts[file], new.parts[called]))
        for key in dict.fromkeys((*other, *one)):
            part = other.get(key) or one[key]
            left, right = (_part(key, side, is_graph=part.is_graph) for side in (one, other))
            if left is not None and right is not None:
                pairs.append((f"{called} {part.name}", left, right))
    return pairs


def _part(key: object, side: Mapping[object, Part], *, is_graph: bool) -> Examined[Profile] | None:
    found = side.get(key) or (next(iter(side.values())) if is_graph else None)
    return None if found is None else found.profile


def _with_profile(old: Side, new: Side) -> list[_PartPair]:
    plain, files = (new, old) if old.extensions else (old, new)
    if len(plain.profiles) != 1:
        return []
    (profile,) = plain.profiles.values()
    parts = [(f"{file} {part.name}", part.profile) for file, parts in files.parts.items() for part in parts]
    if old.extensions:
        return [(name, part, profile) for name, part in parts]
    return [(name, profile, part) for name, part in parts]
