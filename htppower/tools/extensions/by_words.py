"""Unknown keys that the vendor's parser reads by the words in their names; if several match, the last one counts.

Measured on QAIRT 2.51 by the votes of the vendor's voter: ``"my_perf_profile": "balanced"`` after ``"perf_profile":
"burst"`` votes balanced, and so does ``perf_profile`` in an unknown object of a core. null is skipped.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.extensions.refusals.leaves import named_leaves, path_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import KeyPath
    from htppower.tools.extensions.json_nodes import Member, Node
    from htppower.tools.extensions.refusals.leaves import Leaf


def by_words(at: KeyPath, node: Node) -> Mapping[str, Leaf]:
    """Return the plain values of an object by the keys that the parser takes them for; the last of several counts.

    Args:
        at: the known keys on the path to the object; list items by their index.
        node: the object.
    """
    return MappingProxyType({leaf.word: leaf for leaf in named_leaves(node, path_of(at))})


def read_as(at: KeyPath, member: Member) -> tuple[str, ...]:
    """Return the known keys that an unknown key is taken for, by the words in its name; empty if it is ignored."""
    leaves = named_leaves(member.node, path_of((*at, member.key)))
    return tuple(dict.fromkeys(leaf.word for leaf in leaves))
