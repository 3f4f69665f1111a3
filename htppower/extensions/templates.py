"""Templates of extension files: JSON with placeholders, each read as a text."""

from __future__ import annotations

import re

from htppower.profiles.paths import TEMPLATES

# {{X}}, ${X}, $X, <X>, @X@, %X%, and ERB's <%= X %>. Each is short and has no bracket of its own within, so that any
# text is searched quickly.
_PLACEHOLDER = re.compile(
    r"\{\{[^{}]{0,200}\}\}|\$\{[^{}\n]{0,200}\}|\$[A-Za-z_]\w{0,100}|<%=[^%]{0,200}%>|<[A-Za-z_][\w. -]{0,100}>"
    r"|@[A-Za-z_][\w.-]{0,100}@|%[A-Za-z_][\w.-]{0,100}%"
)
# What Jinja, Mustache and ERB decide by, and their comments: these stand for nothing.
_STATEMENT = re.compile(r"\{%[^%]{0,500}%\}|\{#[^#]{0,2000}#\}|\{\{[#/^!>][^{}]{0,200}\}\}|<%(?!=)[^%]{0,500}%>")
# A text, which may lack its end; a comma that a loop leaves behind; a placeholder by itself, or a word in capitals.
_PARTS = re.compile(
    r'(?P<text>"(?:[^"\\\n]|\\.)*"?)|(?P<comma>,(?=\s*[\]}]))'
    rf"|(?:{_PLACEHOLDER.pattern}|\b[A-Z][A-Z0-9_]{{2,100}}\b)+"
)


def is_template(path: str) -> bool:
    """Return whether a file is a template by its name."""
    return path.lower().endswith(TEMPLATES)


def has_statements(text: str) -> bool:
    """Return whether a template decides by statements what stands in it, so that no reading shows what it becomes."""
    return _STATEMENT.search(text) is not None


def placeholder_in(text: str, start: int, end: int) -> str:
    """Return the placeholder or statement in a part of a template; empty if there is none."""
    found = _PLACEHOLDER.search(text, start, end) or _STATEMENT.search(text, start, end)
    if found is not None:
        return found[0]
    # A word in capitals stands without quotes.
    return "" if text.startswith('"', start) else text[start:end]


def filled(text: str) -> str:
    """Return a template as JSON of the same length: a placeholder by itself is a text, and a statement is left out."""
    return _PARTS.sub(_instead, _STATEMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _instead(found: re.Match[str]) -> str:
    if found["text"] is not None:
        return found[0]
    return _blank(found) if found["comma"] is not None else f'"{"x" * (len(found[0]) - 2)}"'
