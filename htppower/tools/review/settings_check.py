"""Check files of settings: read them, compare them with the table of the runtimes, and collect findings."""

from __future__ import annotations

import datetime
import operator
import os
import re
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, Place, ProfileError, Severity, shortened
from htppower.hosts.qnn_provider import SPINNING
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.paths import folder_of, joined
from htppower.profiles.regular_file import NotRegular, read_regular_file
from htppower.tools.extensions.extension_file import FileKind, read_extension_file
from htppower.tools.extensions.inner_files import beside_dialog, is_within
from htppower.tools.extensions.performance import votes_of_genie
from htppower.tools.review.extension_lint.run import lint_extension_file
from htppower.tools.review.file_selection import leads_elsewhere, reason_of
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.run import LintReport
from htppower.tools.review.lint.suppressions import LINE_BREAK, Found, Lines, apply
from htppower.tools.runtimes.litert import NUMBERS
from htppower.tools.runtimes.reading import no_text, said
from htppower.tools.runtimes.statements import is_unquoted
from htppower.tools.runtimes.voting_settings import LARGEST_TIME_US, SPINS, Option, Takes, Where, time_us

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.tools.review.lint.suppressions import Linted
    from htppower.tools.runtimes.statements import Said, Statement

_POST_RUN = "qnn.htp_perf_mode_post_run"
# A number as std::stoul of Linux reads it: text after the number is ignored. A number with more digits does not fit.
_OF_C = re.compile(r"\s*(?P<sign>[+-]?)0*(?P<digits>[0-9]{1,20})(?![0-9])", re.ASCII)
_LARGEST_OF_C = 2**64 - 1


@attrs.frozen
class Checked:
    """The result of checking some files.

    Attributes:
        report: the findings.
        forms: the kind of each file, in words; empty if unknown.
        notes: other remarks on a file, one sentence each, that are too uncertain for findings.
    """

    report: LintReport
    forms: dict[str, str] = attrs.field(hash=False)
    notes: tuple[str, ...] = ()


def check(paths: Iterable[str]) -> Checked:
    """Return every finding in files of settings."""
    findings: list[Finding] = []
    lines: dict[str, Lines] = {}
    forms: dict[str, str] = {}
    notes: list[str] = []
    for path in dict.fromkeys(paths):
        try:
            data = read_regular_file(joined(path))
        except (NotRegular, OSError, ValueError) as error:
            reason = f"is {error}" if isinstance(error, NotRegular) else f"can't be read: {reason_of(error)}"
            findings.append(Finding.of_file(path, "FILE-1", reason, "name a file"))
            forms[path] = "unread"
            continue
        found = said(data, path)
        findings += found.problems
        findings += findings_of(found, path)
        for linted in _linted(found, path):
            findings += linted.findings
            lines[linted.lines.path] = linted.lines
        notes += _notes(found, path)
        forms[path] = found.form or ("unread" if found.problems else "")
        # A link that leads out of its folder may lead to a secret, so no line is shown.
        text = () if leads_elsewhere(path) else tuple(re.split(LINE_BREAK, data.decode("utf-8", "replace")))
        lines[path] = Lines(path, text, ())
    in_order = sorted(map(_weighed, findings), key=operator.attrgetter("path", "line", "column", "rule"))
    report = LintReport(tuple(forms), tuple(in_order), lines=lines)
    return Checked(report, forms, tuple(notes))


def _notes(found: Said, path: str) -> Iterator[str]:
    """Yield a note if no setting was read, with the reason if known, and one for each setting that is left open."""
    if not found.form and not found.problems:
        yield f"{path}: no setting in it that htppower can read{why_unread(found)}"
    for place in found.without_mode:
        yield f"{place}: the QNN provider has no htp_performance_mode here: without one it votes nothing"
    for place in found.spinning:
        yield f"{place}: without {SPINNING[0]}=0 here, ONNX Runtime's threads may spin: htppower explain SET-14"


def why_unread(found: Said) -> str:
    """Return the reason why no setting was read, as the end of a sentence; empty if unknown."""
    if not found.open_values:
        return ""
    key, place = found.open_values[0]
    return f"; the value of {key} in line {place.line} is not a literal"


