"""Performance profiles and power states: the values, and how they are found, loaded, checked and resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from htppower import rules
from htppower.cases import Case, Finding, Path
from htppower.documents import Place, locate
from htppower.errors import Problem, ProfileError, RuleBreach
from htppower.files import Folders, ResolvedFile, resolve_file
from htppower.mistakes import Mistake
from htppower.schema import ProfileFields, StateFields, structure
from htppower.votes import VoteSet

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path as FilePath

    from htppower.platforms import Platform

# The vendor's order, from highest performance to lowest.
SHIPPED_PROFILES = (
    "burst",
    "sustained_high_performance",
    "high_performance",
    "balanced",
    "low_balanced",
    "high_power_saver",
    "power_saver",
    "low_power_saver",
    "extreme_power_saver",
    "system_settings",
)

NO_VOTES = VoteSet()

_Value = TypeVar("_Value")

# Rules that compare fields: they are left out while one of those fields can't be read.
BETWEEN_FIELDS = frozenset({"DCVS-3", "HMX-3", "RPC-2", "DDR-1", "DCVS-4", "SUS-2"})
# Findings that say nothing against a file.
_OF_FILES = tuple(rule.id for rule in rules.RULES.values() if rule.breach is rules.Breach.ERROR)


@attrs.frozen
class PowerState:
    """The votes to which a profile relaxes.

    Attributes:
        name: such as ``relaxed``.
        summary: one sentence.
        votes: its votes.
        source: its file, or None for one built in code.
    """

    name: str
    summary: str
    votes: VoteSet
    source: FilePath | None = None


@attrs.frozen
class Relax:
    """What a profile relaxes to, and after how long.

    Attributes:
        to: the power state.
        after_init_us: how long votes stay up after INIT, in us; 0 lowers at once.
        after_inference_us: the sustain time, in us; 0 lowers at once.
    """

    to: PowerState
    after_init_us: int
    after_inference_us: int


@attrs.frozen
class Profile:
    """The votes of one performance mode.

    Attributes:
        name: such as ``burst``.
        summary: one sentence.
        votes: its votes; empty for system_settings.
        relax: what it relaxes to, or None where it does not vote.
        source: its file, or None for one built in code.
        lineage: its name, then those of the profiles that it extends.
        origins: where each value was written, by the keys that lead to it.
    """

    name: str
    summary: str
    votes: VoteSet
    relax: Relax | None
    source: FilePath | None = None
    lineage: tuple[str, ...] = attrs.field()
    origins: dict[Path, Place] = attrs.field(factory=dict, eq=False, hash=False, repr=False)

    @lineage.default
    def _only_itself(self) -> tuple[str, ...]:
        return (self.name,)

    def case(self, platform: Platform | None = None) -> Case:
        """Return the profile as the rules look at it."""
        return Case(
            self.votes,
            platform,
            lineage=self.lineage,
            lowered=None if self.relax is None else self.relax.to.votes,
            after_inference_us=0 if self.relax is None else self.relax.after_inference_us,
        )

    def problem(self, finding: Finding) -> Problem:
        """Return a finding with its place in the profile's file, where it has one."""
        place = locate(self.origins, finding.candidates, str(self.source or self.name))
        return Problem(place.path, place.line, place.column, finding.rule, finding.message, finding.hint)


def profile_names(folders: Iterable[str | os.PathLike[str]] = ()) -> tuple[str, ...]:
    """Return the shipped profiles in the vendor's order, then those of the given folders by name."""
    return Folders.of(folders).names(SHIPPED_PROFILES)


def load_profile(name: str | os.PathLike[str], folders: Iterable[str | os.PathLike[str]] = ()) -> Profile:
    """Return a profile by its name in the shipped folder or the given ones, or by path.

    A name with a slash or the suffix ``.yaml`` or ``.yml`` is a path.

    Raises:
        ProfileError: it can't be found or read, or is invalid; with every problem of the file.
        RuleBreach: it is well-formed, but a rule of the votes refuses it.
    """
    where = Folders.of(folders)
    return examine_profile(where.find(name, "profile"), where, {}).accepted()


def load_profiles(
    folders: Iterable[str | os.PathLike[str]] = (),
) -> tuple[tuple[Profile, ...], tuple[ProfileError, ...]]:
    """Return every profile of ``profile_names``, and the errors of those that are invalid."""
    where = Folders.of(folders)
    states: dict[FilePath, Examined[PowerState]] = {}
    profiles, errors = [], []
    for name in where.names(SHIPPED_PROFILES):
        try:
            profiles.append(examine_profile(where.find(name, "profile"), where, states).accepted())
        except ProfileError as error:
            errors.append(error)
    return tuple(profiles), tuple(errors)


def hidden_files(folders: Iterable[str | os.PathLike[str]] = ()) -> tuple[FilePath, ...]:
    """Return the files in the folders that no name leads to, since another of that name comes first."""
    return Folders.of(folders).hidden()


def find_power_state(name: str, folders: Iterable[str | os.PathLike[str]] = ()) -> PowerState:
    """Return a power state by its name in a ``states`` folder.

    Raises:
        ProfileError: as for ``load_profile``.
    """
    where = Folders.of(folders)
    return load_power_state(where.find(name, "state"), where)


