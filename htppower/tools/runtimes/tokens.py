"""Tokens of source code, scripts and texts: names, texts, numbers and marks, without the comments.

A single scanner serves all languages; a language only defines its comments and quotes. No pattern fails after a long
match, and no end is searched twice, so the time is proportional to the size of the text, whatever its content.
"""

from __future__ import annotations

import enum
import os
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Kind(enum.Enum):
    """The kind of a token."""

    NAME = "a name"
    TEXT = "a text"
    NUMBER = "a number"
    MARK = "a mark"
    LINE = "the end of a line"


@attrs.frozen
class Token:
    """A single token.

    Attributes:
        kind: its kind.
        word: its spelling; for a text, the content between its quotes.
        start, end: the offsets of its first character in the whole text, and after its last.
        at: the offset of its word; for a text, the offset after the quote.
    """

    kind: Kind
    word: str
    start: int
    end: int
    at: int


@attrs.frozen
class Language:
    """The properties of a language that the scanner and its readers need.

    Attributes:
        pattern: one token, by the name of its group.
        has_lines: a text in single or double quotes may have several lines.
        is_commands: its lines are commands, or may be commands.
        braces_are_sets: braces around words without colons are a set of words.
    """

    pattern: re.Pattern[str]
    has_lines: bool = False
    is_commands: bool = False
    braces_are_sets: bool = False


_WORDS = r"""
| (?P<name>[^\W\d]\w*)
| (?P<number>\d[\w.]*)
| (?P<space>[^\S\n]+|\\\r?\n)
| (?P<line>\n)
| (?P<mark>=>|->|::|:=|===?|!==?|\?[.:?]|&&|\|\||[+\-*/%&|^<>]=|\.\.\.?|\\.|.)
"""
_PREFIX = r"(?P<prefix>(?i:u8r?|[rbuflt]{1,2}|[$@]{1,2})?\#{0,8})"
# The character literals of C. In Rust an apostrophe also marks a lifetime; in C++ it also separates digits.
_CHARACTER = r"(?P<character>'(?:\\[^\n][^'\n]{0,8}|[^'\\\n])')"
_BLOCK = r"(?P<open>/\*|^[ \t]*\#[ \t]*if[ \t]+0\b)"
# In a text of unknown language, a comment begins here: not inside a word or an address.
_APART = r"(?<![^\s;,(){}\[\]])"


def _language(comments: str, quotes: str, **more: bool) -> Language:
    text = rf"| {_PREFIX}(?P<quote>{quotes})"
    return Language(re.compile(comments + text + _WORDS, re.VERBOSE | re.MULTILINE), **more)


_TRIPLE = r'"""|\'\'\'|'
C_LIKE = _language(rf"(?P<comment>//[^\n]*)|{_BLOCK}|{_CHARACTER}", r'"""|\\"|"|`')
SCRIPT = _language(rf"(?P<comment>//[^\n]*)|{_BLOCK}", r'"""|\\"|["\'`]')
PYTHON = _language(r"(?P<comment>\#[^\n]*)", rf"{_TRIPLE}[\"']", braces_are_sets=True)
SHELL = _language(
    # The multi-line comment is PowerShell's.
    rf"(?P<open>{_APART}<\#(?!\S))|(?P<comment>{_APART}\#[^\n]*|^[ \t]*(?:::|(?i:rem)\b)[^\n]*)",
    r"\\[\"']|\"|(?<!\w)'",
    has_lines=True,
    is_commands=True,
)
# Any kind of text.
ANY = _language(
    rf"(?P<comment>{_APART}(?:\#|//)[^\n]*)|(?P<open>{_APART}/\*)", rf"{_TRIPLE}\\[\"']|\"|(?<!\w)'", is_commands=True
)
_SUFFIXES: Mapping[Language, str] = {
    C_LIKE: "c cc cpp cxx h hh hpp hxx m mm java kt kts cs rs go swift scala",
    SCRIPT: "js jsx mjs cjs ts tsx mts dart groovy gradle",
    PYTHON: "py pyi pyw",
    SHELL: "sh bash zsh fish bat cmd ps1 mk cmake env",
}
# More names of languages that a code block of Markdown may have, each with the suffix that it is read as.
_CALLED: Mapping[str, str] = {
    **dict.fromkeys(("c++", "kotlin", "csharp", "c#", "rust"), "cc"),
    **dict.fromkeys(("javascript", "typescript", "json", "jsonc"), "js"),
    **dict.fromkeys(("python", "python3"), "py"),
    **dict.fromkeys(("shell", "console", "batch", "powershell"), "sh"),
}
_BY_SUFFIX = {each: language for language, known in _SUFFIXES.items() for each in known.split()}
_FILES = {"makefile": SHELL, "dockerfile": SHELL, "cmakelists.txt": SHELL}
_CLOSES: Mapping[str, str] = {"/*": "*/", "<#": "#>"}
_OF_A_LINE: Mapping[str, re.Pattern[str]] = {
    quote: re.compile(rf"[^{quote}\\\n]*(?:\\[^\n][^{quote}\\\n]*|\\\n[^{quote}\\\n]*)*") for quote in "\"'"
}
_OF_LINES: Mapping[str, re.Pattern[str]] = {
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL),
    "'": re.compile(r"[^']*"),
}
# The delimiter before the parenthesis of a C++ raw string, which also closes it.
_DELIMITER = re.compile(r"[^()\\\s\"]{0,16}\(")


