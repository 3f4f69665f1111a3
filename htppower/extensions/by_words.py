"""Keys as the vendor's parser reads them: by the words in their names, and of several the last one counts.

Measured on QAIRT 2.51 by what the vendor's voter casts: ``"my_perf_profile": "balanced"`` behind ``"perf_profile":
"burst"`` votes balanced, and so does ``perf_profile`` in an unknown object of a core. null is passed over.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.extensions.refusals.leaves import named_leaves, path_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import KeyPath
    from htppower.extensions.json_nodes import Member, Node
    from htppower.extensions.refusals.leaves import Leaf


def by_words(at: KeyPath, node: Node) -> Mapping[str, Leaf]:
    """Return the plain values of an object by the keys that they are read as: of several the last.

    Args:
        at: the known keys that lead to the object, items of lists by number.
        node: the object.
    """
    return MappingProxyType({leaf.word: leaf for leaf in named_leaves(node, path_of(at))})


def read_as(at: KeyPath, member: Member) -> tuple[str, ...]:
    """Return the keys that an unknown key of an object is read as, by the words in its name; none if it is ignored."""
    leaves = named_leaves(member.node, path_of((*at, member.key)))
    return tuple(dict.fromkeys(leaf.word for leaf in leaves))
