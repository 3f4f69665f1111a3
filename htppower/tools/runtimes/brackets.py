"""Source code as nested bracket groups. The elements of a group are separated by commas, or are statements.

Of the values in code, only literals are known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeGuard

import attrs

from htppower.tools.runtimes.tokens import Kind, Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.tools.runtimes.tokens import Language

_OPENED_BY = {")": "(", "]": "[", "}": "{"}
# Deeper brackets are skipped; their content belongs to the element around them.
_DEEPEST = 60
# After these marks a statement continues on the next line.
_ENDS_NO_LINE = frozenset(
    ("=", "+", "-", "*", "/", "%", "&", "|", "?", ":", ".", "<", "=>", "->", "::", ":=", "&&", "||", "?:", "?.", "==")
)
# A statement also continues before these marks. A brace may open on the next line.
_BEGINS_NO_LINE = frozenset(
    ("=", "+", "-", "/", "%", "|", "?", ":", ".", "=>", "->", "::", "&&", "||", "?:", "?.", "==", "{")
)
_JOINS = ("->", ".", "::", "?.")
# Placeholders: $MODE, ${MODE}, {mode}, %MODE%, %s, <mode>, a|b, ...
_TEMPLATE = re.compile(r"[${}<>%|]|\.\.\.|…")
# Calls that return their literal argument, and methods that return the literal before them.
_AS_IT_IS = frozenset(("string", "String", "string_view", "from", "str", "to_string", "CString"))
_METHODS = frozenset(("to_string", "to_owned", "into", "toString", "c_str"))
_TRUTH = frozenset(("true", "false", "True", "False"))
_LONGEST = 3


@attrs.frozen
class Group:
    """The content of a pair of brackets.

    Attributes:
        bracket: the opening bracket; empty for the whole text.
        start: its offset.
        elements: the parts between commas, semicolons and, in braces, line ends.
    """

    bracket: str
    start: int
    elements: list[list[Node]]


Node = Token | Group


def is_mark(node: Node, *words: str) -> bool:
    """Return whether a node is one of these marks."""
    return isinstance(node, Token) and node.kind is Kind.MARK and node.word in words


def is_name(node: Node) -> TypeGuard[Token]:
    """Return whether a node is a name."""
    return isinstance(node, Token) and node.kind is Kind.NAME


def only_text(nodes: Sequence[Node]) -> Token | None:
    """Return the text if an element consists only of it; otherwise None."""
    (node, *others) = nodes or (None,)
    return node if not others and isinstance(node, Token) and node.kind is Kind.TEXT else None


def path_before(nodes: Sequence[Node], behind: int) -> list[str]:
    """Return the names, joined by dots, arrows or colons, that end directly before a node."""
    names: list[str] = []
    at = behind - 1
    while at >= 0 and is_name(name := nodes[at]):
        names.append(name.word)
        if at == 0 or not is_mark(nodes[at - 1], *_JOINS):
            break
        at -= 2
    return names[::-1]


def path(nodes: Sequence[Node]) -> list[Token]:
    """Return the names of an element if it consists only of names joined by dots or colons; otherwise an empty list."""
    names = list(nodes[1:] if nodes and is_mark(nodes[0], "::") else nodes)
    joined = all(is_mark(each, *_JOINS) for each in names[1::2])
    return [each for each in names[::2] if is_name(each)] if joined and all(map(is_name, names[::2])) else []


def grouped(tokens: Iterable[Token], language: Language) -> Group:
    """Return tokens as one group with nested groups."""
    root = Group("", 0, [[]])
    stack = [root]
    passed = 0
    behind_line = False
    for token in tokens:
        kind, word = token.kind, token.word
        if kind is Kind.LINE:
            behind_line = True
            continue
        group = stack[-1]
        if behind_line and _is_new(group, token, language):
            group.elements.append([])
        behind_line = False
        opens = kind is Kind.MARK and word in ("(", "[", "{")
        closes = kind is Kind.MARK and word in _OPENED_BY
        if opens and len(stack) > _DEEPEST:
            passed += 1
        elif opens:
            inner = Group(word, token.start, [[]])
            group.elements[-1].append(inner)
            stack.append(inner)
        elif closes and passed:
            passed -= 1
        elif closes and group.bracket == _OPENED_BY[word]:
            stack.pop()
        elif kind is Kind.MARK and word in (",", ";"):
            group.elements.append([])
        elif not closes:
            group.elements[-1].append(token)
    return root


def _is_new(group: Group, token: Token, language: Language) -> bool:
    element = group.elements[-1]
    if not element or group.bracket in ("(", "[") or (group.bracket == "{" and language.braces_are_sets):
        return False
    last = element[-1]
    if isinstance(last, Token):
        if last.kind is Kind.MARK and last.word in _ENDS_NO_LINE:
            # Outside of brackets, a colon ends the head of a block.
            return last.word == ":" and not group.bracket
        if last.kind is Kind.TEXT and token.kind is Kind.TEXT:
            return False
    return token.kind is not Kind.MARK or token.word not in _BEGINS_NO_LINE


@attrs.frozen
class Value:
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
        return found if found is None else attrs.evolve(found, quoted=True)
    return None