_KINDS: Mapping[str | None, Kind] = {"name": Kind.NAME, "number": Kind.NUMBER, "mark": Kind.MARK, "line": Kind.LINE}


def language_of(path: str) -> Language:
    """Return the language of a file by its name; ``ANY`` if the name does not show it."""
    name = os.path.basename(path).lower()
    return _FILES.get(name) or named(name.rpartition(".")[2])


def named(word: str) -> Language:
    """Return the language for a suffix or for the word of a code block; ``ANY`` for other words."""
    word = word.lower()
    return _BY_SUFFIX.get(_CALLED.get(word, word), ANY)


def tokens(text: str, start: int, end: int, language: Language) -> Iterator[Token]:
    """Yield the tokens of a part of a text."""
    match = language.pattern.match
    at = start
    # The end of the current line, if it was searched already.
    line_end = start - 1
    while at < end:
        found = match(text, at, end)
        if found is None:  # every character is at least a mark, but a type checker can't know that
            return
        group, first, at = found.lastgroup, at, found.end()
        if group in _KINDS:
            yield Token(_KINDS[group], found[0], first, at, first)
        elif group == "character":
            yield Token(Kind.TEXT, found[0][1:-1], first, at, first + 1)
        elif group == "open":
            # The end of #if 0 is the first #else, #elif or #endif.
            close = _CLOSES.get(found[0], "#e")
            at = min(_until(text, close, at, end) + len(close), end)
        elif group == "quote":
            if line_end < at:
                line_end = _until(text, "\n", at, end)
            inside, at = _text(text, found, end, line_end, language)
            yield Token(Kind.TEXT, text[slice(*inside)], first, at, inside[0])


def _until(text: str, what: str, at: int, end: int) -> int:
    found = text.find(what, at, end)
    return end if found < 0 else found


def _text(text: str, found: re.Match[str], end: int, line_end: int, language: Language) -> tuple[tuple[int, int], int]:
    """Return start and end of the content of a text, and the offset after it; an unclosed text ends with its line."""
    quote, prefix, at = found["quote"], found["prefix"], found.end()
    hashes = prefix.count("#")
    if prefix[-1:] == "R" and (raw := _DELIMITER.match(text, at, end)):
        close, at = f"){raw[0][:-1]}{quote}", raw.end()
        last = _until(text, close, at, end)
    elif len(quote) == 1 and quote != "`" and not hashes and not _is_raw(prefix, language):
        close = quote
        last = (_OF_LINES if language.has_lines else _OF_A_LINE)[quote].match(text, at, end).end()  # type: ignore[union-attr]
    else:
        close = quote + "#" * hashes
        last = _until(text, close, at, line_end if quote[0] == "\\" else end)
    if last < end and text.startswith(close, last):
        return (at, last), last + len(close)
    last = min(last, line_end)
    return (at, last), last


def _is_raw(prefix: str, language: Language) -> bool:
    """Return whether a backslash does not escape a quote: in verbatim texts of C#, and raw texts of Rust."""
    return "@" in prefix or (language is C_LIKE and "r" in prefix)
