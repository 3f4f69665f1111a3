"""The lines of a file, and the comments in them that hide a warning, with rule, date and reason.

    # htppower: disable=RPC-6 until=2027-03-01 because=the host polls only while its camera is open

On a line of its own, a suppression is for the whole file; after a value, for that line. Errors can't be hidden: the
file would still be refused when it is used. YAML itself keeps no comments.
"""

import codecs
import contextlib
import datetime
import itertools
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import yaml

from htppower.errors import Finding, Place, Severity, shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.extends import KEYS
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, read_regular_file
from htppower.profiles.strict_yaml import MOST_VALUES
from htppower.tools.review.lint.catalogue import CATALOGUE

# Annotations are not postponed here: a named tuple would compile each of its types anew, which slows the start.

# The group holds the text of the comment. A comment that only mentions htppower has no colon and disables nothing.
_COMMENT = r"#+\s*htppower(?P<said>\s*:.*|\s+(?:disable|until|because)\b.*)$"
# The beginning of such a comment. A search for it checks each run of # once, however many there are.
_BEGIN = r"(?:^|(?<=\s))#(?=#*\s*htppower(?:\s*:|\s+(?:disable|until|because)\b))"

# A place after the end of every file.
_END = (sys.maxsize, 0)
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LINE_BREAK = r"\r\n|[\n\r\x85\u2028\u2029]"
# The report repeats the line for every finding on it, so a longer excerpt does not help.
_LONGEST_EXCERPT = 200
# Each word ends at a space or at the end, so that a run of spaces or letters matches in only one way.
_WORDS = r"\s*:\s*(?:disable=(?P<rules>\S*)(?:\s+|$))?(?:until=(?P<until>\S*)(?:\s+|$))?(?:because=(?P<why>.*))?$"
_RULE, _DATE, _WHY = "RPC-6", "2027-03-01", "..."


