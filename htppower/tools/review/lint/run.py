"""Lint: read the files, collect the findings of each, hide those that are suppressed."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.errors import Finding, Place, ProfileError, Severity, bounded
from htppower.profiles.cache import ProfileCache
from htppower.profiles.discovery import folder_list
from htppower.profiles.paths import joined, stem_of
from htppower.rules import table as rules
from htppower.tools.review.file_kinds import Kind, named_kind
from htppower.tools.review.file_selection import Source, find_sources, leads_elsewhere, matches
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.profile_findings import STDIN, ProfileFindings
from htppower.tools.review.lint.suppressions import Found, Lines, Linted, apply, read_lines, read_suppressions

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from htppower.rules.platforms import Platform
    from htppower.tools.review.lint.suppressions import Suppressed

_NEED_A_PLATFORM = rules.ids(lambda rule: rule.degrades)


class LintReport(NamedTuple):
    """The result of a run.

    Attributes:
        files: the files that were checked, in order.
        findings: every finding, sorted.
        suppressed: the findings that a suppression hides, sorted.
        left_out: YAML files in the folders that hold neither a profile nor a power state.
        strict: whether warnings are a reason to fail.
        lines: the files with findings, by their paths.
        help_uri: the page of a rule in the user's own documentation, with ``{rule}`` for the id; empty for none.
    """

    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    left_out: tuple[str, ...] = ()
    strict: bool = False
    lines: Mapping[str, Lines] = MappingProxyType({})
    help_uri: str = ""

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings to show: at most 100 of each file. The last one then stands for the others."""
        return bounded(self.findings)

    def counts(self, finding: Finding) -> bool:
        """Return whether a finding is a reason to fail."""
        return finding.severity is Severity.ERROR or (self.strict and finding.severity is Severity.WARNING)

    def excerpt(self, finding: Finding) -> tuple[str, int]:
        """Return the line of a finding, or the part of it around its column, and the column within that.

        The text is empty if the line does not exist.
        """
        lines = self.lines.get(finding.path)
        return ("", finding.column) if lines is None else lines.excerpt(finding.line, finding.column)

    def count(self, severity: Severity) -> int:
        """Return how many findings have a severity, including those that are not shown."""
        return sum(finding.severity is severity for finding in self.findings)