def findings_of(found: Said, path: str) -> Iterator[Finding]:
    """Yield the faults in the statements of a file."""
    for statement in found.statements:
        yield from _of_statement(statement)
    yield from _of_runs(found.statements)
    for wrong in found.no_texts:
        yield no_text(*wrong)
    for key, place, hint in found.unread:
        yield Finding("SET-1", (), f"{key} is never read: SNPE has no such field", hint, place=place)
    for key, value, place, hint in found.unknown:
        yield Finding("SET-2", (), f"{key} is {value}, which SNPE does not have", hint, place=place)
    for key, place in found.refused:
        message = f"Genie refuses all of the dialog for {key}"
        yield Finding("SET-8", (), message, "write perf_profile into the extension file", place=place)
    for place in found.silent:
        yield Finding("SET-10", (), "the dialog names no extension file, so no votes are sent", _NAME_ONE, place=place)
    for place in found.polls:
        message = "poll is true: a thread of Genie uses the CPU, even between queries"
        yield Finding("SET-14", (), message, 'write "poll": false', place=place)
    for named, place in found.extensions:
        yield from _of_extensions(named, place, path)


_NAME_ONE = "name one in engine.backend.extensions"


def _of_statement(statement: Statement) -> Iterator[Finding]:
    option = statement.option
    if option is None:
        meant = statement.meant
        hint = f"write {meant}" if meant else "leave it out"
        message = f"{statement.key} is never read in {statement.where}"
        yield Finding("SET-1", (), message, hint, place=statement.key_place)
        return
    if is_unquoted(statement):
        yield no_text(statement.key, statement.value, statement.place)
    if option.takes is Takes.TIME:
        yield from _of_time(statement, option)
    elif not statement.mode and statement.value:
        yield _of_mode(statement, option)
    if statement.where is Where.DYNAMIC and statement.mode == "default":
        message = f"{statement.key} is default: after another mode the process ends"
        yield Finding("SET-12", (), message, "name a mode that votes", place=statement.place)
    if statement.mode == SPINS:
        message = f"{statement.key} is {statement.value}: ONNX Runtime's threads use the CPU while they wait"
        yield Finding("SET-14", (), message, "write 0, and compare the times of your model", place=statement.place)


def _of_time(statement: Statement, option: Option) -> Iterator[Finding]:
    value = statement.value
    if time_us(value) is not None:
        return
    taken = _taken_us(value)
    then = option.unknown if taken is None else f"{taken} is taken"
    message = f"{statement.key} is {value!r}, not a whole number of us up to {LARGEST_TIME_US}: {then}"
    yield Finding("SET-7", (), message, "write a whole number of us, such as 100", place=statement.place)


def _taken_us(value: str) -> int | None:
    """Return the time that ONNX Runtime reads: C's unsigned long, cut to 32 bits; None if it is not a number."""
    found = _OF_C.match(value)
    if found is None or int(found["digits"]) > _LARGEST_OF_C:
        return None
    number = int(found["digits"])
    return (-number if found["sign"] == "-" else number) % (LARGEST_TIME_US + 1)


def _of_mode(statement: Statement, option: Option) -> Finding:
    """Return the fault of a mode that the runtime does not know as it is written."""
    value, modes = statement.value, option.modes
    told = f"{statement.key} is {value!r}"
    numbers = {name: spelt for spelt, name in modes.items()}
    plain = _plain(value)
    if option.takes is Takes.NUMBER and not value.lstrip("-").isdecimal():
        hint = f"write {numbers[plain]}" if plain in numbers else did_you_mean(plain, numbers)
        message = f"{told}, and {statement.where} take numbers: {option.unknown}"
        return Finding("SET-3", (), message, hint, place=statement.place)
    if option.takes is Takes.NAME and value.lstrip("-").isdecimal():
        renumbered = "; the tools' numbers differ between versions" * (statement.where is Where.TOOL_FLAG)
        message = f"{told}, and {statement.where} take names: {option.unknown}{renumbered}"
        return Finding("SET-4", (), message, _name_of(value, option), place=statement.place)
    spelt = next((each for each, name in modes.items() if plain in (_plain(each), name)), None)
    if spelt is not None:
        message = f"{told}, and {statement.where} take {spelt}: {option.unknown}"
        return Finding("SET-5", (), message, f"write {spelt}", place=statement.place)
    message = f"{told}, which {statement.where} do not have: {option.unknown}"
    return Finding("SET-2", (), message, did_you_mean(value, tuple(modes)), place=statement.place)


