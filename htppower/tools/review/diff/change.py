"""One field that differs: its values, its effect, its place in the files, and the line that is the cause.

A value differs because a file states another value, no longer states its own, or extends another file. The files of
both sides are compared from the profile down to its bases. The first file with such a difference is the cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

from htppower.profiles.extends import ResolvedFile
from htppower.profiles.fields import is_one_corner, limits, spell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath, Place
    from htppower.profiles.strict_yaml import Document
    from htppower.tools.review.diff.effects import Effect
    from htppower.votes.vote_set import VoteSet

_NOTHING: Final = object()
_EXTENDS = ("extends",)


@attrs.frozen(repr=False, eq=False, kw_only=True)
class ExtensionSource(ResolvedFile):
    """The settings of a core or graph of an extension file, as a file of a profile that extends its ``perf_profile``.

    Attributes:
        values: the values as the file writes them, by the fields that they state.
        unsaid: the fields whose written value a profile can't state.
        phases: for a custom profile, the votes on clocks in init_start, init_done and deinit_start, each with its keys;
            only if they differ from the votes of inferences, or from those after inferences.
    """

    values: Mapping[KeyPath, Any]
    unsaid: frozenset[KeyPath]
    phases: Mapping[str, tuple[VoteSet, ExtensionSource]] = attrs.field(factory=dict)


@attrs.frozen(repr=False)
class Cause:
    """The line that is the cause of a change.

    Attributes:
        place: the place of the line.
        removed: whether the line was removed. Then the place is in the old file.
    """

    place: Place
    removed: bool = False


def cause_of(at: KeyPath, old: ResolvedFile, new: ResolvedFile) -> Cause:
    """Return the line whose change made the value at these keys differ between two files."""
    nearer = _nearer(old.documents, new.documents)
    if nearer is not None:
        stating = (document for document in nearer if stated(document.tree, at) is not _NOTHING)
        return next((Cause(document.place(at)) for document in stating), Cause(new.place(at)))
    # Both sides list their files in the order of ``extends``. So they can be compared in pairs, until one side extends
    # another file than the other side.
    in_order: tuple[KeyPath, ...] = (at, _EXTENDS)
    if isinstance(new, ExtensionSource) and stated(new.tree, at) is _NOTHING:
        # Without the profile custom, the votes of the key custom may still be in the file.
        in_order = (_EXTENDS, at)
    for before, after in zip(old.documents, new.documents, strict=False):
        for keys in in_order:
            value = stated(after.tree, keys)
            if stated(before.tree, keys) != value:
                return Cause(before.place(keys), removed=True) if value is _NOTHING else Cause(after.place(keys))
    return Cause(new.place(at))


def _nearer(old: tuple[Document, ...], new: tuple[Document, ...]) -> tuple[Document, ...] | None:
    """Return the files that the new side has before all files of the old side; None if it does not extend those."""
    more = len(new) - len(old)
    extends = more > 0 and all(one.tree == other.tree for one, other in zip(old, new[more:], strict=True))
    return new[:more] if extends else None


def stated(tree: Any, at: KeyPath) -> Any:
    """Return the value at these keys in a tree. If a plain value replaces a mapping on the way, return that."""
    for key in at:
        if not isinstance(tree, dict):
            break
        tree = tree.get(key, _NOTHING)
    return tree


@attrs.frozen(repr=False, eq=False)
class Change:
    """One field that differs.

    Attributes:
        profile: the name of the profile.
        when: ``inference`` for its votes and its sustain time, ``init`` for how long they stay up after INIT,
            ``lowered`` for the votes of its power state, ``after_deinit`` for the votes at the end of DE-INIT,
            ``further`` for the votes to which it relaxes later; a state of a graph, such as ``init_start``, if an
            extension file has votes of its own there; empty for wording.
        field: the field, such as ``dcvs_v3.core.min``.
        old_field: the field of the old value, if a vote has another form now: ``dcvs_v3.core`` if the new one is
            ``dcvs_v3_exp.core``; else empty.
        old, new: the values as a file writes them.
        effect: what the change does.
        place: the place of the new value. An inherited value is in its own file.
        old_place: the place of the old value.
        cause: the line whose change is the cause: the line of the value, of ``extends``, or of the name of the power
            state.
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
    """Votes and their file; for a power state also the file of the profile that names it, and the place there."""

    votes: VoteSet
    file: ResolvedFile
    named_by: ResolvedFile | None = None
    named_at: KeyPath = ()


def parts_of(at: KeyPath, old: Any, new: Any) -> Iterator[tuple[KeyPath, tuple[Any, Any]]]:
    """Yield a field as a whole, or part by part if both values have the same parts and not both are single corners."""
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
    """Return the name of a field in a change: without ``votes``."""
    return ".".join(at[1:] if at[0] == "votes" else at)


def _cause(at: KeyPath, old: Side, new: Side) -> Cause:
    if isinstance(old.file, ExtensionSource) is not isinstance(new.file, ExtensionSource):
        return Cause(new.file.place(at))
    if old.named_by is not None and new.named_by is not None:
        before, after = stated(old.named_by.tree, old.named_at), stated(new.named_by.tree, new.named_at)
        if before != after:
            # A side that does not name the second state uses the first one there. The cause is then the name of the
            # state.
            named_at = max(old.named_at, new.named_at, key=len)
            return cause_of(named_at, old.named_by, new.named_by)
    return cause_of(at, old.file, new.file)