def lint(
    paths: Iterable[str | os.PathLike[str]],
    today: datetime.date,
    *,
    profiles: Iterable[str | os.PathLike[str]] = (),
    platform: Platform | None = None,
    notes: bool = False,
    exclude: Iterable[str] = (),
    texts: Mapping[str, bytes] = MappingProxyType({}),
    prepared: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> LintReport:
    """Return every finding in the files, and in the folders and their subfolders.

    Args:
        paths: files and folders.
        today: the date in UTC, which decides whether suppressions have expired.
        profiles: more folders to look up names.
        platform: also check what degrades on this platform.
        notes: also report notes.
        exclude: patterns of files and folders to leave out (``find_sources``).
        texts: contents to use instead of files. The content of ``STDIN`` is linted as a file of the current folder.
        prepared: how the context that extension files run was prepared, ``raw`` or ``memhandle``; None if not known.
        progress: called with the number of profiles and power states that are done, and the number of all.

    Raises:
        ProfileError: FILE-1, a path does not exist or can't be read, or a folder holds no profile; also if patterns
            leave out all folders, and no file is left.
    """
    paths = tuple(paths)
    selected = find_sources(paths, exclude, extensions=True, devices=True)
    if selected.empty:
        hint = "name the folder of the profiles"
        raise ProfileError(
            Finding.of_file(path, "FILE-1", "no profile in this folder", hint) for path in selected.empty
        )
    within = tuple(joined(path) for path in paths if os.path.isdir(path))
    if within and not selected.sources and STDIN not in texts:
        left_out = ("all profiles in this folder are left out", "leave out less by --exclude")
        raise ProfileError(Finding.of_file(folder, "FILE-1", *left_out) for folder in within)
    every = (*_standard_input(texts.get(STDIN)), *selected.sources)
    instead = {os.path.realpath(path): text for path, text in texts.items()}
    every += _inner_sources(every, instead, tuple(exclude))
    sources = tuple(source for source in every if source.kind not in (Kind.EXTENSION, Kind.DEVICE, Kind.SERVICE))
    linting = ProfileFindings(sources, folder_list(profiles), within, platform, instead)
    found: list[Found] = []
    for done, source in enumerate(sources):
        progress(done, len(sources))
        found += linting.findings(source)
    others = tuple(_linted_others(every, within, instead, platform, prepared, profiles))
    found += [Found(finding, finding.path) for linted in others for finding in linted.findings]
    if not notes:
        found = [each for each in found if each.finding.severity is not Severity.NOTE]
    suppressions, wrong = read_suppressions(linting.own_lines.values())
    inherited, _ = read_suppressions(linting.other_lines.values())
    # A suppression may hide nothing because its rule was not checked. That happens in a file that can't be read to its
    # end, or that is extended by a file that is not linted or can't be read, and for a rule that depends on the
    # platform.
    unread = linting.unread | (linting.extended_elsewhere() if suppressions else set())
    for linted in others:
        suppressions += linted.suppressions
        wrong += linted.wrong
    left, lifted = apply(found, suppressions, inherited, today, unchecked=_NEED_A_PLATFORM, unread=unread)
    return LintReport(
        tuple(source.path for source in every),
        tuple(sorted(_each_once((*left, *wrong)), key=_order)),
        tuple(sorted(lifted, key=lambda suppressed: _order(suppressed.finding))),
        selected.left_out,
        lines={
            **{lines.path: lines for lines in linting.quotable_lines()},
            **{linted.lines.path: linted.lines for linted in others},
        },
    )


def _inner_sources(
    sources: Iterable[Source], instead: Mapping[str, bytes], exclude: tuple[str, ...]
) -> tuple[Source, ...]:
    """Return the extension files that others name, that are in their folders, and that are not linted yet."""
    outer = [source.path for source in sources if source.kind is Kind.EXTENSION]
    if not outer:
        return ()
    from htppower.tools.extensions.inner_files import followed  # noqa: PLC0415 - only for such a file

    known = {os.path.realpath(source.path) for source in sources}
    found: dict[str, str] = {}
    for path in outer:
        for inner in followed(path, instead.get(os.path.realpath(path))):
            real = os.path.realpath(inner)
            if real not in known and not matches(inner, exclude):
                found.setdefault(real, inner)
    return tuple(Source(path, Kind.EXTENSION) for path in found.values())


def _linted_others(
    sources: Iterable[Source],
    within: tuple[str, ...],
    instead: Mapping[str, bytes],
    platform: Platform | None,
    prepared: str | None,
    profiles: Iterable[str | os.PathLike[str]],
) -> Iterator[Linted]:
    """Yield the result of each extension file, device model and service; ``within`` are the folders to lint."""
    for path, kind in ((source.path, source.kind) for source in sources):
        given = instead.get(os.path.realpath(path))
        if kind is Kind.EXTENSION:
            from htppower.tools.review.extension_lint.run import lint_extension_file  # noqa: PLC0415 - if there is one

            yield lint_extension_file(path, given, platform, prepared, linked=leads_elsewhere(path, within))
        elif kind is Kind.DEVICE:
            yield _linted_model(path, given)
        elif kind is Kind.SERVICE:
            from htppower.hosts.service.limits import examine_service_file  # noqa: PLC0415 - if there is one

            yield _linted(path, given, examine_service_file(path, ProfileCache(profiles), given).problems)


def _linted_model(path: str, given: bytes | None) -> Linted:
    """Return the result of a device model; ``given`` replaces the content of its file."""
    from htppower.tools.tuning.models.file import examine_device_model, odd_order  # noqa: PLC0415 - if there is one

    examined = examine_device_model(path, given)
    found = list(examined.problems)
    if examined.model is not None:
        hint = "measure it again, or give the reason in a suppression"
        odd = [Finding("MODEL-1", (name, "value"), message, hint) for name, message in odd_order(examined.model)]
        named, file = examined.model.device, examined.document.path
        if file != STDIN and named != stem_of(file):
            hint = f"name the file {named}.yaml, or the model {stem_of(file)}"
            message = f"the file {os.path.basename(file)} holds the model {named}"
            odd.append(Finding("REV-6", ("device",), message, hint))
        found += map(examined.document.located, odd)
    return _linted(path, given, found)


def _linted(path: str, given: bytes | None, found: Iterable[Finding]) -> Linted:
    """Return the findings about a file, with the severity of each, and the suppressions in the file."""
    lines = read_lines(path, given)
    suppressions, wrong = read_suppressions((lines,))
    placed = (
        attrs.evolve(each, place=Place(path, each.line or 1, each.column or 1), severity=CATALOGUE[each.rule].severity)
        for each in found
    )
    return Linted(tuple(placed), tuple(suppressions), tuple(wrong), lines)


def _standard_input(text: bytes | None) -> tuple[Source, ...]:
    """Return the standard input as a file, unless there is none or it is a vote test."""
    if text is None:
        return ()
    kind = named_kind(STDIN, text)
    return () if kind is Kind.TEST else (Source(STDIN, Kind.PROFILE if kind is Kind.OTHER else kind),)


def _each_once(found: Iterable[Found]) -> list[Finding]:
    """Return the findings without repetition. A base is examined by itself, and in each file that extends it.

    Advice about an inherited field names the profile that inherits it. It is reported for one profile only, if possible
    for the profile in the file itself.
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
