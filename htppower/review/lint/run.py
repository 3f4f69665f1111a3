"""Lint: read the files, collect what is wrong with each, lift what is suppressed."""

from __future__ import annotations

import functools
import os
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, Place, ProfileError, Severity
from htppower.profiles.discovery import SUFFIXES, folder_list, runtime_of, shown_path
from htppower.profiles.loading import Known, examine_power_state
from htppower.review.file_selection import Kind, Source, extension_kind, find_sources, kind_of
from htppower.review.lint.catalogue import CATALOGUE
from htppower.review.lint.home import Home
from htppower.review.lint.lines import read_lines
from htppower.review.lint.report import LintReport
from htppower.review.lint.review_rules import (
    costs_more,
    hidden,
    misnamed,
    no_way_down,
    polling_left_on,
    stays_up,
    unstated,
)
from htppower.review.lint.suppressions import Found, apply, read_suppressions
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.rules.rule import Needs

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator, Mapping

    from htppower.profiles.extends import ResolvedFile
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import PowerState, Profile
    from htppower.review.extension_lint.run import Linted
    from htppower.review.lint.device_models import LintedModel
    from htppower.review.lint.lines import Lines
    from htppower.rules.platforms import Platform

# Where the standard input stands.
STDIN = FilePath("-")
_NEED_A_PLATFORM = rules.ids(lambda rule: rule.degrades)
# The examination of a file tells what every platform refuses; on one platform these rules refuse more.
_REFUSE_ON_A_PLATFORM = rules.ids(lambda rule: rule.refuses and Needs.PLATFORM in rule.needs)


def lint(
    paths: Iterable[str | os.PathLike[str]],
    today: datetime.date,
    *,
    profiles: Iterable[str | os.PathLike[str]] = (),
    platform: Platform | None = None,
    notes: bool = False,
    exclude: Iterable[str] = (),
    texts: Mapping[FilePath, bytes] = MappingProxyType({}),
    prepared: str | None = None,
) -> LintReport:
    """Return every finding in the files, and in the folders and below.

    Args:
        paths: files and folders.
        today: the date, in UTC, against which suppressions expire.
        profiles: folders in which names are looked up, too.
        platform: check what degrades on this platform, too.
        notes: tell of notes, too.
        exclude: patterns of files and folders to leave out (``find_sources``).
        texts: what is read in the place of files; that of ``STDIN`` is linted, too, as a file of the current folder.
        prepared: how the context was prepared that extension files run, ``raw`` or ``memhandle``; None: not known.

    Raises:
        ProfileError: FILE-1, a path does not exist or can't be read, or a folder holds no profile.
    """
    paths = tuple(paths)
    selected = find_sources(paths, exclude, extensions=True, devices=True)
    if selected.empty:
        hint = "name the folder in which they are"
        raise ProfileError(
            Finding.of_file(str(path), "FILE-1", "no profile in this folder", hint) for path in selected.empty
        )
    every = (*_standard_input(texts.get(STDIN)), *selected.sources)
    sources = tuple(source for source in every if source.kind not in (Kind.EXTENSION, Kind.DEVICE))
    instead = {os.path.realpath(path): text for path, text in texts.items()}
    within = tuple(FilePath(path) for path in paths if os.path.isdir(path))  # noqa: PTH112 - raises on no name
    linting = _Linting(sources, folder_list(profiles), within, platform, instead)
    found = [each for source in sources for each in linting.findings(source)]
    extensions = _linted_extensions(every, instead, platform, prepared)
    models = _linted_models(every, instead)
    others: tuple[Linted | LintedModel, ...] = (*extensions, *models)
    found += [Found(finding, finding.path) for linted in others for finding in linted.findings]
    if not notes:
        found = [each for each in found if each.finding.severity is not Severity.NOTE]
    suppressions, wrong = read_suppressions((*linting.own_lines.values(), *(linted.lines for linted in models)))
    inherited, _ = read_suppressions(linting.other_lines.values())
    # A suppression may lift nothing because its rule was not checked: in a file that can't be read to its end, or is
    # extended by one that is not linted or can't be read, and for a rule that only some platforms break.
    unread = linting.unread | (linting.extended_elsewhere() if suppressions else set())
    for linted in extensions:
        suppressions += linted.suppressions
        wrong += linted.wrong
    left, lifted = apply(found, suppressions, inherited, today, unchecked=_NEED_A_PLATFORM, unread=unread)
    return LintReport(
        tuple(str(source.path) for source in every),
        tuple(sorted(_each_once((*left, *wrong)), key=_order)),
        tuple(sorted(lifted, key=lambda suppressed: _order(suppressed.finding))),
        tuple(map(str, selected.left_out)),
        lines={
            **{str(lines.path): lines for lines in linting.quotable_lines()},
            **{str(linted.lines.path): linted.lines for linted in others},
        },
    )


