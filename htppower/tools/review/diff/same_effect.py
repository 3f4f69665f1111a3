"""Values of an extension file that a profile can't state, written differently on the two sides with the same effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.errors import shortened
from htppower.profiles.fields import spell
from htppower.tools.review.diff.extension_source import ExtensionSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.profiles.extends import ResolvedFile
    from htppower.tools.extensions.json_nodes import Node

_LONGEST = 60


def without_effect(
    old: ResolvedFile, new: ResolvedFile, told: Collection[KeyPath], spelt: tuple[Mapping[KeyPath, Any], ...]
) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield the vote fields that two sides write differently with the same effect, each with both values.

    Args:
        old: the file of the old side.
        new: the file of the new side.
        told: the fields that are already reported, because their effect differs.
        spelt: the values of the votes, by field, of the side that is not an extension file.
    """
    sides = [each.plain_values if isinstance(each, ExtensionSource) else None for each in (old, new)]
    for at in dict.fromkeys(at for side in sides if side is not None for at in side):
        if any(at[: len(each)] == each or each[: len(at)] == at for each in told):
            continue
        nodes = [None if side is None else side.get(at) for side in sides]
        unsaid = any(isinstance(each, ExtensionSource) and each.is_unsaid(at) for each in (old, new))
        if not unsaid and (None in nodes or sides[0] is None or sides[1] is None):
            continue
        said = [_said(node, values.get(at)) for node, values in zip(nodes, spelt, strict=True)]
        if said[0] != said[1]:
            yield at, said[0], said[1]


def _said(node: Node | None, value: Any) -> str:
    if node is None:
        return spell(value)
    return shortened(str(node.value).lower() if isinstance(node.value, bool) else str(node.value), _LONGEST)
