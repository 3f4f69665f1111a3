"""Lint: read the files, collect what is wrong with each, lift what is suppressed."""

from __future__ import annotations

import functools
import os
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import attrs

from htppower import rules
from htppower.cases import Case
from htppower.files import shown_path
from htppower.lint.catalogue import UNREAD, Severity
from htppower.lint.findings import Finding, LintReport
from htppower.lint.home import Home
from htppower.lint.review_rules import costs_more, no_way_down, polling_left_on, unstated
from htppower.lint.sources import Kind, Source, find_sources, read_source
from htppower.lint.suppressions import apply, read_suppressions
from htppower.mistakes import Mistake
from htppower.profiles import BETWEEN_FIELDS, examine_power_state

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator

    from htppower.errors import Problem
    from htppower.files import ResolvedFile
    from htppower.platforms import Platform
    from htppower.profiles import Examined, PowerState, Profile

_NEED_A_PLATFORM = frozenset(rule.id for rule in rules.RULES.values() if rule.breach is rules.Breach.DEGRADES)
# What is refused is told by the examination; what is left are the rules that only advise.
_ADVICE = tuple(rule.id for rule in rules.RULES.values() if rule.breach is not rules.Breach.ERROR)
# An error by itself, but only on a platform.
_ALSO_OF_PLATFORMS = ("DDR-1",)


def lint(
    paths: Iterable[str | os.PathLike[str]],
    today: datetime.date,
    *,
    profiles: Iterable[str | os.PathLike[str]] = (),
    platform: Platform | None = None,
    notes: bool = False,
) -> LintReport:
    """Return every finding in the files, and in the folders and below.

    Args:
        paths: files and folders.
        today: the date, in UTC, against which suppressions expire.
        profiles: folders in which names are looked up, too.
        platform: check what degrades on this platform, too.
        notes: tell of notes, too.

    Raises:
        ProfileError: FILE-1, a path does not exist or can't be read.
    """
    sources = find_sources(paths)
    linting = _Linting(sources, tuple(map(FilePath, profiles)), platform)
    found = _each_once(list(linting.findings(source)) for source in sources)
    suppressions = []
    for source in sources:
        of_source, wrong = read_suppressions(str(source.path), source.lines, source.comments)
        suppressions += of_source
        found += wrong
    if not notes:
        found = [finding for finding in found if finding.severity is not Severity.NOTE]
    unchecked = _NEED_A_PLATFORM if platform is None else frozenset()
    # In a file that can't be read to its end, rules were left out, and nothing can be said of what lifts them.
    unread = {finding.path for finding in found if finding.entry.family in UNREAD}
    left, lifted = apply(found, suppressions, today, unchecked, unread)
    return LintReport(
        tuple(str(source.path) for source in sources),
        tuple(sorted(left)),
        tuple(sorted(lifted, key=lambda suppressed: suppressed.finding)),
    )