@attrs.frozen(repr=False, eq=False)
class Examined(Generic[_Value]):
    """A profile or power state as far as its file can be read, and all that is wrong with it.

    Attributes:
        value: the profile or power state; what can't be read of it is left out.
        file: its file, with what that extends.
        problems: what it is refused for, in the order of the lines.
        readable: whether every field could be read, so that rules which compare fields mean something.
        state: the power state that a profile relaxes to, where there is one.
    """

    value: _Value
    file: ResolvedFile
    problems: tuple[Problem, ...]
    readable: bool
    state: Examined[PowerState] | None = None

    def accepted(self) -> _Value:
        """Return the value, if nothing is wrong with it nor with its power state.

        Raises:
            ProfileError, RuleBreach: as for ``load_profile``; what is wrong with the power state is said where it is
                named.
        """
        problems = list(self.problems)
        if self.state is not None:
            problems += [self.file.problem(_at_its_name(problem)) for problem in self.state.problems]
        if not problems:
            return self.value
        problems.sort(key=self.file.order)
        raise (RuleBreach if all(problem.rule in rules.RULES for problem in problems) else ProfileError)(problems)


def examine_profile(
    path: FilePath, folders: Folders, states: dict[FilePath, Examined[PowerState]]
) -> Examined[Profile]:
    """Return the profile of a file and all that is wrong with it; nothing is raised.

    Args:
        path: the file.
        folders: where the names in it are looked up.
        states: the power states that are known; those that it needs are added, so that each is read once.
    """
    file, fields, mistakes = _read(path, folders, "profile", ProfileFields)
    state, of_relax = _find_state(fields, file, folders, states)
    relax = None
    if fields is not None and fields.relax is not None and state is not None:
        relax = Relax(state.value, fields.relax.after_init_us or 0, fields.relax.after_inference_us or 0)
    profile = Profile(
        name=(fields and fields.profile) or file.path.stem,
        summary=(fields and fields.summary) or "",
        votes=(fields and fields.votes) or NO_VOTES,
        relax=relax,
        source=file.path,
        lineage=file.lineage,
        origins=file.places,
    )
    readable = not (mistakes or of_relax or file.problems or (state is not None and state.problems))
    problems = _problems(file, [*mistakes, *of_relax], profile.case(), readable=readable)
    return Examined(profile, file, problems, readable, state)


def examine_power_state(path: FilePath, folders: Folders) -> Examined[PowerState]:
    """Return the power state of a file and all that is wrong with it; nothing is raised."""
    file, fields, mistakes = _read(path, folders, "state", StateFields)
    state = PowerState(
        name=(fields and fields.state) or file.path.stem,
        summary=(fields and fields.summary) or "",
        votes=(fields and fields.votes) or NO_VOTES,
        source=file.path,
    )
    readable = not (mistakes or file.problems)
    return Examined(state, file, _problems(file, mistakes, Case(state.votes), readable=readable), readable)


def load_power_state(path: FilePath, folders: Folders) -> PowerState:
    """Return the power state of a file.

    Raises:
        ProfileError, RuleBreach: as for ``load_profile``.
    """
    return examine_power_state(path, folders).accepted()


def _read(
    path: FilePath, folders: Folders, kind: str, fields_kind: type[Any]
) -> tuple[ResolvedFile, Any, list[Mistake]]:
    """Return a file, its fields as far as they can be read, and what is wrong with them."""
    file = resolve_file(path, folders, kind)
    fields, mistakes = structure(file.tree, fields_kind)
    return file, fields, [mistake for mistake in mistakes if file.complete or mistake.rule != "KEY-2"]


def _find_state(
    fields: ProfileFields | None,
    file: ResolvedFile,
    folders: Folders,
    states: dict[FilePath, Examined[PowerState]],
) -> tuple[Examined[PowerState] | None, list[Mistake]]:
    """Return the power state that a profile relaxes to, or that there is none of that name."""
    relax = None if fields is None else fields.relax
    if relax is None or relax.to is None:
        return None, []
    at = ("relax", "to")
    try:
        path = folders.find(relax.to, "state", near=file.written_in(at))
    except ProfileError as error:
        return None, [Mistake(at, "NAME-1", f"no power state {relax.to!r}", error.hint)]
    return states.get(path) or states.setdefault(path, examine_power_state(path, folders)), []


def _at_its_name(problem: Problem) -> Mistake:
    """Return what is wrong with a power state as a mistake of the profile that names it."""
    message = f"its power state is wrong in {problem.path}:{problem.line}:{problem.column}: {problem.message}"
    return Mistake(("relax", "to"), problem.rule, message, problem.hint or "mend that file")


def _problems(file: ResolvedFile, mistakes: list[Mistake], case: Case, *, readable: bool) -> tuple[Problem, ...]:
    """Return what is wrong with a file, in the order of its lines."""
    chosen = [rule_id for rule_id in _OF_FILES if readable or rule_id not in BETWEEN_FIELDS]
    broken = [
        Mistake(finding.at, finding.rule, finding.message, finding.hint, also=finding.also)
        for finding in rules.check(case, chosen)
    ]
    problems = [*file.problems, *(file.problem(mistake) for mistake in (*mistakes, *broken))]
    return tuple(sorted(problems, key=file.order))
