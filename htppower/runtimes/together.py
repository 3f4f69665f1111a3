"""Which pairs of key and value in code belong together: those of one literal, or of calls on one object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPENED_BY = {")": "(", "]": "[", "}": "{"}
# Strings are passed over as a whole; a function of Python's begins a body, in which a name is another object.
_TOKEN = re.compile(
    r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[][(){}]|^[ \t]*(?:async[ \t]+)?def[ \t]""", re.MULTILINE
)
# What a key is given to: options["key"], options.add_run_config_entry("key".
_OBJECT = re.compile(r"([\w.\->]*?)(?:(?:\.|->)?\w+\(|\[)")
_NO_NAME = re.compile(r"[^\w.\->]")
_LONGEST_OBJECT = 200
# A list of pairs in a call has few brackets around it.
_MOST_AROUND = 8


def groups(text: str, pairs: Iterable[re.Match[str]]) -> Iterator[tuple[str, ...]]:
    """Yield for each pair of a text, in its order, what it has in common with those that it belongs to.

    A key that is there already begins another group, such as the options of a second run.
    """
    tokens = _TOKEN.finditer(text)
    token = next(tokens, None)
    stack: list[tuple[str, int]] = []
    body = 0
    numbers: dict[tuple[str, ...], int] = {}
    seen: set[tuple[str, ...]] = set()
    for pair in pairs:
        while token is not None and token.start() < pair.start():
            word = token[0]
            if word in "([{":
                stack.append((word, token.start()))
            elif word in _OPENED_BY:
                if stack and stack[-1][0] == _OPENED_BY[word]:
                    stack.pop()
            elif word[0] not in "\"'":
                body = token.start()
            token = next(tokens, None)
        group = (f"literal {_literal(text, pair, stack)}", f"body {body}", _object(text, pair))
        number = numbers.get(group, 0)
        if (*group, str(number), pair["key"]) in seen:
            number += 1
            numbers[group] = number
        seen.add((*group, str(number), pair["key"]))
        yield (*group, str(number))


def _literal(text: str, pair: re.Match[str], stack: list[tuple[str, int]]) -> int:
    """Return where the literal or block around a pair begins; -1 where there is none."""
    for bracket, start in stack[: -_MOST_AROUND - 1 : -1]:
        only_the_pair = not text[start + 1 : pair.start()].strip() and _is_closed(text, pair, bracket)
        if bracket != "(" and not only_the_pair:
            return start
    return -1


def _is_closed(text: str, pair: re.Match[str], bracket: str) -> bool:
    """Return whether a bracket right before a pair is of a subscript, or of one pair in a list of C++."""
    if bracket == "[":
        return "]" in pair[0]
    behind = text[pair.end() : pair.end() + 8].lstrip("\"' \t")
    return "," in pair[0] and behind.startswith("}")


def _object(text: str, pair: re.Match[str]) -> str:
    """Return what a key is given to by a call or a subscript; empty in a literal."""
    before = text[max(0, pair.start() - _LONGEST_OBJECT) : pair.start()].rstrip()
    if not before.endswith(("(", "[")):
        return ""
    # From the end: a search from the start would try each place of a long text.
    other = _NO_NAME.search(before[-2::-1])
    found = _OBJECT.fullmatch(before if other is None else before[len(before) - 1 - other.start() :])
    return "" if found is None else found[1]