class _Linting:
    """One run: what is read once for many files."""

    def __init__(self, sources: tuple[Source, ...], named: tuple[FilePath, ...], platform: Platform | None) -> None:
        self._sources = {os.path.realpath(source.path): source for source in sources}
        self._named = named
        self._platform = platform
        self._homes: dict[FilePath, Home] = {}
        self._others: dict[str, Source] = {}

    def findings(self, source: Source) -> Iterator[Finding]:
        """Yield what is wrong with a file, and, where it is not linted itself, with what it extends or relaxes to."""
        home = self._home(source)
        if source.kind is Kind.STATE:
            yield from self._of_state(source, examine_power_state(source.path, home.folders))
            return
        yield from self._of_profile(source, home.profile(source.path), home)

    def _of_profile(self, source: Source, examined: Examined[Profile], home: Home) -> Iterator[Finding]:
        profile, state = examined.value, examined.state
        yield from map(self._finding, examined.problems)
        mistakes = [
            *self._broken(profile.case(self._platform), readable=examined.readable),
            *_misnamed(source, profile),
        ]
        if examined.readable:
            mistakes += (*unstated(profile, home.shelf), *costs_more(profile, home.shelf), *no_way_down(profile))
        yield from (self._finding(self._anchored(examined.file, mistake)) for mistake in mistakes)
        if state is not None and os.path.realpath(state.file.path) not in self._sources:
            yield from map(self._finding, state.problems)
            for mistake in polling_left_on(state.value):
                at_its_name = attrs.evolve(mistake, at=("relax", "to"))
                yield self._finding(self._anchored(examined.file, at_its_name))

    def _of_state(self, source: Source, examined: Examined[PowerState]) -> Iterator[Finding]:
        state = examined.value
        yield from map(self._finding, examined.problems)
        case = Case(state.votes, self._platform)
        mistakes = [*self._broken(case, readable=examined.readable), *_misnamed(source, state)]
        mistakes += polling_left_on(state)
        if os.path.realpath(source.path) not in self._used:
            mistakes.append(Mistake(("state",), "REV-5", f"no profile relaxes to {state.name}", "delete it, or use it"))
        yield from (self._finding(self._anchored(examined.file, mistake)) for mistake in mistakes)

    def _broken(self, case: Case, *, readable: bool) -> Iterator[Mistake]:
        """Yield what the rules of votes say that is no reason to refuse the file."""
        also = () if case.platform is None else _ALSO_OF_PLATFORMS
        chosen = [rule for rule in (*_ADVICE, *also) if readable or rule not in BETWEEN_FIELDS]
        alone = (
            set()
            if case.platform is None
            else {(found.rule, found.message) for found in rules.check(attrs.evolve(case, platform=None), also)}
        )
        for found in rules.check(case, chosen):
            if (found.rule, found.message) not in alone:
                yield Mistake(found.at, found.rule, found.message, found.hint, also=found.also)

    def _anchored(self, file: ResolvedFile, mistake: Mistake) -> Problem:
        """Return the place of a mistake: where it is written, or where a file extends what is not linted."""
        problem = file.problem(mistake)
        own = file.documents[0]
        if os.path.realpath(problem.path) in self._sources or ("extends",) not in own.places:
            return problem
        place = own.places["extends",]
        return attrs.evolve(
            problem,
            path=place.path,
            line=place.line,
            column=place.column,
            message=f"{problem.message} (inherited from {shown_path(problem.path)}:{problem.line})",
        )

    def _finding(self, problem: Problem) -> Finding:
        real = os.path.realpath(problem.path)
        source = self._sources.get(real) or self._others.get(real)
        if source is None:
            source = self._others.setdefault(real, read_source(FilePath(problem.path)))
        line, column = problem.line or 1, problem.column or 1
        text = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
        return Finding(str(source.path), line, column, problem.rule, problem.message, problem.hint, text)

    def _home(self, source: Source) -> Home:
        home = self._homes.get(source.home)
        return home or self._homes.setdefault(source.home, Home(source.home, self._named))

    @functools.cached_property
    def _used(self) -> frozenset[str]:
        """The files of the power states to which some profile relaxes, in any folder that is linted."""
        return frozenset().union(*(self._home(source).used_states for source in self._sources.values()))


def _misnamed(source: Source, value: Profile | PowerState) -> Iterator[Mistake]:
    """REV-6."""
    key = "profile" if source.kind is Kind.PROFILE else "state"
    if value.name != source.path.stem:
        message = f"the {source.kind.value} {value.name!r} stands in a file named {source.path.name!r}"
        yield Mistake((key,), "REV-6", message, f"rename the file to {value.name}.yaml")


def _each_once(of_files: Iterable[list[Finding]]) -> list[Finding]:
    """Return the findings without repetition: a base is seen by itself, and in each file that extends it.

    Advice about an inherited field names the profile that inherits it; it is told for the first profile only.
    """
    once: dict[Finding, None] = {}
    told: set[tuple[str, str]] = set()
    for findings in of_files:
        new = [finding for finding in findings if finding.severity is Severity.ERROR or _spot(finding) not in told]
        once |= dict.fromkeys(new)
        told |= set(map(_spot, new))
    return list(once)


def _spot(finding: Finding) -> tuple[str, str]:
    return finding.place, finding.rule
