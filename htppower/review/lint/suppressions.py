"""Suppressions: comments in a file that lift a warning, with rule, date and reason.

    # htppower: disable=RPC-6 until=2027-03-01 because=the host polls only while its camera is open

On a line of its own a suppression is for the whole file; behind a value, for that line. What can't be lifted is an
error: the file would be refused when it is used, whatever its comments say.
"""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.mistakes import did_you_mean
from htppower.review.lint.catalogue import CATALOGUE, Severity
from htppower.review.lint.comments import COMMENT
from htppower.review.lint.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from htppower.review.lint.lines import Lines

_WORDS = re.compile(
    r"\s*:\s*(?P<disable>disable=(?P<rules>\S*))?\s*(?:until=(?P<until>\S*))?\s*(?:because=(?P<why>.*))?$"
)
_FORM = "# htppower: disable=RPC-6 until=2027-03-01 because=..."


@attrs.frozen(eq=False)
class Suppression:
    """One suppression.

    Attributes:
        path, line, column: where it stands.
        rules: the ids of the rules whose findings it lifts.
        until: the last day on which it holds, in UTC.
        because: the reason.
        line_only: it is for the findings of its own line.
        excerpt: the line on which it stands, or a part of it, and its column in that.
    """

    path: str
    line: int
    column: int
    rules: tuple[str, ...]
    until: datetime.date
    because: str
    line_only: bool
    excerpt: tuple[str, int] = ("", 1)

    def finding(self, rule: str, message: str, hint: str) -> Finding:
        """Return a finding about the suppression itself."""
        return Finding(self.path, self.line, self.column, rule, message, hint, *self.excerpt, about=self.path)

    def lifts(self, finding: Finding) -> bool:
        """Return whether it is about this finding, its date aside.

        A finding is at its place, and where its value is written; what is found in a file is about that file, wherever
        the value is written.
        """
        if finding.rule not in self.rules:
            return False
        if self.line_only:
            return (self.path, self.line) in ((finding.path, finding.line), finding.written)
        return self.path in (finding.path, finding.about, finding.written[0])


@attrs.frozen(repr=False, eq=False)
class Suppressed:
    """A finding that a suppression in a file lifts."""

    finding: Finding
    suppression: Suppression


def read_suppressions(files: Iterable[Lines]) -> tuple[list[Suppression], list[Finding]]:
    """Return the suppressions of files, and what is wrong with those that are not well-formed."""
    suppressions, findings = [], []
    for file in files:
        for line, column in file.comments:
            text = file.lines[line - 1]
            found = COMMENT.match(text, column - 1)
            place = (str(file.path), line, column)
            wrong = _wrong(found["said"]) if found is not None else None
            if wrong is not None:
                findings.append(Finding(*place, "SUP-1", *wrong, *file.excerpt(line, column), about=place[0]))
            elif found is not None:
                own_line = not text[: column - 1].strip()
                suppressions.append(_suppression(place, found["said"], file.excerpt(line, column), not own_line))
    return suppressions, findings


def apply(
    findings: Iterable[Finding],
    suppressions: Iterable[Suppression],
    inherited: Iterable[Suppression],
    today: datetime.date,
    *,
    unchecked: Collection[str] = (),
    unread: Collection[str] = (),
) -> tuple[list[Finding], list[Suppressed]]:
    """Return the findings that are left, with those about the suppressions, and those that are lifted.

    Args:
        findings: of all files.
        suppressions: of the files that are linted.
        inherited: of the files that these extend; they lift, and nothing is said of them.
        today: the date, in UTC.
        unchecked: rules of which nothing can be said where they are not found.
        unread: files in which rules were left out, likewise.
    """
    suppressions = tuple(suppressions)
    by_path: dict[str, list[Suppression]] = {}
    for suppression in (*suppressions, *inherited):
        by_path.setdefault(suppression.path, []).append(suppression)
    left, lifted = [], []
    used: set[tuple[Suppression, str]] = set()
    for finding in findings:
        paths = dict.fromkeys((finding.path, finding.about, finding.written[0]))
        lifting = [each for path in paths for each in by_path.get(path, ()) if each.lifts(finding)]
        used |= {(suppression, finding.rule) for suppression in lifting}
        in_time = [suppression for suppression in lifting if today <= suppression.until]
        if in_time:
            lifted.append(Suppressed(finding, in_time[0]))
        else:
            left.append(finding)
    for suppression in suppressions:
        unused = [rule for rule in suppression.rules if (suppression, rule) not in used and rule not in unchecked]
        if unused and suppression.path not in unread:
            where = "on this line" if suppression.line_only else "in this file"
            message = f"no finding of {', '.join(unused)} {where}"
            left.append(suppression.finding("SUP-3", message, "delete the suppression"))
        elif today > suppression.until:
            message = f"the suppression of {', '.join(suppression.rules)} expired on {suppression.until}"
            hint = "mend what it was for, or give a new date and reason"
            left.append(suppression.finding("SUP-2", message, hint))
    return left, lifted


def _suppression(place: tuple[str, int, int], said: str, excerpt: tuple[str, int], line_only: bool) -> Suppression:
    words = _WORDS.match(said)
    until = None if words is None else _date(words["until"])
    assert words is not None and until is not None  # noqa: PT018, S101 - _wrong has looked
    return Suppression(*place, tuple(words["rules"].split(",")), until, words["why"].strip(), line_only, excerpt)


def _wrong_rule(rule: str) -> tuple[str, str] | None:
    if rule not in CATALOGUE:
        warnings = [entry.id for entry in CATALOGUE.values() if entry.severity is Severity.WARNING]
        return f"no rule {rule!r}", did_you_mean(rule, warnings)
    if CATALOGUE[rule].severity is not Severity.WARNING:
        return f"{rule} is no warning, and only warnings can be suppressed", "mend what it is about"
    return None


def _date(text: str) -> datetime.date | None:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _wrong(said: str) -> tuple[str, str] | None:
    """Return what is wrong with a suppression, and what to write."""
    words = _WORDS.match(said)
    if words is None or words["disable"] is None:
        return f"{said.strip(' :')!r} is no suppression", f"write {_FORM}"
    for wrong in filter(None, map(_wrong_rule, words["rules"].split(","))):
        return wrong
    if not words["until"]:
        return "no date", f"say until when: {_FORM}"
    if _date(words["until"]) is None:
        return f"{words['until']!r} is no date", "write it as 2027-03-01"
    if not (words["why"] or "").strip(" ."):
        return "no reason", f"say why: {_FORM}"
    return None
