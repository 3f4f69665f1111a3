"""A finding: one problem of a file, a profile or a vote set, and its place."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# More findings for a single file would not be read.
MOST_OF_A_FILE = 100
# Text from a file may be as long as the file, and many messages may quote it.
_LONGEST_QUOTE = 200
_LONGEST_MESSAGE = 5000

# The keys on the path to a value in a file, such as ``("votes", "dcvs_v3", "bus")``; list items by their index.
KeyPath = tuple[str, ...]


def printable(text: str) -> str:
    """Return a text that is safe for a terminal or a log: characters that are not printable become escapes."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shortened(text: str, longest: int = _LONGEST_QUOTE) -> str:
    """Return a text from a file as messages quote it; a very long text is cut."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def _whole_message(text: str) -> str:
    return shortened(text, _LONGEST_MESSAGE)


class Severity(str, enum.Enum):
    """How serious a finding is: an error refuses the file, a warning is for its reviewer, a note only informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    __str__ = str.__str__


# A named tuple, since a file has one for each of its values.
class Place(NamedTuple):
    """The place of a value in a file.

    Attributes:
        path: the file, or the name that was looked up.
        line: 1-based line, 0 for the file as a whole.
        column: 1-based column, 0 for the file as a whole.
    """

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return the place in the form that editors understand."""
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@attrs.frozen
class Finding:
    """One problem of a file, a profile or a vote set.

    Findings with the same text about the same place are equal, even if their keys differ.

    Attributes:
        rule: the id of the broken rule (docs: "The rules").
        at: the keys on the path to the value; empty for the whole file.
        message: what is wrong, in at most 5000 characters.
        hint: what to write instead, in at most 5000 characters; may be empty.
        also: the keys of other values where the problem can be fixed, too.
        of_key: the last key itself is wrong, not its value.
        severity: how serious the finding is.
        place: the place of the value; None until it is looked up.
        left_out: how many omitted findings this finding stands for; 0 for an ordinary finding.
    """

    rule: str
    at: KeyPath = attrs.field(eq=False)
    message: str = attrs.field(converter=_whole_message)
    hint: str = attrs.field(default="", converter=_whole_message)
    also: tuple[KeyPath, ...] = attrs.field(default=(), eq=False, kw_only=True)
    of_key: bool = attrs.field(default=False, eq=False, kw_only=True)
    severity: Severity = attrs.field(default=Severity.ERROR, kw_only=True)
    place: Place | None = attrs.field(default=None, kw_only=True)
    left_out: int = attrs.field(default=0, kw_only=True)

    @classmethod
    def of_file(cls, path: str, rule: str, message: str, hint: str = "") -> Finding:
        """Return a finding about a file as a whole, or about a name that was looked up."""
        return cls(rule, (), message, hint, place=Place(path))

    @property
    def path(self) -> str:
        """The file; empty without a place."""
        return "" if self.place is None else self.place.path

    @property
    def line(self) -> int:
        """The 1-based line; 0 without a line."""
        return 0 if self.place is None else self.place.line

    @property
    def column(self) -> int:
        """The 1-based column; 0 without a column."""
        return 0 if self.place is None else self.place.column

    def __str__(self) -> str:
        """Return the finding on one line, with its place first."""
        place = "" if self.place is None else f"{self.place}: "
        hint = f" ({self.hint})" if self.hint else ""
        return printable(f"{place}{self.rule}: {self.message}{hint}")


def bounded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings in order, at most 100 for each file; the last then says how many are omitted."""
    findings = tuple(findings)
    of_file: dict[str, list[Finding]] = {}
    for finding in findings:
        of_file.setdefault(finding.path, []).append(finding)
    kept: dict[str, int] = dict.fromkeys(of_file, 0)
    told = []
    for finding in findings:
        found = of_file[finding.path]
        kept[finding.path] += 1
        if len(found) <= MOST_OF_A_FILE or kept[finding.path] < MOST_OF_A_FILE:
            told.append(finding)
        elif kept[finding.path] == MOST_OF_A_FILE:
            told.append(_left_out(found[MOST_OF_A_FILE - 1 :]))
    return tuple(told)


def _left_out(findings: list[Finding]) -> Finding:
    """Return one finding for several, with the rule and place of the first of the most serious ones."""
    order = list(Severity)
    worst = min(findings, key=lambda finding: order.index(finding.severity))
    message = f"{len(findings)} findings of this file, including this one, are omitted"
    return attrs.evolve(worst, message=message, hint="fix the findings above first", left_out=len(findings))


def place_of(candidates: Iterable[KeyPath], places: Mapping[KeyPath, Place], path: str) -> Place:
    """Return the place of the first candidate that is in the file itself.

    A candidate without a place uses the place of the mapping or list around it. If all candidates are in extended
    files, the place of the first is returned; if no candidate has a place, the place of the file.
    """
    found = []
    for candidate in candidates:
        at = candidate
        while at and at not in places:
            at = at[:-1]
        if at in places:
            found.append(places[at])
    own = [place for place in found if place.path == path]
    return (own or found or [Place(path)])[0]


def located(
    finding: Finding, path: str, places: Mapping[KeyPath, Place], key_places: Mapping[KeyPath, Place]
) -> Finding:
    """Return a finding with the best place to correct it."""
    of = key_places if finding.of_key and finding.at in key_places else places
    return attrs.evolve(finding, place=place_of((finding.at, *finding.also), of, path))
