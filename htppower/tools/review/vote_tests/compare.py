"""Compares what was expected with what was got, field by field, each at its place in the test file.

If votes differ, ``vote_diff`` shows them all as a difference.
"""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.discovery import Folders
from htppower.profiles.extends import resolve_file
from htppower.profiles.fields import spell, value_at, vote_fields
from htppower.profiles.profile import file_of, power_states
from htppower.tools.review.vote_tests.runner import run_case
from htppower.votes.options import BY_CLASS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath, Place
    from htppower.tools.review.vote_tests.cases import Expectation, VoteCase, VoteTest
    from htppower.tools.review.vote_tests.runner import CaseRun, Seen


@attrs.frozen
class Difference:
    """A field that differs from the expectation.

    Attributes:
        at: the keys that lead to it below the expectation.
        expected, got: the values as a file writes them.
        place: the place of the expected value.
        origin: the place of the other value in a profile or power state, or None.
    """

    at: KeyPath
    expected: str
    got: str
    place: Place
    origin: Place | None


@attrs.frozen(eq=False)
class Failure:
    """A failed expectation: its time from the start of the case, what holds then, each difference in file order."""

    case: VoteCase
    at_us: int
    seen: Seen
    differences: tuple[Difference, ...]


@attrs.frozen(eq=False)
class CaseResult:
    """The result of a case. Without failures, it has passed."""

    test: VoteTest
    case: VoteCase
    failures: tuple[Failure, ...]


def run_tests(tests: Iterable[VoteTest], folders: Iterable[str | os.PathLike[str]] = ()) -> tuple[CaseResult, ...]:
    """Run every case of the tests on its own; power states are looked up as by ``Folders.of(folders)``."""
    where = Folders.of(folders)
    return tuple(CaseResult(test, case, tuple(_failures(test, case, where))) for test in tests for case in test.cases)


def chosen(tests: Iterable[VoteTest], pattern: str) -> tuple[VoteTest, ...]:
    """Return the tests, each with only those cases whose name, or whose test's name, contains a text in any case.

    The text may be a pattern, such as ``*qnx*``.
    """
    found = []
    for test in tests:
        cases = tuple(case for case in test.cases if any(_matches(name, pattern) for name in (case.name, test.name)))
        found += [attrs.evolve(test, cases=cases)] if cases else []
    return tuple(found)


def _matches(name: str, pattern: str) -> bool:
    return pattern.lower() in name.lower() or fnmatch.fnmatch(name.lower(), pattern.lower())


def holds(case: VoteCase, run: CaseRun) -> bool:
    """Return whether every expectation of a case held in this run."""
    return not any(_differing(*pair) for pair in zip(case.expectations, run.seen, strict=True))


def _failures(test: VoteTest, case: VoteCase, where: Folders) -> Iterator[Failure]:
    for expectation, seen in zip(case.expectations, run_case(case).seen, strict=True):
        differing = _differing(expectation, seen)
        if differing:
            differences = (
                Difference(
                    at,
                    spell_any(expected),
                    spell_any(got),
                    test.document.place((*expectation.at, *at)),
                    _origin(seen, at, got, where),
                )
                for at, (expected, got) in differing.items()
            )
            ordered = sorted(differences, key=lambda difference: (difference.place.line, difference.place.column))
            yield Failure(case, expectation.at_us, seen, tuple(ordered))


def _differing(expectation: Expectation, seen: Seen) -> dict[KeyPath, tuple[Any, Any]]:
    """Return what differs from the expectation, by the keys below it: expected and got."""
    pairs: dict[KeyPath, tuple[Any, Any]] = {}
    for name in ("state", "calls", "sent", "degraded"):
        expected, got = getattr(expectation, name), getattr(seen, name)
        if expected is not None and _unordered(expected) != _unordered(got):
            pairs[name,] = expected, got
    for at, expected in (expectation.votes or {}).items():
        got = value_at(seen.votes, at)
        if expected != got:
            below_expectation: KeyPath = ("votes", *at)
            pairs[below_expectation] = expected, got
    return pairs


def _unordered(value: Any) -> Any:
    """Return a list without its order, which does not matter in an expectation, and any other value unchanged."""
    return frozenset(value) if isinstance(value, tuple) else value


def spell_any(value: Any) -> str:
    """Return a value of an expectation as a file writes it."""
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    about = BY_CLASS.get(type(value))
    if about is not None and about.partial:
        return f"{{{', '.join(f'{field.name}: {spell(getattr(value, field.name))}' for field in about.fields)}}}"
    return spell(value)


def _origin(seen: Seen, at: KeyPath, got: Any, where: Folders) -> Place | None:
    """Return the place of the value in force, if the value is from the profile or from one of its power states."""
    if at[0] != "votes" or got is None:
        return None
    origins, votes = seen.profile.origins, seen.profile.votes
    if seen.state == "LOWERED" and seen.profile.relax is not None:
        states = [state for _, state in power_states(seen.profile)]
        # The votes show which power state is in force. If several have the same votes, the first is used.
        to = next((state for state in states if state.votes.hvx == seen.votes.hvx), states[0])
        votes, origins = to.votes, {} if (file := file_of(to)) is None else resolve_file(file, where, "state").places
    return origins.get(at) if value_at(votes, at[1:]) == got else None


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
