"""The line of the change that made a field differ.

A value differs because a file says another one, no longer says its own, or extends another file. The files of both
sides are compared from the profile down its bases: the first that differs in one of these did it.
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
    """A line.

    Attributes:
        place: where it stands.
        removed: it is gone, and the place is that of the old file.
    """

    place: Place
    removed: bool = False


def cause_of(at: KeyPath, old: ResolvedFile, new: ResolvedFile) -> Cause:
    """Return the line by which the value at these keys differs between two files."""
    nearer = _nearer(old.documents, new.documents)
    if nearer is not None:
        stating = (document for document in nearer if stated(document.tree, at) is not _NOTHING)
        return next((Cause(document.place(at)) for document in stating), Cause(new.place(at)))
    # The files of both stand in the same order, as long as neither extends another one.
    for before, after in zip(old.documents, new.documents, strict=False):
        for keys in (at, _EXTENDS):
            if stated(before.tree, keys) != stated(after.tree, keys):
                return _line(keys, before, after)
    return Cause(new.place(at))


def _nearer(old: tuple[Document, ...], new: tuple[Document, ...]) -> tuple[Document, ...] | None:
    """Return the files that the new side has before all those of the old one; None where it does not extend that."""
    more = len(new) - len(old)
    extends = more > 0 and all(one.tree == other.tree for one, other in zip(old, new[more:], strict=True))
    return new[:more] if extends else None


def stated(tree: Any, at: KeyPath) -> Any:
    """Return what a tree says at these keys: a value, or what stands in the place of what encloses it."""
    for key in at:
        if not isinstance(tree, dict):
            break
        tree = tree.get(key, _NOTHING)
    return tree


def _line(at: KeyPath, before: Document, after: Document) -> Cause:
    if stated(after.tree, at) is _NOTHING:
        return Cause(before.place(at), removed=True)
    return Cause(after.place(at))
