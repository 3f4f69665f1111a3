"""Mends for faults with only one right mend: a word whose meaning is certain, and a suppression that hides nothing.

Only the wrong characters change, so that comments and layout stay. Each mend is tried: the files are linted with all
mends applied, and a mend that leaves an error at its place is dropped.
"""

from __future__ import annotations

import codecs
import difflib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from htppower.profiles.regular_file import read_regular_file
from htppower.profiles.yaml_words import decimal, in_us, truth
from htppower.rules.rule import Family
from htppower.tools.review.file_kinds import begins_as_json
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.profile_findings import STDIN
from htppower.tools.review.lint.suppressions import LINE_BREAK, comment_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from htppower.errors import Finding
    from htppower.tools.review.lint.run import LintReport

    Lint = Callable[[Mapping[str, bytes]], LintReport]

# A mend may let lint find faults that were hidden before.
_MOST_ROUNDS = 10
# The families of the rules that decide whether a value can be read.
_OF_READING = ("YAML-", "TYPE-", "VALUE-", "KEY-", "NAME-", "HMX-8")
_TAG = re.compile(r"!!(?:str|int|float|bool|null|map|seq)[ \t]+")
_MEANT = re.compile(r"did you mean (?P<word>[\w.-]+)\?")
_WORD = re.compile(r"write (?P<word>[A-Z][A-Z0-9_]+)")
_UNUSED = re.compile(r"no finding of (?P<rules>.*) (?:on this line|in this file)")


class Mend(NamedTuple):
    """The characters of a file from start to end, and what replaces them."""

    finding: Finding
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        """Return the mend as a line."""
        said = f"{self.old} -> {self.new}" if self.new else f"{self.old} deleted"
        return f"{self.finding.place}: {self.finding.rule} mended: {said}"


def mend(lint: Lint) -> tuple[dict[str, bytes], tuple[Mend, ...]]:
    """Return the new contents of the files that can be mended, and every mend, in order.

    ``lint`` is called with the contents to use instead of files. Nothing is written.
    """
    texts: dict[str, bytes] = {}
    done: list[Mend] = []
    for _ in range(_MOST_ROUNDS):
        report = lint(texts)
        found = {path: mends for path in report.files if (mends := _mends(path, report, texts))}
        while found:
            after = lint({**texts, **{path: _applied(path, mends, texts) for path, mends in found.items()}})
            right = {path: _right(path, mends, after, texts) for path, mends in found.items()}
            if right == found:
                break
            found = {path: mends for path, mends in right.items() if mends}
        if not found:
            break
        for path, mends in found.items():
            texts[path] = _applied(path, mends, texts)
            done += mends
    return texts, tuple(done)


def difference(path: str, content: bytes) -> str:
    """Return the difference that a mended content makes to a file, as a unified diff."""
    old, new = (_read(path, texts)[1].splitlines(keepends=True) for texts in ({}, {path: content}))
    parts = difflib.unified_diff(old, new, path, path)
    # The last line of a file may have no line end.
    return "".join(part if part.endswith("\n") else f"{part}\n\\ No newline at end of file\n" for part in parts)


def _mends(path: str, report: LintReport, texts: Mapping[str, bytes]) -> list[Mend]:
    """Return the possible mends of a file, in the order of its text."""
    findings = [found for found in report.findings if found.path == path]
    if any(CATALOGUE[found.rule].family is Family.EXTENSION for found in findings) or begins_as_json(
        path, texts.get(path)
    ):
        # Extension files are mended by hand: their suppressions are not comments.
        return []
    # A file that must not be quoted is not changed either: a link may lead out of the folders being used. A file
    # without lines can't be read, or is too large for a profile.
    quotable = report.lines.get(path)
    if path == STDIN or not findings or quotable is None or not quotable.lines:
        return []
    _, text = _read(path, texts)
    scalars = dict(_scalars(text))
    lines = _line_starts(text)
    mends: dict[int, Mend] = {}
    for finding in findings:
        if not 0 < finding.line <= len(lines):
            continue
        start = lines[finding.line - 1] + finding.column - 1
        made = _of_suppression(finding, text, start) if finding.rule == "SUP-3" else None
        made = made or _of_value(finding, text, start, scalars.get(start))
        if made is not None:
            mends.setdefault(made.start, made)
    return [mends[start] for start in sorted(mends)]