def _name_of(number: str, option: Option) -> str:
    """Return what to write for a number: the name with that number, if the runtime's numbers are one enumeration."""
    meant = {str(each): name for name, each in NUMBERS.items()} if option.runtime == "litert" else {}
    name = next((spelt for spelt, mode in option.modes.items() if mode == meant.get(number)), None)
    return f"write its name, {name}" if name else f"write its name, such as {next(iter(option.modes))}"


def _plain(value: str) -> str:
    """Return a mode in any writing, such as ``kHtpHighPerformance`` or ``BURST``, as profiles write it."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value.strip().removeprefix("kHtp"))
    return words.lower().replace("-", "_")


def _of_runs(statements: tuple[Statement, ...]) -> Iterator[Finding]:
    """Yield the runs that raise the votes and leave them up. The setting for after runs may be anywhere in the file."""
    if any(each.key == _POST_RUN for each in statements):
        return
    for statement in statements:
        if statement.key == "qnn.htp_perf_mode" and statement.mode not in ("", "default"):
            message = f"the votes of {statement.mode} stay after the run"
            yield Finding("SET-11", (), message, f"state {_POST_RUN}, too", place=statement.place)


def _of_extensions(named: str, place: Place, path: str) -> Iterator[Finding]:
    """Yield a finding if a dialog names the outer file, or a file that is not next to it.

    An absolute path that does not exist here is left alone, since it is a path on the device.
    """
    file = _extension_file(path, named)
    if file is None and not os.path.isabs(named):
        message = f"the extension file {shortened(named)!r} is not next to the dialog, and is not checked"
        yield Finding("SET-10", (), message, "check the name, and that the file is on the device", place=place)
    if file is not None:
        yield from outer_of_dialog(file, place)


def _extension_file(path: str, named: str) -> str | None:
    """Return the path of a dialog's extension file, if it is in the dialog's folder or below."""
    file = beside_dialog(path, named)
    return file if file is not None and is_within(folder_of(path), file) else None


def outer_of_dialog(file: str, place: Place) -> Iterator[Finding]:
    """Yield a finding if the extension file of a dialog is an outer one, with the votes that Genie sends for it."""
    try:
        read = read_extension_file(file)
    except ProfileError:
        return
    if read.kind is not FileKind.OUTER:
        return
    inner = read.text.at(("backend_extensions", "config_file_path"))
    hint = f"name {shortened(inner.value) if inner is not None and inner.value else 'the inner file'}"
    said = f"{shortened(os.path.basename(file))} is an outer file, and Genie does not read its inner file"
    yield Finding("SET-9", (), f"{said}: it {votes_of_genie(read)}", hint, place=place)


def _linted(found: Said, path: str) -> Iterator[Linted]:
    """Yield the findings of lint in the extension files that a dialog names, if they are in its folder."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    named = (_extension_file(path, named) for named, _ in found.extensions)
    for file in dict.fromkeys(each for each in named if each is not None):
        linted = lint_extension_file(file)
        weighing = (each for each in linted.findings if each.severity is not Severity.NOTE)
        left, _ = apply((Found(each, file) for each in weighing), linted.suppressions, (), today)
        yield linted._replace(findings=tuple(each.finding for each in (*left, *linted.wrong)))


def _weighed(finding: Finding) -> Finding:
    """Return a finding with the severity of its rule; at the first line if it is about the whole file."""
    place = Place(finding.path, finding.line or 1, finding.column or 1)
    return attrs.evolve(finding, place=place, severity=CATALOGUE[finding.rule].severity)
