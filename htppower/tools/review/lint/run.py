"""Lint: read the files, collect the findings of each, hide those that are suppressed."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.errors import Finding, ProfileError, Severity
from htppower.profiles.discovery import folder_list
from htppower.profiles.paths import joined
from htppower.rules import table as rules
from htppower.tools.review.file_kinds import Kind, named_kind
from htppower.tools.review.file_selection import Source, find_sources, leads_elsewhere, matches
from htppower.tools.review.lint.profile_findings import STDIN, ProfileFindings
from htppower.tools.review.lint.report import LintReport
from htppower.tools.review.lint.suppressions import Found, apply, read_suppressions

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Iterable, Mapping

    from htppower.errors import Place
    from htppower.rules.platforms import Platform
    from htppower.tools.review.extension_lint.run import Linted
    from htppower.tools.review.lint.device_models import LintedModel

_NEED_A_PLATFORM = rules.ids(lambda rule: rule.degrades)


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
    sources = tuple(source for source in every if source.kind not in (Kind.EXTENSION, Kind.DEVICE))
    linting = ProfileFindings(sources, folder_list(profiles), within, platform, instead)
    found: list[Found] = []
    for done, source in enumerate(sources):
        progress(done, len(sources))
        found += linting.findings(source)
    extensions = _linted_extensions(every, within, instead, platform, prepared)
    models = _linted_models(every, instead)
    others: tuple[Linted | LintedModel, ...] = (*extensions, *models)
    found += [Found(finding, finding.path) for linted in others for finding in linted.findings]
    if not notes:
        found = [each for each in found if each.finding.severity is not Severity.NOTE]
    suppressions, wrong = read_suppressions((*linting.own_lines.values(), *(linted.lines for linted in models)))
    inherited, _ = read_suppressions(linting.other_lines.values())
    # A suppression may hide nothing because its rule was not checked. That happens in a file that can't be read to its
    # end, or that is extended by a file that is not linted or can't be read, and for a rule that depends on the
    # platform.
    unread = linting.unread | (linting.extended_elsewhere() if suppressions else set())
    for linted in extensions:
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


def _linted_extensions(
    sources: Iterable[Source],
    within: tuple[str, ...],
    instead: Mapping[str, bytes],
    platform: Platform | None,
    prepared: str | None,
) -> tuple[Linted, ...]:
    """Return the findings of each extension file; ``within`` are the folders that are linted."""
    files = [source.path for source in sources if source.kind is Kind.EXTENSION]
    if not files:
        return ()
    from htppower.tools.review.extension_lint.run import lint_extension_file  # noqa: PLC0415 - only for such a file

    return tuple(
        lint_extension_file(
            file, instead.get(os.path.realpath(file)), platform, prepared, linked=leads_elsewhere(file, within)
        )
        for file in files
    )


def _linted_models(sources: Iterable[Source], instead: Mapping[str, bytes]) -> tuple[LintedModel, ...]:
    """Return the result of lint for each device model."""
    files = [source.path for source in sources if source.kind is Kind.DEVICE]
    if not files:
        return ()
    from htppower.tools.review.lint.device_models import lint_device_model  # noqa: PLC0415 - only for such a file

    return tuple(lint_device_model(file, instead.get(os.path.realpath(file))) for file in files)


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