def _of_value(finding: Finding, text: str, start: int, scalar: Any) -> Mend | None:
    tag = _TAG.match(text, start) if finding.rule == "YAML-5" else None
    if tag is not None:
        return Mend(finding, start, tag.end(), tag.group().strip(), "")
    if scalar is None:
        return None
    end = scalar.end_mark.index
    new = _meant(finding, scalar)
    return None if new is None else Mend(finding, start, end, text[start:end], new)


def _meant(finding: Finding, scalar: Any) -> str | None:
    """Return the word that is certainly meant by a refused word, if there is one."""
    said: str = scalar.value
    # For a number or an enumerator of the vendor's header, the hint names the word.
    word = _WORD.fullmatch(finding.hint)
    if word is not None:
        return word["word"]
    if finding.rule == "YAML-3":
        # The meaning of the word depends on its field, which the hint knows.
        return f'"{said}"' if finding.hint == "quote the word" else truth(said) or decimal(said)
    if finding.rule == "TYPE-1":
        if scalar.style and (said in {"true", "false"} or decimal(said) == said):
            return said
        whole = re.fullmatch(r"(0|[1-9][0-9]*)\.0+", said)
        return whole[1] if whole else in_us(said) if finding.at and finding.at[-1].endswith("_us") else None
    meant = _MEANT.search(finding.hint)
    alike = meant is not None and said.lower().replace("-", "_") == meant["word"].lower()
    return meant["word"] if meant is not None and alike and finding.rule.startswith(_OF_READING) else None


def _of_suppression(finding: Finding, text: str, start: int) -> Mend | None:
    """Return the mend of a suppression if some of its rules, or all, hide nothing."""
    comment = comment_at(text[start : _end_of_line(text, start)].rstrip("\r"), 0)
    unused = _UNUSED.match(finding.message)
    named = None if comment is None else re.search(r"disable=(\S*)", comment.group())
    if comment is None or unused is None or named is None:
        return None
    rules = named[1].split(",")
    left = [rule for rule in rules if rule not in unused["rules"].split(", ")]
    if left:
        begin = start + named.start(1)
        return Mend(finding, begin, begin + len(named[1]), named[1], ",".join(left))
    end = start + len(comment.group())
    begin = start
    while begin and text[begin - 1] in " \t":
        begin -= 1
    line_break = re.compile(LINE_BREAK).match(text, end)
    if (begin == 0 or text[begin - 1] in "\r\n") and line_break:
        end = line_break.end()
    return Mend(finding, begin, end, text[start : start + len(comment.group())], "")


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer(LINE_BREAK, text))]


def _scalars(text: str) -> Iterator[tuple[int, Any]]:
    """Yield every key and value that is a word, with its start, as far as the text is YAML."""
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.ScalarEvent) and event.start_mark is not None:
                yield event.start_mark.index, event
    except yaml.YAMLError:
        return


def _read(path: str, texts: Mapping[str, bytes]) -> tuple[bytes, str]:
    """Return the byte order mark of a file, which may be empty, and its text."""
    data = texts.get(path)
    if data is None:
        data = read_regular_file(path)
    text = data.removeprefix(codecs.BOM_UTF8)
    return data[: len(data) - len(text)], text.decode("utf-8", "surrogateescape")


def _applied(path: str, mends: Iterable[Mend], texts: Mapping[str, bytes]) -> bytes:
    """Return the content of a file with these mends applied."""
    mark, text = _read(path, texts)
    for each in sorted(mends, key=lambda each: each.start, reverse=True):
        text = f"{text[: each.start]}{each.new}{text[each.end :]}"
    return mark + text.encode("utf-8", "surrogateescape")


def _right(path: str, mends: Sequence[Mend], after: LintReport, texts: Mapping[str, bytes]) -> list[Mend]:
    """Return the mends that leave no error of reading at their place, and remove their finding."""
    _, text = _read(path, {path: _applied(path, mends, texts)})
    lines = _line_starts(text)
    wrong = {
        lines[found.line - 1] + found.column - 1
        for found in after.findings
        if found.path == path and found.rule.startswith((*_OF_READING, "SUP-")) and 0 < found.line <= len(lines)
    }
    grown = 0
    right = []
    for each in mends:
        if each.start + grown not in wrong:
            right.append(each)
        grown += len(each.new) - (each.end - each.start)
    return right
