"""Which fields of which profiles and power states no test looks at.

A test looks at a field if it fails when the field's value is another. So every field is changed, one at a time, and the
cases that use its profile are run again.
"""

from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from htppower.errors import RuleBreach
from htppower.extending import resolve_file
from htppower.fields import profile_fields, spell, vote_fields
from htppower.files import Folders
from htppower.vote_tests.compare import holds
from htppower.vote_tests.mutants import profile_mutants, relaxing_to, state_mutants
from htppower.vote_tests.runner import run_case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.backends.recording import Call
    from htppower.cases import Path
    from htppower.documents import Place
    from htppower.profiles import PowerState, Profile
    from htppower.vote_tests.cases import VoteCase

    _File = TypeVar("_File", Profile, PowerState)


class Look(enum.Enum):
    """What the tests make of a field."""

    SEEN = "a test looks at it"
    HELD_BY_RULES = "no other value that the rules allow changes a call"
    UNSEEN = "no test looks at it"


@attrs.frozen
class Field:
    """A field of a file: the keys that lead to it, its value as it is spelt, where it is written, who looks at it."""

    at: Path
    value: str
    place: Place | None
    look: Look


@attrs.frozen
class Coverage:
    """How much of one file the tests look at.

    Attributes:
        kind: profile or state.
        name: of the profile or power state.
        fields: its fields, in the order of the file.
    """

    kind: str
    name: str
    fields: tuple[Field, ...]

    def those(self, look: Look) -> tuple[Field, ...]:
        """Return the fields of which this is so."""
        return tuple(field for field in self.fields if field.look is look)


def coverage(
    cases: Iterable[VoteCase], profiles: Iterable[Profile] = (), states: Iterable[PowerState] = ()
) -> tuple[Coverage, ...]:
    """Return how much the cases look at: of the profiles that they use, and of the power states that those relax to.

    Args:
        cases: cases that pass.
        profiles: others that should be looked at.
        states: likewise.
    """
    unchanged = [_Unchanged(case, run_case(case).calls) for case in cases]
    used = _each_once([*profiles, *(profile for case in unchanged for profile in case.case.profiles)])
    relaxed_to = _each_once([*states, *(profile.relax.to for profile in used if profile.relax is not None)])
    return (
        *(_of_profile(profile, unchanged) for profile in used),
        *(_of_state(state, unchanged) for state in relaxed_to),
    )


@attrs.frozen(eq=False)
class _Unchanged:
    """A case, and the calls that it makes with no field changed."""

    case: VoteCase
    calls: tuple[Call, ...]


def _of_profile(profile: Profile, cases: Iterable[_Unchanged]) -> Coverage:
    own = [case for case in cases if any(_is_same(profile, used) for used in case.case.profiles)]

    def changes(at: Path) -> Iterator[Callable[[Profile], Profile]]:
        for mutant in profile_mutants(profile, at):
            yield lambda used, mutant=mutant: mutant if _is_same(profile, used) else used  # type: ignore[misc]

    fields = _fields(profile_fields(profile), profile.origins, lambda at: _look(own, changes(at)))
    return Coverage("profile", profile.name, fields)


def _of_state(state: PowerState, cases: Iterable[_Unchanged]) -> Coverage:
    own = [case for case in cases if any(_relaxes_to(used, state) for used in case.case.profiles)]

    def changes(at: Path) -> Iterator[Callable[[Profile], Profile]]:
        for mutant in state_mutants(state, at):
            yield lambda used, mutant=mutant: relaxing_to(used, mutant) if _relaxes_to(used, state) else used  # type: ignore[misc]

    places = {} if state.source is None else resolve_file(state.source, Folders.of(()), "state").places
    return Coverage("state", state.name, _fields(vote_fields(state.votes), places, lambda at: _look(own, changes(at))))


def _fields(
    fields: Iterable[tuple[Path, Any]], places: dict[Path, Place], look: Callable[[Path], Look]
) -> tuple[Field, ...]:
    return tuple(Field(at, spell(value), places.get(at), look(at)) for at, value in fields)


def _look(cases: Iterable[_Unchanged], changes: Iterable[Callable[[Profile], Profile]]) -> Look:
    """Return what the cases make of a field, by its changes."""
    refused = called_otherwise = False
    for change in changes:
        for unchanged in cases:
            changed = unchanged.case.with_profiles(change)
            try:
                run = run_case(changed)
            except RuleBreach:
                refused = True
                continue
            if not holds(changed, run):
                return Look.SEEN
            called_otherwise = called_otherwise or run.calls != unchanged.calls
    return Look.HELD_BY_RULES if refused and not called_otherwise else Look.UNSEEN


def _relaxes_to(profile: Profile, state: PowerState) -> bool:
    return profile.relax is not None and _is_same(profile.relax.to, state)


def _is_same(one: Profile | PowerState, other: Profile | PowerState) -> bool:
    """Return whether both are of the same file; those that are built in code are told apart by their values."""
    return _identity(one) == _identity(other)


def _identity(file: Profile | PowerState) -> object:
    return file if file.source is None else os.path.realpath(file.source)


def _each_once(found: Iterable[_File]) -> tuple[_File, ...]:
    once: dict[object, _File] = {}
    for each in found:
        once.setdefault(_identity(each), each)
    return tuple(once.values())
