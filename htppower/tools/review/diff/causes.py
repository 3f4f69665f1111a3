"""The line whose change made a field differ.

A value differs because a file states another value, no longer states its own, or extends another file. The files of
both sides are compared from the profile down to its bases. The first file with such a difference is the cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

if TYPE_CHECKING:
    from htppower.errors import KeyPath, Place
    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.strict_yaml import Document

_NOTHING: Final = object()
_EXTENDS = ("extends",)


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
    # The files of both sides are in the same order, as long as neither side extends another file.
    for before, after in zip(old.documents, new.documents, strict=False):
        for keys in (at, _EXTENDS):
            if stated(before.tree, keys) != stated(after.tree, keys):
                return _line(keys, before, after)
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


def _line(at: KeyPath, before: Document, after: Document) -> Cause:
    if stated(after.tree, at) is _NOTHING:
        return Cause(before.place(at), removed=True)
    return Cause(after.place(at))
