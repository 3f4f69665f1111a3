"""A guess at the meant value, if a value does not have the type of its key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.rules.soc_names import soc_of
from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.keys import Type

if TYPE_CHECKING:
    from htppower.tools.extensions.json_nodes import Node
    from htppower.tools.extensions.keys import Key

_NUMBER = re.compile(r"0|[1-9][0-9]*")
_OF_SOCS = ("soc_model", "soc_id")
_IN_LIST = {Type.OBJECTS: Kind.OBJECT, Type.TEXTS: Kind.TEXT, Type.INTEGERS: Kind.INTEGER}


def meant_by(key: Key, node: Node) -> str:
    """Return a correction for a value of the wrong type; empty if it is not known."""
    if key.type in _IN_LIST:
        return _as_list(key) if node.kind is _IN_LIST[key.type] else ""
    if node.kind is not Kind.TEXT or key.type not in (Type.BOOL, Type.INTEGER):
        return ""
    if key.type is Type.BOOL:
        return "write it without quotes" if node.value in ("true", "false") else "write true or false"
    if _NUMBER.fullmatch(node.value):
        return "write it without quotes"
    soc = soc_of(node.value) if key.name in _OF_SOCS else None
    if soc is not None:
        return f"write {soc.model}"
    such = f", such as {key.default}" if key.default else ""
    return f"write a number{such if key.useful is None else f' from {key.useful}'}"


def _as_list(key: Key) -> str:
    form = ", as [{...}]" if key.type is Type.OBJECTS else ""
    old = ": an object without a list is the form of SDK 2.20 and older" if key.name == "graphs" else ""
    return f"put it into a list{form}{old}"
