"""Votes with the values that an extension file has and a profile can't state.

The vendor's voter casts polling times and sleep latencies outside the documented ranges, and corners out of order, as
they are written (measured).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.extensions.clock_blocks import EXPANDED_BY_NAME, PLAIN_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import KeyPath
    from htppower.tools.extensions.json_nodes import Member, Node
    from htppower.votes.vote_set import VoteSet

_POLLING = ("votes", "rpc_polling_time_us")
_UINT32 = 2**32


def as_written(votes: VoteSet, origins: Mapping[KeyPath, Member]) -> VoteSet:
    """Return votes with the values that are cast as written, even if a profile can't state them."""
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
        corner = names.get(node.c_text)
        if corner is not None:
            return attrs.evolve(hvx, **{clock: attrs.evolve(getattr(hvx, clock), **{limit: corner})})
    return hvx


def _number(node: Node) -> int | None:
    is_number = node.is_number and 0 <= node.value < _UINT32
    return int(node.value) if is_number else None
