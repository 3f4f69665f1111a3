"""A problem at a place of an extension file, before it becomes a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from htppower.tools.extensions.json_nodes import Member, Node


class Wrong(NamedTuple):
    """A single problem.

    Attributes:
        rule: the id of the broken rule.
        at: the value or key with the problem.
        message: what is wrong, and what the vendor's tools do.
        hint: what to write instead; may be empty.
    """

    rule: str
    at: Node | Member
    message: str
    hint: str = ""
