"""A finding: one thing that is wrong with a file, a profile or a vote set, and where it stands."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

# Nobody reads more findings of one file at once.
MOST_OF_A_FILE = 100
# A text from a file may be as long as the file, and many messages may quote it.
_LONGEST_QUOTE = 200
_LONGEST_MESSAGE = 5000

# The keys that lead to a value in a file, such as ``("votes", "dcvs_v3", "bus")``; the items of a list by number.
KeyPath = tuple[str, ...]


def printable(text: str) -> str:
    """Return a text that does nothing to a terminal or a log: what is not printable is written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shortened(text: str, longest: int = _LONGEST_QUOTE) -> str:
    """Return a text from a file as a message quotes it: of a very long one only the beginning."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def _whole_message(text: str) -> str:
    return shortened(text, _LONGEST_MESSAGE)


class Severity(str, enum.Enum):
    """How much a finding weighs: an error refuses the file, a warning is for its reviewer, a note only informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    __str__ = str.__str__


# A named tuple: a file has one for every value in it.
class Place(NamedTuple):
    """Where something stands.

    Attributes:
        path: the file, or the name under which one was looked for.
        line: 1-based line, 0 for the file as a whole.
        column: 1-based column, 0 for the file as a whole.
    """

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return the place in the form that editors jump to."""
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@attrs.frozen
class Finding:
    """One thing that is wrong with a file, a profile or a vote set.

    Findings that say the same of the same place are equal, whatever keys lead there.

    Attributes:
        rule: the id of the rule that is broken (docs: "The rules").
        at: the keys that lead to the value; empty for the whole.
        message: what is wrong, in at most 5000 characters.
        hint: what to write instead, likewise; may be empty.
        also: the keys of other values at which it can be mended, too.
        of_key: the last key itself is wrong, not its value.
        severity: how much it weighs.
        place: where it stands; None as long as nobody has looked it up.
        left_out: how many findings it stands for that are not told; 0 where it is told for itself.
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

    __repr__ = field_repr

    @classmethod
    def of_file(cls, path: str, rule: str, message: str, hint: str = "") -> Finding:
        """Return a finding about a file as a whole, or about the name under which one was looked for."""
        return cls(rule, (), message, hint, place=Place(path))

    @property
    def path(self) -> str:
        """The file, empty without a place."""
        return "" if self.place is None else self.place.path

    @property
    def line(self) -> int:
        """The 1-based line, 0 where it has none."""
        return 0 if self.place is None else self.place.line

    @property
    def column(self) -> int:
        """The 1-based column, 0 where it has none."""
        return 0 if self.place is None else self.place.column

    def __str__(self) -> str:
        """Return the finding as one line that begins with its place."""
        place = "" if self.place is None else f"{self.place}: "
        hint = f" ({self.hint})" if self.hint else ""
        return printable(f"{place}{self.rule}: {self.message}{hint}")


def bounded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings in their order, of each file at most 100; its last one then says how many are left out."""
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
    """Return one finding for many, with the rule and place of the first of the gravest."""
    order = list(Severity)
    worst = min(findings, key=lambda finding: order.index(finding.severity))
    message = f"{len(findings)} findings of this file, this one among them, are left out"
    return attrs.evolve(worst, message=message, hint="mend those above first", left_out=len(findings))
