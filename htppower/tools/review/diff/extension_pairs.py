"""Pairs of devices and graphs of two sides, to be compared with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import Profile
    from htppower.tools.review.diff.extension_parts import Part
    from htppower.tools.review.diff.sides import Side


class PartPair(NamedTuple):
    """A device or graph of both sides, or of one side and a profile of the other side."""

    name: str
    old: Examined[Profile]
    new: Examined[Profile]


def file_pairs(old: Side, new: Side, *, alone: bool) -> list[tuple[str, str]]:
    """Return the extension files that are on both sides by name, or, with ``alone``, the only one of each side."""
    if alone and len(old.parts) == len(new.parts) == 1:
        return [(next(iter(old.parts)), next(iter(new.parts)))]
    return [(name, name) for name in old.parts if name in new.parts]


def part_pairs(old: Side, new: Side, *, alone: bool) -> list[PartPair]:
    """Return the pairs in files of the same name: devices by number, graphs by name.

    With ``alone`` each side is one file. Two files are then a pair whatever their names, and a profile is compared with
    each device and graph. A graph that has its own profile only on one side is compared with the first device of the
    other side, because it votes as that does.
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
                pairs.append(PartPair(f"{called} {part.name}", left, right))
    return pairs


def _part(key: object, side: Mapping[object, Part], *, is_graph: bool) -> Examined[Profile] | None:
    found = side.get(key) or (next(iter(side.values())) if is_graph else None)
    return None if found is None else found.profile


def _with_profile(old: Side, new: Side) -> list[PartPair]:
    plain, files = (new, old) if old.extensions else (old, new)
    if len(plain.profiles) != 1:
        return []
    (profile,) = plain.profiles.values()
    parts = [(f"{file} {part.name}", part.profile) for file, parts in files.parts.items() for part in parts]
    if old.extensions:
        return [PartPair(name, part, profile) for name, part in parts]
    return [PartPair(name, profile, part) for name, part in parts]
