"""Suppressions in an extension file. JSON has no comments, but the vendor's parser ignores an unknown key at the top.

"htppower": [{"disable": "EXT-32", "until": "2027-03-01", "because": "a test of long polling"}]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.json_nodes import Kind
from htppower.tools.extensions.unknown_keys import OURS
from htppower.tools.review.lint.suppressions import Found, from_words

if TYPE_CHECKING:
    from htppower.tools.extensions.json_text import JsonText
    from htppower.tools.review.lint.suppressions import Suppression

_WORDS = ("disable", "until", "because")


def suppressions_of(text: JsonText) -> tuple[list[Suppression], list[Found]]:
    """Return the suppressions of a file, and the findings about those that are not well-formed."""
    read: list[Suppression] = []
    wrong: list[Found] = []
    if text.root is None:
        return read, wrong
    for member in text.root.members:
        if member.key != OURS:
            continue
        for node in member.node.items if member.node.kind is Kind.LIST else (member.node,):
            said = {each.key: str(each.node.value) for each in node.members}
            words = " ".join(f"{word}={said[word]}" for word in _WORDS if word in said)
            made = from_words(text.place(node.start), f": {words}")
            if isinstance(made, Found):
                wrong.append(made)
            else:
                read.append(made)
    return read, wrong
