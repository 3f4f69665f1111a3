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

from htppower.lint.catalogue import CATALOGUE, Severity
from htppower.lint.comments import COMMENT
from htppower.lint.findings import Finding, Suppressed
from htppower.mistakes import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_WORDS = re.compile(r"\s*(?P<disable>disable=(?P<rules>\S*))?\s*(?:until=(?P<until>\S*))?\s*(?:because=(?P<why>.*))?$")
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
        text: the line on which it stands.
    """

    path: str
    line: int
    column: int
    rules: tuple[str, ...]
    until: datetime.date
    because: str
    line_only: bool
    text: str

    def lifts(self, finding: Finding) -> bool:
        """Return whether it is about this finding, its date aside."""
        on_its_line = finding.line == self.line or not self.line_only
        return finding.path == self.path and finding.rule in self.rules and on_its_line


def read_suppressions(
    path: str, lines: Sequence[str], comments: Iterable[tuple[int, int]]
) -> tuple[list[Suppression], list[Finding]]:
    """Return the suppressions of a file, and what is wrong with those that are not well-formed.

    Args:
        path: the file.
        lines: its lines.
        comments: the 1-based line and column of every comment in it that mentions htppower.
    """
    suppressions, findings = [], []
    for line, column in comments:
        text = lines[line - 1]
        found = COMMENT.match(text, column - 1)
        if found is None:
            continue
        place = (path, line, column)
        wrong = _wrong(found["said"])
        if wrong is not None:
            findings.append(Finding(*place, "SUP-1", *wrong, text))
            continue
        words = _WORDS.match(found["said"])
        assert words is not None  # noqa: S101 - _wrong has looked
        rules = tuple(words["rules"].split(","))
        own_line = not text[: column - 1].strip()
        until = _date(words["until"])
        assert until is not None  # noqa: S101 - _wrong has looked
        suppressions.append(Suppression(*place, rules, until, words["why"].strip(), not own_line, text))
    return suppressions, findings


def apply(
    findings: Iterable[Finding],
    suppressions: Sequence[Suppression],
    today: datetime.date,
    unchecked: Collection[str] = (),
    unread: Collection[str] = (),
) -> tuple[list[Finding], list[Suppressed]]:
    """Return the findings that are left, with those about the suppressions, and those that are lifted.

    Args:
        findings: of all files.
        suppressions: of all files.
        today: the date, in UTC.
        unchecked: rules that this run did not look at, so that nothing can be said of their suppressions.
        unread: files in which rules were left out, likewise.
    """
    left, lifted, used = [], [], set()
    for finding in findings:
        lifting = [suppression for suppression in suppressions if suppression.lifts(finding)]
        used |= {(suppression, finding.rule) for suppression in lifting}
        in_time = [suppression for suppression in lifting if today <= suppression.until]
        if in_time:
            lifted.append(Suppressed(finding, in_time[0]))
        else:
            left.append(finding)
    for suppression in suppressions:
        place = (suppression.path, suppression.line, suppression.column)
        unused = [rule for rule in suppression.rules if (suppression, rule) not in used and rule not in unchecked]
        if unused and suppression.path not in unread:
            where = "on this line" if suppression.line_only else "in this file"
            message = f"no finding of {', '.join(unused)} {where}"
            left.append(Finding(*place, "SUP-3", message, "delete the suppression", suppression.text))
        elif today > suppression.until:
            message = f"the suppression of {', '.join(suppression.rules)} expired on {suppression.until}"
            hint = "mend what it was for, or give a new date and reason"
            left.append(Finding(*place, "SUP-2", message, hint, suppression.text))
    return left, lifted


def _wrong_rule(rule: str) -> tuple[str, str] | None:
    if rule not in CATALOGUE:
        return f"no rule {rule!r}", did_you_mean(rule, CATALOGUE)
    if CATALOGUE[rule].severity is not Severity.WARNING:
        return f"{rule} is no warning, and only warnings can be suppressed", "mend what it is about"
    return None


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.timezone.utc).date()
    except ValueError:
        return None


def _wrong(said: str) -> tuple[str, str] | None:
    """Return what is wrong with a suppression, and what to write."""
    words = _WORDS.match(said)
    if words is None or words["disable"] is None:
        return f"{said.strip()!r} is no suppression", f"write {_FORM}"
    for wrong in filter(None, map(_wrong_rule, words["rules"].split(","))):
        return wrong
    if not words["until"]:
        return "no date", f"say until when: {_FORM}"
    if _date(words["until"]) is None:
        return f"{words['until']!r} is no date", "write it as 2027-03-01"
    if not (words["why"] or "").strip(" ."):
        return "no reason", f"say why: {_FORM}"
    return None
