"""What is to be said of a translation: what the other side can't say, or says differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from htppower.errors import Place


class Remark(NamedTuple):
    """Something of an extension file that a profile can't say, or says differently.

    Attributes:
        place: where it stands in the file.
        says: what stands there, and what became of it.
    """

    place: Place
    says: str

    def __str__(self) -> str:
        """Return it with its line, for a comment in a profile imported from the file."""
        return f"line {self.place.line}: {self.says}"
