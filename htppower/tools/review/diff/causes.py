"""The line whose change made a field differ.

A value differs because a file states another value, no longer states its own, or extends another file. The files of
both sides are compared from the profile down to its bases. The first file with such a difference is the cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from htppower.profiles.extends import ResolvedFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import KeyPath, Place
    from htppower.profiles.strict_yaml import Document
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
