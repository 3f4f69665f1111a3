"""Numbers as the vendor's parser takes them: integers of 32 or 64 bits, and everything else as a double."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.extensions.json_nodes import Kind

if TYPE_CHECKING:
    from htppower.extensions.json_nodes import Node

_UINT32 = 2**32
_INT64_LOWEST, _UINT64 = -(2**63), 2**64


def is_number(node: Node) -> bool:
    """Return whether a value is a number of any form."""
    return node.kind in (Kind.INTEGER, Kind.FRACTION)


def is_integer(node: Node) -> bool:
    """Return whether a value is an integer to the parser: an integer of more than 64 bits is a double to it."""
    return node.kind is Kind.INTEGER and _INT64_LOWEST <= node.value < _UINT64


def is_uint_like(node: Node) -> bool:
    """Return whether a value passes where the parser also takes a double that is a whole number, such as 1.0."""
    if is_integer(node):
        return bool(0 <= node.value < _UINT32)
    return is_number(node) and node.value >= 0 and float(node.value).is_integer()


def is_uint64_like(node: Node) -> bool:
    """Return the same of a number of 64 bits."""
    return is_number(node) and node.value >= 0 and float(node.value).is_integer()
