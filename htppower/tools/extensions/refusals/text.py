"""Reasons to refuse a file before any of its keys is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.json_nodes import Kind

if TYPE_CHECKING:
    from htppower.tools.extensions.json_text import JsonText


def refused_text(text: JsonText) -> tuple[int, str, str] | None:
    """Return place, reason and correction if the parser does not accept a text as a JSON object; otherwise None."""
    if text.byte_order_mark:
        return 0, "a byte order mark", "save the file as UTF-8 without one"
    if text.problem is not None:
        return None
    root = text.root
    if root is not None and root.kind is not Kind.OBJECT:
        return root.start, f"{root.kind} where an object is needed", 'write {"devices": []}'
    return None
