"""Settings in any text: source code, command lines, code blocks of Markdown, notebooks, TOML, and MLPerf's pbtxt."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import attrs

from htppower.tools.extensions.json_text import PlacedText
from htppower.tools.runtimes.brackets import grouped, is_template
from htppower.tools.runtimes.code_settings import CodeReader, placed
from htppower.tools.runtimes.command_lines import LISTS, SPOKEN, Setting, items, of_line, prints
from htppower.tools.runtimes.statements import MISTAKEN, Said, Statement, is_of
from htppower.tools.runtimes.tokens import ANY, SHELL, Kind, Token, language_of, tokens
from htppower.tools.runtimes.voting_settings import OPTIONS, OTHER_OPTIONS, Where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.tools.runtimes.tokens import Language

TOML = "LiteRT's options in TOML"
PBTXT = "MLPerf's settings"
OTHER = "a text"

# Source code of 1 MiB has fewer words; reading more would take many seconds.
_MOST_TOKENS = 300_000
# The depth of a text in a text in a script.
_DEEPEST = 3
# If this does not match a text, the text has no settings.
_WORTH = re.compile(r"htp|rpc_|perf|power-mode|_options|QNN|custom_setting", re.IGNORECASE)
_MODE = re.compile(r"perf(?:ormance)?_?mode", re.IGNORECASE)
_TOML_LINE = re.compile(r"^[ \t]*(?P<key>[\w.-]+)[ \t]*=[ \t]*(?P<quote>[\"']?)(?P<value>[^\"'\n#]*)", re.MULTILINE)
_LATENCY = "rpc_control_latency"
_SECTION = re.compile(r"^[ \t]*\[", re.MULTILINE)
_TOML_ONLY = re.compile(r"[ \t]*(?:[#;].*|\[[^\]]*\][ \t]*|[\w.-]+[ \t]*=.*)?\r?")


@attrs.frozen(repr=False, eq=False)
class Code(PlacedText):
    """A text that may have settings in code."""

    @functools.cached_property
    def names_a_mode(self) -> bool:
        """Whether any mode is named, which may be the mode of a provider."""
        return _MODE.search(self.text) is not None


class TooMany(Exception):  # noqa: N818 - the reader of files makes a finding of it
    """A text has more items than are read."""


def said_by_text(given: str, path: str) -> Said:
    """Return the voting settings of a text.

    Raises:
        TooMany: it has more words or settings than are read.
    """
    text = Code(path, given)
    if _WORTH.search(given) is None:
        return Said()
    language = language_of(path)
    statements = list(_of_toml(text)) if language is ANY else []
    if statements:
        return Said(tuple(statements), form=TOML if statements[0].where is Where.LITERT_TOML else OTHER)
    return said_by_part(text, 0, len(given), language)


def said_by_part(text: Code, start: int, end: int, language: Language) -> Said:
    """Return the settings of a part of a text in a language."""
    found, open_values, providers = [], [], []
    for each in _of_code(text, start, end, language, 0):
        if isinstance(each, Statement):
            found.append(each)
        elif each[0]:
            open_values.append((each[0], text.place(each[1])))
        elif not text.names_a_mode:
            providers.append(text.place(each[1]))
    unique = {(each.place, each.where): each for each in found}
    statements = tuple(sorted(unique.values(), key=lambda each: (each.place.line, each.place.column)))
    form = PBTXT if any(each.where is Where.MLPERF for each in statements) else OTHER
    return Said(
        statements, form=form if statements else "", open_values=tuple(open_values), without_mode=tuple(providers)
    )


def _of_toml(text: PlacedText) -> Iterator[Statement]:
    if not all(map(_TOML_ONLY.fullmatch, text.text.split("\n"))):
        return
    lines = list(_TOML_LINE.finditer(text.text))
    # LiteRT's options have no sections and are numbers. A name in a section, or next to an option of ONNX Runtime's
    # provider, belongs to a host's own configuration for that provider.
    of_provider = _SECTION.search(text.text) is not None or any(
        each["key"] in (_LATENCY, *OTHER_OPTIONS) for each in lines
    )
    for found in lines:
        value = found["value"].rstrip()
        is_of_provider = of_provider and (found["key"] == _LATENCY or not value.isdecimal())
        key = (Where.PROVIDER if is_of_provider else Where.LITERT_TOML, found["key"])
        if (key in OPTIONS or key in MISTAKEN) and not is_template(value):
            at = found.start("key"), found.start("value")
            yield Setting(*key, value, *at, quoted=bool(found["quote"])).statement(text, "toml")


def joined(parts: list[Said]) -> Said:
    """Return the combined settings of several parts of a text."""
    statements = tuple(each for part in parts for each in part.statements)
    return Said(
        statements,
        form=next((part.form for part in parts if part.form), ""),
        open_values=tuple(each for part in parts for each in part.open_values),
        without_mode=tuple(each for part in parts for each in part.without_mode),
    )


def _of_code(
    text: PlacedText, start: int, end: int, language: Language, depth: int
) -> Iterator[Statement | tuple[str, int]]:
    """Yield the settings of a part, keys whose values are not literals, and providers without a mode (without key)."""
    read: Iterable[Token] = _limited(tokens(text.text, start, end, language))
    if language.is_commands:
        lines = [line for line in _lines(read) if not prints(text.text, line)]
        for line in lines:
            for found in of_line(text.text, line):
                yield found.statement(text, f"line {text.place(line[0].start).line}")
        read = [token for line in lines for token in line]
    reader = CodeReader(language, of_qnn="qnn" in text.text[start:end].lower())
    reader.read(grouped(read, language))
    yield from (("", at) for at in reader.provider)
    for each, where, group in placed(reader.found):
        if each.key in LISTS and each.value is not None:
            for item in items(text.text, each.value.at, each.value.at + len(each.value.word), where):
                yield item.statement(text, *group)
        elif not is_of(where, each.key):
            continue
        elif each.value is None:
            yield each.key, each.key_at
        else:
            value = each.value
            yield Setting(where, each.key, value.word, each.key_at, value.at, value.quoted).statement(text, *group)
    for token in reader.texts if depth < _DEEPEST else ():
        yield from _of_inside(text, token.at, token.at + len(token.word), depth)


def _of_inside(text: PlacedText, start: int, end: int, depth: int) -> Iterator[Statement | tuple[str, int]]:
    """Yield the settings within a text: of a command line, of a list of settings, or of code."""
    if SPOKEN.search(text.text, start, end) is not None:
        yield from _of_code(text, start, end, SHELL, depth + 1)


def _limited(read: Iterator[Token]) -> Iterator[Token]:
    for number, token in enumerate(read):
        if number == _MOST_TOKENS:
            raise TooMany(f"{_MOST_TOKENS} words and marks")
        yield token


def _lines(read: Iterable[Token]) -> Iterator[list[Token]]:
    line: list[Token] = []
    for token in read:
        line.append(token)
        if token.kind is Kind.LINE:
            yield line
            line = []
    yield line