def _linted_extensions(
    sources: Iterable[Source], instead: Mapping[str, bytes], platform: Platform | None, prepared: str | None
) -> tuple[Linted, ...]:
    """Return what lint says of each extension file."""
    files = [source.path for source in sources if source.kind is Kind.EXTENSION]
    if not files:
        return ()
    from htppower.review.extension_lint.run import lint_extension_file  # noqa: PLC0415 - only for such a file

    return tuple(lint_extension_file(file, instead.get(os.path.realpath(file)), platform, prepared) for file in files)


def _linted_models(sources: Iterable[Source], instead: Mapping[str, bytes]) -> tuple[LintedModel, ...]:
    """Return what lint says of each device model."""
    files = [source.path for source in sources if source.kind is Kind.DEVICE]
    if not files:
        return ()
    from htppower.review.lint.device_models import lint_device_model  # noqa: PLC0415 - only for such a file

    return tuple(lint_device_model(file, instead.get(os.path.realpath(file))) for file in files)


def _standard_input(text: bytes | None) -> tuple[Source, ...]:
    """Return the standard input as a file, if there is any that is no test."""
    if text is None:
        return ()
    if extension_kind(STDIN, text) is Kind.EXTENSION:
        return (Source(STDIN, Kind.EXTENSION),)
    kind = kind_of(STDIN, text)
    return () if kind is Kind.TEST else (Source(STDIN, Kind.PROFILE if kind is Kind.OTHER else kind),)


# A finding, and file and line where its value is written where that is not its place.
_Written = tuple[Finding, "tuple[str, int] | None"]


