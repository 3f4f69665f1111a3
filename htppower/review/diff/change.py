"""One field that differs: what of it is told, and where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from htppower.profiles.fields import is_one_corner, limits, spell
from htppower.review.diff.causes import cause_of, stated
from htppower.review.diff.extension_source import ExtensionSource, extension_cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath, Place
    from htppower.profiles.extends import ResolvedFile
    from htppower.review.diff.causes import Cause
    from htppower.review.diff.effects import Effect
    from htppower.votes.vote_set import VoteSet


@attrs.frozen(repr=False, eq=False)
class Change:
    """One field that differs.

    Attributes:
        profile: the name of the profile.
        when: ``inference`` for its votes and its sustain time, ``init`` for how long they stay up after INIT,
            ``lowered`` for the votes of its power state, ``after_deinit`` for those in which DE-INIT ends, ``further``
            for those to which it relaxes then; a state of a graph, such as ``init_start``, where an extension file has
            votes of its own there; empty for wording.
        field: such as ``dcvs_v3.core.min``.
        old_field: the field of the old value, where a vote has another form now: ``dcvs_v3.core`` of
            ``dcvs_v3_exp.core``; else empty.
        old, new: the values as a file spells them.
        effect: what the change does.
        place: where the new value is written; an inherited value, in its own file.
        old_place: where the old value was written.
        cause: the line of the change that did it: of the value, of ``extends``, or of the power state that is named.
    """

    profile: str
    when: str
    field: str
    old: str
    new: str
    effect: Effect
    place: Place
    old_place: Place
    cause: Cause
    old_field: str = ""


class Side(NamedTuple):
    """Votes, the file that says them, and, of a power state, the file of the profile that names it, and where."""

    votes: VoteSet
    file: ResolvedFile
    named_by: ResolvedFile | None = None
    named_at: KeyPath = ()


def parts_of(at: KeyPath, old: Any, new: Any) -> Iterator[tuple[KeyPath, tuple[Any, Any]]]:
    """Yield a field as a whole, or part by part where both values have the same parts and one is no single corner."""
    before, after = dict(limits(at, old)), dict(limits(at, new))
    if before.keys() != after.keys() or (is_one_corner(old) and is_one_corner(new)):
        yield at, (old, new)
        return
    for part, value in before.items():
        yield part, (value, after[part])


def change_of(
    name: str,
    when: str,
    at: KeyPath,
    values: tuple[Any, Any],
    effect: Effect,
    sides: tuple[Side, Side],
    old_at: KeyPath | None = None,
) -> Change:
    """Return the change of a field from one side to the other; ``old_at`` is the field of the old value."""
    old, new = sides
    before, after = (field_name(each) for each in (old_at or at, at))
    return Change(
        name,
        when,
        after,
        spell(values[0]),
        spell(values[1]),
        effect,
        place=new.file.place(at),
        old_place=old.file.place(old_at or at),
        cause=_cause(at, old, new),
        old_field="" if before == after else before,
    )


def field_name(at: KeyPath) -> str:
    """Return a field as a change calls it: without ``votes``."""
    return ".".join(at[1:] if at[0] == "votes" else at)


def _cause(at: KeyPath, old: Side, new: Side) -> Cause:
    if isinstance(old.file, ExtensionSource) or isinstance(new.file, ExtensionSource):
        return extension_cause(at, old.file, new.file)
    if old.named_by is not None and new.named_by is not None:
        before, after = stated(old.named_by.tree, old.named_at), stated(new.named_by.tree, new.named_at)
        if before != after:
            # A state that one side does not name is the first one's there: what differs is whether it is named.
            named_at = max(old.named_at, new.named_at, key=len)
            return cause_of(named_at, old.named_by, new.named_by)
    return cause_of(at, old.file, new.file)
