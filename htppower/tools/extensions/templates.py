"""Templates of extension files: JSON with placeholders; each placeholder is read as a text."""

from __future__ import annotations

import re

from htppower.profiles.paths import TEMPLATES

# {{X}}, ${X}, $X, <X>, @X@, %X%, and ERB's <%= X %>. Each is short and has no bracket of its own inside, so that any
# text is searched quickly.
_PLACEHOLDER = re.compile(
    r"\{\{[^{}]{0,200}\}\}|\$\{[^{}\n]{0,200}\}|\$[A-Za-z_]\w{0,100}|<%=[^%]{0,200}%>|<[A-Za-z_][\w. -]{0,100}>"
    r"|@[A-Za-z_][\w.-]{0,100}@|%[A-Za-z_][\w.-]{0,100}%"
)
# Statements of Jinja, Mustache and ERB, and their comments: these have no value.
_STATEMENT = re.compile(r"\{%[^%]{0,500}%\}|\{#[^#]{0,2000}#\}|\{\{[#/^!>][^{}]{0,200}\}\}|<%(?!=)[^%]{0,500}%>")
# A text, maybe without its closing quote; a comma that a loop leaves; a lone placeholder, or a word in capitals.
_PARTS = re.compile(
    r'(?P<text>"(?:[^"\\\n]|\\.)*"?)|(?P<comma>,(?=\s*[\]}]))'
    rf"|(?:{_PLACEHOLDER.pattern}|\b[A-Z][A-Z0-9_]{{2,100}}\b)+"
)


def is_template(path: str) -> bool:
    """Return whether the name of a file marks it as a template."""
    return path.lower().endswith(TEMPLATES)


def has_statements(text: str) -> bool:
    """Return whether a template has statements that determine its content, so that the result is unknown."""
    return _STATEMENT.search(text) is not None


def placeholder_in(text: str, start: int, end: int) -> str:
    """Return the placeholder or statement in a part of a template; empty without one."""
    found = _PLACEHOLDER.search(text, start, end) or _STATEMENT.search(text, start, end)
    if found is not None:
        return found[0]
    # A word in capitals has no quotes.
    return "" if text.startswith('"', start) else text[start:end]


def filled(text: str) -> str:
    """Return a template as JSON of the same length: a lone placeholder becomes a text, a statement becomes spaces."""
    return _PARTS.sub(_instead, _STATEMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _instead(found: re.Match[str]) -> str:
    if found["text"] is not None:
        return found[0]
    return _blank(found) if found["comma"] is not None else f'"{"x" * (len(found[0]) - 2)}"'
