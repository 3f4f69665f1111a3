"""Findings in profiles and power states, and in the files that they extend and relax to.

A ``Home`` is a folder of profiles: where their names are looked up, and which profiles they are compared with.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, Place
from htppower.profiles.discovery import SUFFIXES, shipped_folder, shown_path, yaml_files
from htppower.profiles.loading import Known, examine_profile
from htppower.profiles.names import LISTED_FIRST, LLM_DECODE_PROFILES, runtime_of
from htppower.profiles.paths import folder_of, joined, stem_of
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.rules.rule import Needs
from htppower.tools.review.file_kinds import Kind, named_first
from htppower.tools.review.file_selection import folders_of
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.review_rules import (
    Shelf,
    costs_more,
    hidden,
    misnamed,
    no_way_down,
    polling_left_on,
    stays_up,
    table_of,
    unstated,
)
from htppower.tools.review.lint.suppressions import Found, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import PowerState, Profile
    from htppower.rules.platforms import Platform
    from htppower.tools.review.file_selection import Source
    from htppower.tools.review.lint.suppressions import Lines

# The path of the standard input.
STDIN = "-"
# Examining a file finds what every platform refuses. On a given platform these rules refuse more.
_REFUSE_ON_A_PLATFORM = rules.ids(lambda rule: rule.refuses and Needs.PLATFORM in rule.needs)

# A finding, and the file and line of its value if that is not its place.
_Written = tuple[Finding, "tuple[str, int] | None"]


class Home:
    """A folder of profiles. Each file is read once, and only when it is needed.

    Names are looked up in the folders ``named``, too; ``within`` are the folders that are linted. Homes share
    ``shipped`` and ``known``, which hold the files that were read.
    """

    def __init__(
        self,
        folder: str,
        named: Iterable[str],
        within: tuple[str, ...],
        shipped: dict[str, Examined[Profile]],
        known: Known,
    ) -> None:
        self.folders = attrs.evolve(folders_of(folder, named), within=within)
        self.known = known
        self._examined: dict[str, Examined[Profile]] = {}
        self._shelves: dict[tuple[str, ...], Shelf] = {}
        self._shipped_folder = shipped_folder()
        # If another folder replaces the shipped one, the names in shipped files mean other files.
        self._shipped = shipped if self.folders.paths[0] == self._shipped_folder else {}

    def profile(self, path: str) -> Examined[Profile]:
        """Return the profile of a file and all its problems."""
        if folder_of(path) == self._shipped_folder:
            return self._shipped.get(path) or self._shipped.setdefault(path, self._examine(path))
        real = os.path.realpath(path)
        return self._examined.get(real) or self._examined.setdefault(real, self._examine(path))

    def shelf(self, table: tuple[str, ...]) -> Shelf:
        """Return the profiles of a table, from here and from the shipped ones, except those that are refused.

        A shipped profile is left out if an earlier folder has a profile of its name.
        """
        if table not in self._shelves:
            self._shelves[table] = Shelf.of(table, self._sound(table))
        return self._shelves[table]

    @functools.cached_property
    def used_states(self) -> frozenset[str]:
        """The files of the power states that a profile in this folder relaxes to."""
        used = {state.file.path for each in self.profiles for state in each.states.values()}
        return frozenset(map(os.path.realpath, used))

    @functools.cached_property
    def first_of_name(self) -> dict[str, str]:
        """The file of each name."""
        first: dict[str, str] = {}
        for file in self._files():
            first.setdefault(stem_of(file), file)
        return first

    @functools.cached_property
    def profiles(self) -> tuple[Examined[Profile], ...]:
        """Every profile here, and the shipped ones."""
        return tuple({id(each): each for each in map(self.profile, self._files())}.values())

    def _sound(self, table: tuple[str, ...]) -> Iterator[Profile]:
        """Yield the profiles that may be in the table. Files that can't be in it are not read.

        A shipped file has the name of its profile.
        """
        others = set(LISTED_FIRST).difference(table)
        # A profile with a name of the first table may extend a profile of the second. Then it is in the second.
        second = others.intersection(LLM_DECODE_PROFILES)
        shipped = os.path.realpath(self._shipped_folder)
        named: set[str] = set()
        known = self.known.texts
        for folder in self.folders.paths:
            # The user may write the path of the shipped folder in another way.
            if os.path.realpath(folder) == shipped:
                unread = others | named
                files = [file for file in yaml_files(folder) if stem_of(file) not in unread]
            else:
                files = [
                    file
                    for file in yaml_files(folder)
                    if named_first(file, known.get(os.path.realpath(file))) not in second
                ]
            examined = map(self.profile, files)
            sound = [each.value for each in examined if each.readable and not each.problems]
            named.update(profile.name for profile in sound)
            yield from sound

    def _examine(self, path: str) -> Examined[Profile]:
        return examine_profile(path, self.folders, self.known)

    def _files(self) -> Iterator[str]:
        for folder in self.folders.paths:
            yield from yaml_files(folder)


class ProfileFindings:
    """Lint of the profiles and power states of one run, which share the files that they read.

    Attributes:
        unread: the files that can't be read to their end.
        own_lines: the lines of the linted files, by their real paths.
        other_lines: the lines of files from which they inherit a value with a finding.
    """

    def __init__(
        self,
        sources: tuple[Source, ...],
        named: tuple[str, ...],
        within: tuple[str, ...],
        platform: Platform | None,
        texts: Mapping[str, bytes],
    ) -> None:
        self.unread: set[str] = set()
        # Every finding looks up the same few files, and resolving links takes system calls.
        self._real = functools.cache(os.path.realpath)
        self._sources = {self._real(source.path): source for source in sources}
        self.own_lines = {real: read_lines(source.path, texts.get(real)) for real, source in self._sources.items()}
        self.other_lines: dict[str, Lines] = {}
        self._named = named
        self._within = within
        self._platform = platform
        self._homes: dict[str, Home] = {}
        self._shipped: dict[str, Examined[Profile]] = {}
        self._known = Known(texts)

    def extended_elsewhere(self) -> set[str]:
        """Return the files that are extended by a file that is not linted, or can't be read to its end."""
        extended: set[str] = set()
        for home in self._homes.values():
            for examined in home.profiles:
                if self._real(examined.file.path) not in self._sources or not examined.readable:
                    extended |= {self._real(document.path) for document in examined.file.documents[1:]}
        return {lines.path for real, lines in self.own_lines.items() if real in extended}

    def quotable_lines(self) -> Iterator[Lines]:
        """Yield the lines that the report may quote: only those of files in the folders being used."""
        for real, lines in self.own_lines.items():
            source = self._sources[real]
            if self._home(source).folders.hold(source.path, source.path):
                yield lines
        for lines in self.other_lines.values():
            name = os.path.basename(lines.path)
            nearby = any(home.folders.hold(lines.path, joined(folder, name)) for folder, home in self._homes.items())
            if nearby and name.endswith(SUFFIXES) and lines.look_ours:
                yield lines

    def findings(self, source: Source) -> Iterator[Found]:
        """Yield the faults of a file, and of files that it extends or relaxes to unless they are linted themselves."""
        home = self._home(source)
        examined: Examined[Profile] | Examined[PowerState]
        if source.kind is Kind.STATE:
            state = examined = home.known.power_state(source.path, home.folders)
            found = self._of_state(source, state)
        else:
            profile = examined = home.profile(source.path)
            found = self._of_profile(source, profile, home)
        about = source.path
        if not examined.readable:
            self.unread.add(about)
        yield from (Found(self._finding(problem), about) for problem in examined.problems)
        yield from (Found(finding, about, written) for finding, written in found)

    def _of_profile(self, source: Source, examined: Examined[Profile], home: Home) -> Iterator[_Written]:
        profile = examined.value
        case = profile.case(self._platform)
        if not examined.file.complete:
            # The unreadable part may extend a profile that decides which rules apply.
            case = attrs.evolve(case, lineage=())
        findings = [*self._broken(case, readable=examined.readable)]
        # A record states what another runtime does, which no review can change.
        recorded = profile.provenance is not None
        findings += () if recorded else stays_up(profile)
        if source.path != STDIN:
            findings += (
                *misnamed(source, profile),
                *(() if runtime_of(source.path) else hidden(source, home.first_of_name)),
            )
        if examined.readable and not recorded:
            shelf = home.shelf(table_of(profile))
            findings += (*unstated(profile, shelf), *costs_more(profile, shelf), *no_way_down(profile))
        yield from (self._advice(examined.file, finding) for finding in findings)
        for at, state in examined.states.items():
            if self._real(state.file.path) in self._sources:
                continue
            yield from ((self._finding(problem), None) for problem in state.problems)
            lines = self._lines(state.file.path)
            for finding in () if recorded else polling_left_on(state.value):
                found, _ = self._advice(examined.file, attrs.evolve(finding, at=at))
                yield found, (lines.path, state.file.located(finding).line)

    def _of_state(self, source: Source, examined: Examined[PowerState]) -> Iterator[_Written]:
        state = examined.value
        findings = [*self._broken(Case(state.votes, self._platform), readable=examined.readable)]
        findings += () if runtime_of(source.path) else polling_left_on(state)
        # Profiles can't refer to the standard input by a file name.
        if source.path != STDIN:
            findings += misnamed(source, state)
        if source.path != STDIN and self._real(source.path) not in self._used:
            findings.append(Finding("REV-5", ("state",), f"no profile relaxes to {state.name}", "delete it, or use it"))
        yield from (self._advice(examined.file, finding) for finding in findings)

    def _broken(self, case: Case, *, readable: bool) -> Iterator[Finding]:
        """Yield the findings of the rules of votes that do not refuse the file."""
        also = () if case.platform is None else _REFUSE_ON_A_PLATFORM
        chosen = rules.ids(lambda rule: (not rule.refuses or rule.id in also) and (readable or not rule.compares))
        everywhere = rules.check(attrs.evolve(case, platform=None), also)
        told = {(found.rule, found.message) for found in everywhere}
        yield from (found for found in rules.check(case, chosen) if (found.rule, found.message) not in told)

    def _advice(self, file: ResolvedFile, finding: Finding) -> _Written:
        """Return a finding at the place of its value, or at ``extends`` if that file is not linted."""
        problem = file.written(finding)
        place = file.documents[0].places.get(("extends",))
        if self._real(problem.path) in self._sources or place is None:
            return self._finding(problem), None
        base = self._lines(problem.path)
        said = f"{problem.message} (inherited from {shown_path(problem.path)}:{problem.line})"
        at_extends = attrs.evolve(problem, place=place, message=said)
        return self._finding(at_extends), (base.path, problem.line)

    def _finding(self, problem: Finding) -> Finding:
        """Return a finding with its file as the user wrote it, and the first line if it is about a whole file."""
        place = Place(self._lines(problem.path).path, problem.line or 1, problem.column or 1)
        return attrs.evolve(problem, place=place, severity=CATALOGUE[problem.rule].severity)

    def _lines(self, path: str) -> Lines:
        real = self._real(path)
        lines = self.own_lines.get(real) or self.other_lines.get(real)
        return lines or self.other_lines.setdefault(real, read_lines(path))

    def _home(self, source: Source) -> Home:
        home = self._homes.get(source.home)
        return home or self._homes.setdefault(
            source.home, Home(source.home, self._named, self._within, self._shipped, self._known)
        )

    @functools.cached_property
    def _used(self) -> frozenset[str]:
        """The files of the power states that some profile relaxes to, in any linted folder."""
        return frozenset().union(*(self._home(source).used_states for source in self._sources.values()))
