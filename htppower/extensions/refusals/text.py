"""What refuses a file before any key of it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.extensions.json_nodes import Kind

if TYPE_CHECKING:
    from htppower.extensions.json_text import JsonText


def refused_text(text: JsonText) -> tuple[int, str, str] | None:
    """Return where and why the parser takes a text for no JSON object, and the mend; None where it takes it."""
    if text.byte_order_mark:
        return 0, "a byte order mark", "save the file as UTF-8 without one"
    if text.problem is not None:
        return None
    root = text.root
    if root is not None and root.kind is not Kind.OBJECT:
        return root.start, f"{root.kind} where an object is needed", 'write {"devices": []}'
    return None
