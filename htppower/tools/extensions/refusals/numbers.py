"""How the vendor's parser reads numbers: as integers of 32 or 64 bits, and all others as doubles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.json_nodes import Kind

if TYPE_CHECKING:
    from htppower.tools.extensions.json_nodes import Node

_UINT32 = 2**32
_INT64_LOWEST, _UINT64 = -(2**63), 2**64


def is_number(node: Node) -> bool:
    """Return whether a value is any number."""
    return node.kind in (Kind.INTEGER, Kind.FRACTION)


def is_integer(node: Node) -> bool:
    """Return whether the parser reads a value as an integer; it reads one of more than 64 bits as a double."""
    return node.kind is Kind.INTEGER and _INT64_LOWEST <= node.value < _UINT64


def is_uint_like(node: Node) -> bool:
    """Return whether a value is accepted by keys that also accept a double with a whole value, such as 1.0."""
    if is_integer(node):
        return bool(0 <= node.value < _UINT32)
    return is_number(node) and node.value >= 0 and float(node.value).is_integer()


def is_uint64_like(node: Node) -> bool:
    """Return the same as ``is_uint_like``, for 64 bits."""
    return is_number(node) and node.value >= 0 and float(node.value).is_integer()
