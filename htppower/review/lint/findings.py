"""What lint finds."""

from __future__ import annotations

import attrs

from htppower.review.lint.catalogue import CATALOGUE, Entry, Severity


@attrs.frozen(order=True)
class Finding:
    """One finding, sorted by its place.

    Attributes:
        path: the file.
        line, column: 1-based; 1 and 1 where the finding is about the file as a whole.
        rule: the rule's id, in the catalogue.
        message: what is wrong.
        hint: what to write instead; may be empty.
        text: the line itself, or the part of it around the column; empty where there is none.
        text_column: the column within the text.
        about: the file whose examination found it; a value may be written in another, which it extends.
        written: file and line where the value is written; not its place, where that file is not linted itself.
    """

    path: str
    line: int
    column: int
    rule: str
    message: str
    hint: str = attrs.field(default="", eq=False)
    text: str = attrs.field(default="", eq=False)
    text_column: int = attrs.field(default=1, eq=False)
    about: str = attrs.field(default="", eq=False)
    written: tuple[str, int] = attrs.field(default=("", 0), eq=False)

    @property
    def entry(self) -> Entry:
        """The rule."""
        return CATALOGUE[self.rule]

    @property
    def severity(self) -> Severity:
        """How much it weighs."""
        return self.entry.severity

    @property
    def place(self) -> str:
        """File, line and column, in the form that editors jump to."""
        return f"{self.path}:{self.line}:{self.column}"