class Lines(NamedTuple):
    """A file in lines.

    Attributes:
        path: the file, as the user wrote it.
        lines: its lines; none if it can't be read, or is larger than any profile.
        comments: line and column of the comments for htppower in it.
    """

    path: str
    lines: tuple[str, ...]
    comments: tuple[tuple[int, int], ...]

    @property
    def look_ours(self) -> bool:
        """Whether a line begins with a key that only a profile or power state has at its top."""
        return any(line.partition(":")[0].strip("-\"' ") in KEYS for line in self.lines)

    def excerpt(self, line: int, column: int) -> tuple[str, int]:
        """Return a line, or the part of it around a column if it is very long, and the column within that."""
        if not 0 < line <= len(self.lines):
            return "", column
        text = self.lines[line - 1]
        if len(text) <= _LONGEST_EXCERPT:
            return text, column
        start = max(0, column - 1 - _LONGEST_EXCERPT // 2)
        return text[start : start + _LONGEST_EXCERPT], column - start


def read_lines(path: str, given: bytes | None = None) -> Lines:
    """Return the lines of a file, or of the content ``given`` instead of it."""
    data = given or b""
    with contextlib.suppress(OSError, ValueError):
        data = read_regular_file(path) if given is None else given
    if not data or len(data) > LARGEST_FILE_BYTES:
        return Lines(path, (), ())
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    # The pattern takes long to compile, and most files can be split without it.
    plain = text.isascii() and "\r" not in text
    lines = tuple(text.split("\n") if plain else re.split(LINE_BREAK, text))
    return Lines(path, lines, tuple(comments_for_htppower(text, lines)))


def comment_at(line: str, start: int) -> re.Match[str] | None:
    """Return the comment for htppower that begins at a 0-based column of a line. The group holds its text."""
    return re.compile(_COMMENT, re.IGNORECASE).match(line, start)


def comments_for_htppower(text: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the 1-based line and column of the comments for htppower that are not part of a value.

    At most as many are read as a file may have values.
    """
    values = _values(text)
    first = last = (0, 0)
    told = 0
    begins = (
        (number, match.start() + 1)
        for number, line in enumerate(lines, 1)
        # The pattern takes long to compile, and most files can be split without it.
        for match in (re.finditer(_BEGIN, line, re.IGNORECASE) if "htppower" in line.lower() else ())
    )
    for line, column in itertools.islice(begins, MOST_VALUES):
        while last <= (line, column):
            first, last = next(values, (_END, _END))
        if line != told and not first <= (line, column) < last:
            told = line
            yield line, column


def _values(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the start and end of every plain key and value, as far as the text is YAML that can be a profile."""
    try:
        scalars = (event for event in yaml.parse(text, Loader=_LOADER) if isinstance(event, yaml.ScalarEvent))
        for event in itertools.islice(scalars, 2 * MOST_VALUES):
            start, end = event.start_mark, event.end_mark
            if start is not None and end is not None:
                yield (start.line + 1, start.column + 1), (end.line + 1, end.column + 1)
    except yaml.YAMLError:
        return


class Found(NamedTuple):
    """A finding, and the files whose suppressions may hide it.

    Attributes:
        finding: the finding, at its place.
        about: the file whose examination found it. The value may be written in another file, which that one extends.
        written: file and line of the value; not the finding's place if that file is not linted itself.
    """

    finding: Finding
    about: str
    written: tuple[str, int] | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files whose suppressions may hide it."""
        return (self.finding.path, self.about, *(self.written or ())[:1])


class Suppression(NamedTuple):
    """One suppression.

    Attributes:
        place: its place.
        rules: the ids of the rules whose findings it hides.
        until: the last day of its validity, in UTC.
        because: the reason.
        line_only: whether it is only for the findings of its own line.
    """

    place: Place
    rules: tuple[str, ...]
    until: datetime.date
    because: str
    line_only: bool

    def lifts(self, found: Found) -> bool:
        """Return whether it is about this finding, apart from its date.

        A line suppression matches the finding's line, or the line where the value is written. A file suppression
        matches what was found in that file, wherever the value is written.
        """
        if found.finding.rule not in self.rules:
            return False
        if self.line_only:
            return (self.place.path, self.place.line) in ((found.finding.path, found.finding.line), found.written)
        return self.place.path in found.paths


class Suppressed(NamedTuple):
    """A finding that a suppression in a file hides."""

    finding: Finding
    suppression: Suppression


class Linted(NamedTuple):
    """The result of lint for one extension file or device model.

    Attributes:
        findings: its faults, in the order of its text.
        suppressions: its suppressions.
        wrong: faults of suppressions.
        lines: its lines.
    """

    findings: tuple[Finding, ...]
    suppressions: tuple[Suppression, ...]
    wrong: tuple[Found, ...]
    lines: "Lines"


def read_suppressions(files: "Iterable[Lines]") -> tuple[list[Suppression], list[Found]]:
    """Return the suppressions of files, and the findings about those that are not well-formed."""
    suppressions: list[Suppression] = []
    findings: list[Found] = []
    for file in files:
        for line, column in file.comments:
            text = file.lines[line - 1]
            found = comment_at(text, column - 1)
            if found is not None:
                is_behind = bool(text[: column - 1].strip())
                made = from_words(Place(file.path, line, column), found["said"], line_only=is_behind)
                if isinstance(made, Found):
                    findings.append(made)
                else:
                    suppressions.append(made)
    return suppressions, findings


def from_words(place: Place, said: str, *, line_only: bool = False) -> Suppression | Found:
    """Return a suppression from its words, or the finding about them; by default for the whole file."""
    words = re.match(_WORDS, said)
    if words is None or words["rules"] is None:
        message = f"{shortened(said.strip(' :'))!r} is not a suppression"
        return _found(place, "SUP-1", message, f"write {_line(_RULE, _DATE, _WHY)}")
    rules, until, why = words["rules"], words["until"], (words["why"] or "").strip()
    last_day = _date(until or "")
    for wrong in filter(None, map(_wrong_rule, rules.split(","))):
        return _found(place, "SUP-1", *wrong)
    if not until:
        hint = f"write until when: {_line(rules, _DATE, shortened(why) or _WHY)}"
        return _found(place, "SUP-1", "no date", hint)
    if last_day is None:
        return _found(place, "SUP-1", f"{until!r} is not a date", f"write it as {_DATE}")
    if not why.strip(" ."):
        return _found(place, "SUP-1", "no reason", f"write why: {_line(rules, until, _WHY)}")
    return Suppression(place, tuple(rules.split(",")), last_day, why, line_only)


def apply(
    findings: Iterable[Found],
    suppressions: Iterable[Suppression],
    inherited: Iterable[Suppression],
    today: datetime.date,
    *,
    unchecked: Collection[str] = (),
    unread: Collection[str] = (),
) -> tuple[list[Found], list[Suppressed]]:
    """Return the remaining findings, with findings about the suppressions, and the suppressed findings.

    Inherited suppressions are in files that the linted ones extend. They hide findings, and are not checked themselves.
    A suppression that hides nothing is not reported if its rule is ``unchecked``, or if it is in an ``unread`` file.
    """
    suppressions = tuple(suppressions)
    by_path: dict[str, list[Suppression]] = {}
    for suppression in (*suppressions, *inherited):
        by_path.setdefault(suppression.place.path, []).append(suppression)
    left, lifted = [], []
    used: set[tuple[Suppression, str]] = set()
    for found in findings:
        lifting = [each for path in dict.fromkeys(found.paths) for each in by_path.get(path, ()) if each.lifts(found)]
        used |= {(suppression, found.finding.rule) for suppression in lifting}
        in_time = [suppression for suppression in lifting if today <= suppression.until]
        if in_time:
            lifted.append(Suppressed(found.finding, in_time[0]))
        else:
            left.append(found)
    for suppression in suppressions:
        unused = [rule for rule in suppression.rules if (suppression, rule) not in used and rule not in unchecked]
        if unused and suppression.place.path not in unread:
            where = "on this line" if suppression.line_only else "in this file"
            message = f"no finding of {', '.join(unused)} {where}"
            left.append(_found(suppression.place, "SUP-3", message, "delete the suppression"))
        elif today > suppression.until:
            message = f"the suppression of {', '.join(suppression.rules)} expired on {suppression.until}"
            hint = "fix the cause of the finding, or give a new date and reason"
            left.append(_found(suppression.place, "SUP-2", message, hint))
    return left, lifted


def _found(place: Place, rule: str, message: str, hint: str) -> Found:
    return Found(Finding(rule, (), message, hint, severity=CATALOGUE[rule].severity, place=place), place.path)


def _wrong_rule(rule: str) -> tuple[str, str] | None:
    if rule not in CATALOGUE:
        warnings = [entry.id for entry in CATALOGUE.values() if entry.severity is Severity.WARNING]
        return f"no rule {rule!r}", did_you_mean(rule, warnings)
    if CATALOGUE[rule].severity is not Severity.WARNING:
        return f"{rule} is not a warning, and only warnings can be suppressed", "mend what it is about"
    return None


def _date(text: str) -> datetime.date | None:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _line(rules: str, until: str, why: str) -> str:
    """Return a suppression as it is written."""
    return f"# htppower: disable={rules} until={until} because={why}"
