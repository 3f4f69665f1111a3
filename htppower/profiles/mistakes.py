"""What is wrong with a tree that was read from a file, and what was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.rules.case import Path


@attrs.frozen(repr=False, eq=False)
class Mistake:
    """One thing wrong with a tree.

    Attributes:
        at: the keys that lead to it.
        rule, message, hint: as in a Problem.
        of_key: the key is wrong, not its value.
        also: other values at which it can be mended.
    """

    at: Path
    rule: str
    message: str
    hint: str = ""
    of_key: bool = False
    also: tuple[Path, ...] = ()

    @property
    def candidates(self) -> tuple[Path, ...]:
        """Where the mistake can be mended, the best place first."""
        return (self.at, *self.also)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known word, or with all of them."""
    known = list(known)
    near = nearest(word, known)
    return f"did you mean {near}?" if near else f"one of {', '.join(known)}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that looks most like this one, or None where none does."""
    import difflib  # noqa: PLC0415 - only for a wrong word

    by_case = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), by_case, n=1)
    return by_case[near[0]] if near else None
