"""Values of an extension file as they are written, where a profile made of it can't say them.

The vendor's voter casts polling times and sleep latencies beyond the documented ranges, and corners out of order, as
they are (measured). Others, such as an HMX timeout out of its range, change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import shortened
from htppower.extensions.clock_blocks import EXPANDED_BY_NAME, PLAIN_BY_NAME
from htppower.extensions.json_nodes import Kind
from htppower.profiles.fields import spell
from htppower.review.diff.extension_source import ExtensionSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.extensions.json_nodes import Member, Node
    from htppower.profiles.extends import ResolvedFile
    from htppower.votes.vote_set import VoteSet

_POLLING = ("votes", "rpc_polling_time_us")
_UINT32 = 2**32


def as_written(votes: VoteSet, origins: Mapping[KeyPath, Member]) -> VoteSet:
    """Return votes with the values that are cast as they are written, whatever a profile may say."""
    for at, member in origins.items():
        value = _number(member.node)
        if at == _POLLING and value is not None and votes.rpc_polling_time_us is not None:
            votes = attrs.evolve(votes, rpc_polling_time_us=value)
        elif at[1:2] == (votes.hvx_field,) and votes.hvx is not None:
            votes = attrs.evolve(votes, **{votes.hvx_field: _clocks(votes.hvx, at[2:], member.node)})
    return votes


def _clocks(hvx: Any, at: KeyPath, node: Node) -> Any:
    """Return an HVX vote with one value as it is written."""
    value = _number(node)
    if at == ("sleep_latency_us",) and value is not None:
        return attrs.evolve(hvx, sleep_latency_us=value)
    if len(at) == 2:  # noqa: PLR2004 - a clock and its limit
        clock, limit = at
        names = PLAIN_BY_NAME if hasattr(hvx, "dcvs_enable") else EXPANDED_BY_NAME
        corner = names.get(str(node.value).partition("\0")[0])
        if corner is not None:
            return attrs.evolve(hvx, **{clock: attrs.evolve(getattr(hvx, clock), **{limit: corner})})
    return hvx


def _number(node: Node) -> int | None:
    is_number = node.kind in (Kind.INTEGER, Kind.FRACTION) and 0 <= node.value < _UINT32
    return int(node.value) if is_number else None


def without_effect(
    old: ResolvedFile, new: ResolvedFile, told: Collection[KeyPath], spelt: tuple[Mapping[KeyPath, Any], ...]
) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield the vote fields that two sides write differently, and that have the same effect, each with both values.

    Args:
        old: what the one side is read from.
        new: what the other is read from.
        told: the fields that have another effect.
        spelt: the values of the votes, by field, of a side that is no extension file.
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
    return shortened(str(node.value).lower() if node.kind is Kind.BOOL else str(node.value), 60)
