"""An extension file in the role of a profile's file: the key that states each field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.profiles.extends import ResolvedFile
from htppower.tools.review.diff.causes import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath, Place
    from htppower.tools.extensions.extension_file import ExtensionFile
    from htppower.tools.extensions.json_nodes import Member, Node
    from htppower.votes.vote_set import VoteSet


@attrs.frozen(repr=False, eq=False, kw_only=True)
class ExtensionSource(ResolvedFile):
    """The settings of a core or graph.

    Attributes:
        extension: the file.
        origins: the keys that state fields, by field.
        named: the key ``perf_profile`` whose profile sets the other fields; None if the file has none.
        is_custom: whether that profile is ``custom``, whose votes have keys of their own.
        holder: the core, or the object that would hold it.
        remarked: the places of values that a profile can't state.
        phases: for a custom profile, the votes on clocks in init_start, init_done and deinit_start, each with its keys;
            only if they differ from the votes of inferences, or from those after inferences.
    """

    extension: ExtensionFile
    origins: Mapping[KeyPath, Member]
    named: Member | None
    is_custom: bool
    holder: Node
    phases: Mapping[str, tuple[VoteSet, ExtensionSource]] = attrs.field(factory=dict)
    remarked: frozenset[Place] = frozenset()

    @property
    def plain_values(self) -> Mapping[KeyPath, Node]:
        """The plain values that state fields of votes."""
        nodes = {at: member.node for at, member in self.origins.items() if at[0] == "votes"}
        return {at: node for at, node in nodes.items() if node.value is not None}

    def is_unsaid(self, at: KeyPath) -> bool:
        """Return whether a profile can't state the value that is written for a field."""
        member = self.origins.get(at)
        return member is not None and self.extension.place(member.node) in self.remarked

    def place(self, at: KeyPath) -> Place:
        """Return the place of the key that states a field."""
        for length in range(len(at), 1, -1):
            if at[:length] in self.origins:
                return self.extension.place(self.origins[at[:length]])
        below = [member for _, member in self.below(at)] if at[1:] else []
        return self.extension.place(below[0] if below else self.named or self.holder)

    def below(self, at: KeyPath) -> Iterator[tuple[KeyPath, Member]]:
        """Yield the keys that state a field, or parts of it, in the order of the file."""
        for keys, member in sorted(self.origins.items(), key=lambda pair: pair[1].start):
            if keys[: len(at)] == at:
                yield keys, member


def extension_cause(at: KeyPath, old: ResolvedFile, new: ResolvedFile) -> Cause:
    """Return the key, or the line, that makes a field differ if one of two files is an extension file."""
    if not (isinstance(old, ExtensionSource) and isinstance(new, ExtensionSource)):
        return Cause(new.place(at))
    before, after = dict(old.below(at)), dict(new.below(at))
    for keys, member in after.items():
        if keys not in before or before[keys].node.plain() != member.node.plain():
            return Cause(new.extension.place(member))
    if _profile(old) != _profile(new):
        if new.named is not None or old.named is None:
            return Cause(new.extension.place(new.named or new.holder))
        return Cause(old.extension.place(old.named), removed=True)
    for keys, member in before.items():
        if keys not in after:
            return Cause(old.extension.place(member), removed=True)
    return Cause(new.place(at))


def _profile(source: ExtensionSource) -> object:
    return None if source.named is None else source.named.node.value
