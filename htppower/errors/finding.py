"""A finding: one thing that is wrong with a file, a profile or a vote set, and where it stands."""

from __future__ import annotations

import enum

import attrs

# The keys that lead to a value in a file, such as ``("votes", "dcvs_v3", "bus")``; the items of a list by number.
Path = tuple[str, ...]


def printable(text: str) -> str:
    """Return a text that does nothing to a terminal or a log: what is not printable is written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


class Severity(str, enum.Enum):
    """How much a finding weighs: an error refuses the file, a warning is for its reviewer, a note only informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    __str__ = str.__str__


@attrs.frozen
class Place:
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

    Findings that say the same of the same place are equal, by whatever keys they came there.

    Attributes:
        rule: the id of the rule that is broken (docs: "The rules").
        at: the keys that lead to the value; empty for the whole.
        message: what is wrong.
        hint: what to write instead; may be empty.
        also: the keys of other values at which it can be mended, too.
        of_key: the last key itself is wrong, not its value.
        severity: how much it weighs.
        place: where it stands; None as long as nobody has looked it up.
    """

    rule: str
    at: Path = attrs.field(eq=False)
    message: str
    hint: str = ""
    also: tuple[Path, ...] = attrs.field(default=(), eq=False, kw_only=True)
    of_key: bool = attrs.field(default=False, eq=False, kw_only=True)
    severity: Severity = attrs.field(default=Severity.ERROR, kw_only=True)
    place: Place | None = attrs.field(default=None, kw_only=True)

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
