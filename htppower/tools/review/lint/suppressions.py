"""Suppressions: comments in a file that hide a warning, with rule, date and reason.

    # htppower: disable=RPC-6 until=2027-03-01 because=the host polls only while its camera is open

On a line of its own, a suppression is for the whole file; after a value, for that line. Errors can't be hidden: the
file would still be refused when it is used.
"""

import datetime
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors import Finding, Place, Severity, shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.lines import comment_at

if TYPE_CHECKING:
    from htppower.tools.review.lint.lines import Lines

# Annotations are not postponed here: a named tuple would compile each of its types anew, which slows the start.

# Each word ends at a space or at the end, so that a run of spaces or letters matches in only one way.
_WORDS = r"\s*:\s*(?:disable=(?P<rules>\S*)(?:\s+|$))?(?:until=(?P<until>\S*)(?:\s+|$))?(?:because=(?P<why>.*))?$"
_RULE, _DATE, _WHY = "RPC-6", "2027-03-01", "..."


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
        path, line, column: its place.
        rules: the ids of the rules whose findings it hides.
        until: the last day of its validity, in UTC.
        because: the reason.
        line_only: whether it is only for the findings of its own line.
    """

    path: str
    line: int
    column: int
    rules: tuple[str, ...]
    until: datetime.date
    because: str
    line_only: bool

    def found(self, rule: str, message: str, hint: str) -> Found:
        """Return a finding about the suppression itself."""
        return _found(Place(self.path, self.line, self.column), rule, message, hint)

    def lifts(self, found: Found) -> bool:
        """Return whether it is about this finding, apart from its date.

        A line suppression matches the finding's line, or the line where the value is written. A file suppression
        matches what was found in that file, wherever the value is written.
        """
        if found.finding.rule not in self.rules:
            return False
        if self.line_only:
            return (self.path, self.line) in ((found.finding.path, found.finding.line), found.written)
        return self.path in found.paths


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
    suppressions, findings = [], []
    for file in files:
        for line, column in file.comments:
            text = file.lines[line - 1]
            found = comment_at(text, column - 1)
            place = Place(str(file.path), line, column)
            wrong = _wrong(found["said"]) if found is not None else None
            if wrong is not None:
                findings.append(_found(place, "SUP-1", *wrong))
            elif found is not None:
                own_line = not text[: column - 1].strip()
                suppressions.append(_suppression(place, found["said"], not own_line))
    return suppressions, findings


def from_words(place: Place, said: str) -> Suppression | Found:
    """Return a suppression for a whole file from its words, or the finding about them."""
    wrong = _wrong(said)
    return _suppression(place, said, line_only=False) if wrong is None else _found(place, "SUP-1", *wrong)


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
        by_path.setdefault(suppression.path, []).append(suppression)
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
        if unused and suppression.path not in unread:
            where = "on this line" if suppression.line_only else "in this file"
            message = f"no finding of {', '.join(unused)} {where}"
            left.append(suppression.found("SUP-3", message, "delete the suppression"))
        elif today > suppression.until:
            message = f"the suppression of {', '.join(suppression.rules)} expired on {suppression.until}"
            hint = "fix the cause of the finding, or give a new date and reason"
            left.append(suppression.found("SUP-2", message, hint))
    return left, lifted


def _found(place: Place, rule: str, message: str, hint: str) -> Found:
    return Found(Finding(rule, (), message, hint, severity=CATALOGUE[rule].severity, place=place), place.path)


def _suppression(place: Place, said: str, line_only: bool) -> Suppression:
    words = re.match(_WORDS, said)
    until = None if words is None else _date(words["until"])
    assert words is not None and until is not None  # noqa: PT018, S101 - _wrong has checked it
    disabled = tuple(words["rules"].split(","))
    return Suppression(place.path, place.line, place.column, disabled, until, words["why"].strip(), line_only)


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


def _wrong(said: str) -> tuple[str, str] | None:
    """Return what is wrong with a suppression, and what to write."""
    words = re.match(_WORDS, said)
    if words is None or words["rules"] is None:
        return f"{shortened(said.strip(' :'))!r} is not a suppression", f"write {_line(_RULE, _DATE, _WHY)}"
    rules, until, why = words["rules"], words["until"], (words["why"] or "").strip()
    for wrong in filter(None, map(_wrong_rule, rules.split(","))):
        return wrong
    if not until:
        return "no date", f"write until when: {_line(rules, _DATE, shortened(why) or _WHY)}"
    if _date(until) is None:
        return f"{until!r} is not a date", f"write it as {_DATE}"
    if not why.strip(" ."):
        return "no reason", f"write why: {_line(rules, until, _WHY)}"
    return None


def _line(rules: str, until: str, why: str) -> str:
    """Return a suppression as it is written."""
    return f"# htppower: disable={rules} until={until} because={why}"
