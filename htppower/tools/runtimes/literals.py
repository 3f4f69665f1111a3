"""Values in code: only literals are known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from htppower.tools.runtimes.brackets import Group, is_mark, is_name, only_text, path
from htppower.tools.runtimes.tokens import Kind, Token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.runtimes.brackets import Node

# Placeholders: $MODE, ${MODE}, {mode}, %MODE%, %s, <mode>, a|b, ...
_TEMPLATE = re.compile(r"[${}<>%|]|\.\.\.|…")
# Calls that return their literal argument, and methods that return the literal before them.
_AS_IT_IS = frozenset(("string", "String", "string_view", "from", "str", "to_string", "CString"))
_METHODS = frozenset(("to_string", "to_owned", "into", "toString", "c_str"))
_TRUTH = frozenset(("true", "false", "True", "False"))
_LONGEST = 3


class Value(NamedTuple):
    """A literal.

    Attributes:
        word: its spelling, without quotes.
        at: its offset in the text.
        quoted: it is a text.
    """

    word: str
    at: int
    quoted: bool


def is_template(word: str) -> bool:
    """Return whether a text is a placeholder that is replaced later, or a choice of several texts."""
    return _TEMPLATE.search(word) is not None


def literal(nodes: Sequence[Node]) -> Value | None:
    """Return an expression as a literal; None for a template or any other expression."""
    last: Any = nodes[-1] if nodes else None
    if isinstance(last, Group) and last.bracket == "(" and len(nodes) > 1:
        return _called(nodes, last)
    if len(nodes) == 1 and isinstance(last, Group):
        return literal(last.elements[0]) if last.bracket == "(" and len(last.elements) == 1 else None
    signed = len(nodes) == 2 and is_mark(nodes[0], "-", "+")  # noqa: PLR2004
    sign: Any = nodes[0] if signed else None
    if len(nodes) != 1 + signed or not isinstance(last, Token):
        return None
    if last.kind is Kind.NUMBER and (sign is None or sign.end == last.start):
        start = last if sign is None else sign
        return Value(f"{'' if sign is None else sign.word}{last.word}", start.start, quoted=False)
    if last.kind is Kind.TEXT and sign is None and not is_template(last.word):
        return Value(last.word, last.at, quoted=True)
    return Value(last.word, last.start, quoted=False) if last.word in _TRUTH and sign is None else None


def _called(nodes: Sequence[Node], arguments: Group) -> Value | None:
    """Return the literal that a call such as ``std::string("burst")`` or ``"burst".to_string()`` returns."""
    function = nodes[-2]
    if not is_name(function):
        return None
    if len(nodes) == _LONGEST + 1 and is_mark(nodes[1], ".") and function.word in _METHODS:
        text = only_text(nodes[:1])
        return literal(nodes[:1]) if text is not None and arguments.elements == [[]] else None
    if path(nodes[:-1]) and function.word in _AS_IT_IS and len(arguments.elements) == 1:
        found = literal(arguments.elements[0])
        return found if found is None else found._replace(quoted=True)
    return None
