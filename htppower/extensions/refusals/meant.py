"""What a text was meant to be where a number, true or false is needed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.extensions.json_nodes import Kind
from htppower.extensions.keys import Type
from htppower.rules.soc_names import soc_of

if TYPE_CHECKING:
    from htppower.extensions.json_nodes import Node
    from htppower.extensions.keys import Key

_NUMBER = re.compile(r"0|[1-9][0-9]*")
_OF_SOCS = ("soc_model", "soc_id")


def meant_by(key: Key, node: Node) -> str:
    """Return the mend of a value of the wrong type; empty where it is no text, or no number or truth is needed."""
    if node.kind is not Kind.TEXT or key.type not in (Type.BOOL, Type.INTEGER):
        return ""
    if key.type is Type.BOOL:
        return "write it without quotes" if node.value in ("true", "false") else "write true or false"
    if _NUMBER.fullmatch(node.value):
        return "write it without quotes"
    soc = soc_of(node.value) if key.name in _OF_SOCS else None
    if soc is not None:
        return f"write {soc.model}"
    if key.useful is not None:
        return f"write a number from {key.useful}"
    return f"write a number, such as {key.default}" if key.default else "write a number"
