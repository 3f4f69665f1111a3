"""Remarks on a translation: settings that the other format can't express, or expresses differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from htppower.errors import Place


class Remark(NamedTuple):
    """A setting of an extension file that a profile can't express, or expresses differently.

    Attributes:
        place: its place in the file.
        says: the setting, and what became of it.
    """

    place: Place
    says: str

    def __str__(self) -> str:
        """Return the remark with its line, for a comment in a profile that is imported from the file."""
        return f"line {self.place.line}: {self.says}"