class _Linting:
    """One run: what is read once for many files.

    Attributes:
        unread: the files that could not be read to their end.
        own_lines: the files that are linted, by their real paths.
        other_lines: the files of which they inherit something that is told.
    """

    def __init__(
        self,
        sources: tuple[Source, ...],
        named: tuple[FilePath, ...],
        within: tuple[FilePath, ...],
        platform: Platform | None,
        texts: Mapping[str, bytes],
    ) -> None:
        self.unread: set[str] = set()
        self._sources = {os.path.realpath(source.path): source for source in sources}
        self.own_lines = {real: read_lines(source.path, texts.get(real)) for real, source in self._sources.items()}
        self.other_lines: dict[str, Lines] = {}
        self._named = named
        self._within = within
        self._platform = platform
        self._homes: dict[FilePath, Home] = {}
        self._shipped: dict[FilePath, Examined[Profile]] = {}
        self._known = Known(texts)

    def extended_elsewhere(self) -> set[str]:
        """Return the files that are extended by a file that is not linted, or can't be read to its end."""
        extended: set[str] = set()
        for home in self._homes.values():
            for examined in home.profiles:
                if os.path.realpath(examined.file.path) not in self._sources or not examined.readable:
                    extended |= {os.path.realpath(document.path) for document in examined.file.documents[1:]}
        return {str(lines.path) for real, lines in self.own_lines.items() if real in extended}

    def quotable_lines(self) -> Iterator[Lines]:
        """Yield the lines that the report may quote: of files in the folders being used, and of no other."""
        for real, lines in self.own_lines.items():
            source = self._sources[real]
            if self._home(source).folders.hold(source.path, source.path):
                yield lines
        for lines in self.other_lines.values():
            nearby = any(
                home.folders.hold(lines.path, folder / lines.path.name) for folder, home in self._homes.items()
            )
            if nearby and lines.path.suffix in SUFFIXES and lines.look_ours:
                yield lines

    def findings(self, source: Source) -> Iterator[Found]:
        """Yield what is wrong with a file, and, where it is not linted itself, with what it extends or relaxes to."""
        home = self._home(source)
        examined: Examined[Profile] | Examined[PowerState]
        if source.kind is Kind.STATE:
            state = examined = examine_power_state(source.path, home.folders, home.known)
            found = self._of_state(source, state)
        else:
            profile = examined = home.profile(source.path)
            found = self._of_profile(source, profile, home)
        about = str(source.path)
        if not examined.readable:
            self.unread.add(about)
        yield from (Found(self._finding(problem), about) for problem in examined.problems)
        yield from (Found(finding, about, written) for finding, written in found)

    def _of_profile(self, source: Source, examined: Examined[Profile], home: Home) -> Iterator[_Written]:
        profile = examined.value
        case = profile.case(self._platform)
        if not examined.file.complete:
            # What cannot be read may extend one that the profile is to be taken for.
            case = case._replace(lineage=())
        findings = [*self._broken(case, readable=examined.readable)]
        # A record says what another runtime does, which no review changes.
        recorded = profile.provenance is not None
        findings += () if recorded else stays_up(profile)
        if source.path != STDIN:
            findings += (
                *misnamed(source, profile),
                *(() if runtime_of(source.path) else hidden(source, home.first_of_name)),
            )
        if examined.readable and not recorded:
            findings += (*unstated(profile, home.shelf), *costs_more(profile, home.shelf), *no_way_down(profile))
        yield from (self._advice(examined.file, finding) for finding in findings)
        for at, state in examined.states.items():
            if os.path.realpath(state.file.path) in self._sources:
                continue
            yield from ((self._finding(problem), None) for problem in state.problems)
            lines = self._lines(str(state.file.path))
            for finding in () if recorded else polling_left_on(state.value):
                found, _ = self._advice(examined.file, attrs.evolve(finding, at=at))
                yield found, (str(lines.path), state.file.located(finding).line)

    def _of_state(self, source: Source, examined: Examined[PowerState]) -> Iterator[_Written]:
        state = examined.value
        findings = [*self._broken(Case(state.votes, self._platform), readable=examined.readable)]
        findings += () if runtime_of(source.path) else polling_left_on(state)
        # What has no file has no name by which a profile could use it.
        if source.path != STDIN:
            findings += misnamed(source, state)
        if source.path != STDIN and os.path.realpath(source.path) not in self._used:
            findings.append(Finding("REV-5", ("state",), f"no profile relaxes to {state.name}", "delete it, or use it"))
        yield from (self._advice(examined.file, finding) for finding in findings)

    def _broken(self, case: Case, *, readable: bool) -> Iterator[Finding]:
        """Yield what the rules of votes say that is no reason to refuse the file."""
        also = () if case.platform is None else _REFUSE_ON_A_PLATFORM
        chosen = rules.ids(lambda rule: (not rule.refuses or rule.id in also) and (readable or not rule.compares))
        everywhere = rules.check(case._replace(platform=None), also)
        told = {(found.rule, found.message) for found in everywhere}
        yield from (found for found in rules.check(case, chosen) if (found.rule, found.message) not in told)

    def _advice(self, file: ResolvedFile, finding: Finding) -> _Written:
        """Return a finding where it is written, or where a file extends what is not linted."""
        problem = file.written(finding)
        place = file.documents[0].places.get(("extends",))
        if os.path.realpath(problem.path) in self._sources or place is None:
            return self._finding(problem), None
        base = self._lines(problem.path)
        said = f"{problem.message} (inherited from {shown_path(problem.path)}:{problem.line})"
        at_extends = attrs.evolve(problem, place=place, message=said)
        return self._finding(at_extends), (str(base.path), problem.line)

    def _finding(self, problem: Finding) -> Finding:
        """Return a finding as lint tells it: its file spelt as the user spells it, the first line for a whole file."""
        place = Place(str(self._lines(problem.path).path), problem.line or 1, problem.column or 1)
        return attrs.evolve(problem, place=place, severity=CATALOGUE[problem.rule].severity)

    def _lines(self, path: str) -> Lines:
        real = os.path.realpath(path)
        lines = self.own_lines.get(real) or self.other_lines.get(real)
        return lines or self.other_lines.setdefault(real, read_lines(FilePath(path)))

    def _home(self, source: Source) -> Home:
        home = self._homes.get(source.home)
        return home or self._homes.setdefault(
            source.home, Home(source.home, self._named, self._within, self._shipped, self._known)
        )

    @functools.cached_property
    def _used(self) -> frozenset[str]:
        """The files of the power states to which some profile relaxes, in any folder that is linted."""
        return frozenset().union(*(self._home(source).used_states for source in self._sources.values()))


def _each_once(found: Iterable[Found]) -> list[Finding]:
    """Return the findings without repetition: a base is seen by itself, and in each file that extends it.

    Advice about an inherited field names the profile that inherits it; it is told for one profile only, the one that
    stands in the file itself where there is one.
    """
    once: dict[Finding, None] = {}
    told: dict[tuple[Place | None, str], str] = {}
    for each in sorted(found, key=lambda each: (each.about != each.finding.path, _order(each.finding))):
        finding = each.finding
        spot = (finding.place, finding.rule)
        if finding.severity is Severity.ERROR or told.setdefault(spot, each.about) == each.about:
            once[finding] = None
    return list(once)


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    return finding.path, finding.line, finding.column, finding.rule, finding.message
