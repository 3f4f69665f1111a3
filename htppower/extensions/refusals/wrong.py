"""What is wrong at a place of an extension file, before it is a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from htppower.extensions.json_nodes import Member, Node


class Wrong(NamedTuple):
    """One thing that is wrong.

    Attributes:
        rule: the id of the rule that is broken.
        at: the value or the key at which it stands.
        message: what is wrong, and what the vendor's tools do.
        hint: what to write instead; may be empty.
    """

    rule: str
    at: Node | Member
    message: str
    hint: str = ""
