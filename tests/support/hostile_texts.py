"""Makes slow texts for a regular expression: long runs of a repeated part, and an end that does not match."""

from __future__ import annotations

import importlib
import itertools
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The parser of patterns is private, and has been moved.
_IN_RE = sys.version_info >= (3, 11)
_parser: Any = importlib.import_module("re._parser" if _IN_RE else "sre_parse")
_compiler: Any = importlib.import_module("re._compiler" if _IN_RE else "sre_compile")

_ALPHABET = " \t\n\r\v\0\x1f!\"#$%&'()*+,-./0159:;<=>?@AFGZ[\\]^_`afgvxz{|}~\x85\xa0\xe9\u2028\u3000"
# A repeat with a smaller maximum can't take long.
_SHORT = 50
_REPEATS = {_parser.MAX_REPEAT, _parser.MIN_REPEAT, *filter(None, [getattr(_parser, "POSSESSIVE_REPEAT", None)])}
_CLASSES = {_parser.IN, _parser.ANY, _parser.NOT_LITERAL}
_FEW = 4


class Hostile(NamedTuple):
    """A text with a part of it repeated."""

    head: str
    run: str
    end: str

    def text(self, size: int) -> str:
        """Return the text with a run of this many characters."""
        return self.head + self.run * (size // len(self.run)) + self.end


def hostile_texts(pattern: re.Pattern[Any]) -> list[Hostile]:
    """Return such texts, for each repeat of a pattern."""
    said = pattern.pattern
    flags = pattern.flags
    tree = _parser.parse(said, flags)
    made = _Examples(tree.state)
    kinds = made.kinds(tree)
    found: dict[Hostile, None] = {}
    for heads, body in made.repeats(tree, [""]):
        bodies = [each for each in body if each]
        runs = {*bodies, *(head + each for head in heads for each in bodies[:2])}
        # The whole match, or the match up to here, may be repeated as well.
        for head, run, end in itertools.product(dict.fromkeys(["", *heads]), sorted(runs), ["", *kinds]):
            found[Hostile(head, run, end)] = None
    return list(found)


class _Examples:
    """Makes examples of the parts of a pattern."""

    def __init__(self, state: Any) -> None:
        self._state = state
        self._of_class: dict[str, str] = {}

    def _members(self, node: Any) -> str:
        """Return the characters of the alphabet in a class."""
        key = str(node)
        if key not in self._of_class:
            alone = _compiler.compile(_parser.SubPattern(self._state, [node]), self._state.flags)
            is_bytes = not self._state.flags & re.UNICODE and isinstance(self._state.str, bytes)
            fits = (each for each in _ALPHABET if not is_bytes or ord(each) < 128)
            self._of_class[key] = "".join(
                each for each in fits if alone.match(each.encode() if is_bytes else each) is not None
            )
        return self._of_class[key]

    def kinds(self, tree: Any) -> list[str]:
        """Return one character for each combination of classes, so that all distinctions of the pattern are tried."""
        classes = [self._members(node) for node in self._nodes(tree) if node[0] in _CLASSES]
        literals = {chr(node[1]) for node in self._nodes(tree) if node[0] is _parser.LITERAL}
        self._kinds: dict[tuple[bool, ...], str] = {}
        for each in _ALPHABET:
            key = (*(each in members for members in classes), each in literals)
            self._kinds.setdefault(key, each)
        return list(self._kinds.values())

    def _nodes(self, tree: Iterable[Any]) -> Iterator[Any]:
        for node in tree:
            yield node
            for below in self._below(node):
                yield from self._nodes(below)

    def _below(self, node: Any) -> list[Any]:
        """Return the trees in a node."""
        kind, value = node
        if kind is _parser.BRANCH:
            return list(value[1])
        if kind is _parser.SUBPATTERN:
            return [value[3]]
        if kind in _REPEATS:
            return [value[2]]
        if kind in {_parser.ASSERT, _parser.ASSERT_NOT}:
            return [value[1]]
        return [value] if isinstance(value, _parser.SubPattern) else []

    def examples(self, tree: Iterable[Any]) -> list[str]:
        """Return a few matching texts: the shortest, a text with every part once, and a text for each branch."""
        found = [""]
        for kind, value in tree:
            if kind is _parser.LITERAL:
                parts = [chr(value)]
            elif kind in _CLASSES:
                members = self._members((kind, value))
                parts = [each for each in self._kinds.values() if each in members] or list(members[:1])
            elif kind is _parser.BRANCH:
                parts = [each for branch in value[1] for each in self.examples(branch)]
            elif kind is _parser.SUBPATTERN:
                parts = self.examples(value[3])
            elif kind in _REPEATS:
                least, _, body = value
                parts = [each * max(1, least) for each in self.examples(body)] + ([] if least else [""])
            elif isinstance(value, _parser.SubPattern):
                parts = self.examples(value)
            else:
                parts = [""]
            parts = parts or [""]  # no character of the alphabet is in the class
            # Each part in turn, with the first example of all others.
            found = [found[0] + part for part in parts] + [other + parts[0] for other in found[1:]]
        return list(dict.fromkeys(found))

    def repeats(self, tree: Iterable[Any], heads: list[str]) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the texts before each long repeat, and the texts that it repeats."""
        for node in tree:
            kind, value = node
            if kind in _REPEATS and value[1] > _SHORT:
                yield heads, self.examples(value[2])
            for below in self._below(node):
                yield from self.repeats(below, heads)
            if kind in {_parser.ASSERT, _parser.ASSERT_NOT, _parser.AT}:
                continue
            parts = self.examples([node])
            # Include the longest text, with all optional parts.
            few = list(dict.fromkeys([parts[0], max(parts, key=len), min(parts, key=len)]))
            heads = list(dict.fromkeys(head + part for head in heads for part in few))[:_FEW]
