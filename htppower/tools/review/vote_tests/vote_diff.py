"""The votes in force at a failed expectation, as a difference from what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.fields import spell, vote_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.tools.review.vote_tests.compare import Difference, Failure


def vote_diff(failure: Failure) -> Iterator[str]:
    """Yield every vote in force in a line, as a file writes it, after ``+``; after ``-`` the vote that was expected.

    Nothing is yielded if no vote differs. A line that begins with a space was not checked, or is as expected.
    """
    differing = [each for each in failure.differences if each.at[0] == "votes"]
    if not differing:
        return
    told: set[KeyPath] = set()
    got = list(vote_fields(failure.seen.votes))
    for at, value in got:
        meant = [each for each in differing if _is_same(each.at, at)]
        yield from _expected(meant, told)
        yield f"{'+' if meant else ' '} {_name(at)}: {spell(value)}"
    yield from _expected(differing, told)


def _expected(differences: list[Difference], told: set[KeyPath]) -> Iterator[str]:
    """Yield the expected votes, each once."""
    for each in differences:
        if each.at not in told:
            told.add(each.at)
            yield f"- {_name(each.at)}: {each.expected}"


def _is_same(expected: KeyPath, got: KeyPath) -> bool:
    """Return whether two fields are the same, or one holds the other."""
    length = min(len(expected), len(got))
    return expected[:length] == got[:length]


def _name(at: KeyPath) -> str:
    return ".".join(at[1:]) or at[0]
