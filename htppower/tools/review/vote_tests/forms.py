"""The results of test files, as text, JSON and JUnit's XML."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htppower.profiles.discovery import shown_path
from htppower.tools.report import junit
from htppower.tools.report.words import counted
from htppower.tools.review.vote_tests.compare import vote_diff
from htppower.tools.review.vote_tests.coverage import Look

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.errors import Place
    from htppower.tools.review.vote_tests.compare import CaseResult, Failure
    from htppower.tools.review.vote_tests.coverage import Coverage

FORMAT_VERSION = 1


def as_text(results: Sequence[CaseResult], covered: Sequence[Coverage] | None, *, verbose: bool = False) -> str:
    """Return every failure as a block, then a line on all cases; empty if everything passed, unless verbose."""
    blocks = ["\n".join(map(_line, results))] if verbose else []
    blocks += ["\n".join(_block(failure)) for result in results for failure in result.failures]
    if covered is not None:
        blocks.append("\n".join(_coverage(covered)))
    return "\n\n".join((*blocks, _summary(results)))


def as_json(results: Sequence[CaseResult], covered: Sequence[Coverage] | None) -> str:
    """Return one document; ``coverage`` is null if it was not asked for, or a case failed."""
    document = {
        "format_version": FORMAT_VERSION,
        "cases": [_json_of_case(result) for result in results],
        "coverage": None if covered is None else [_json_of_coverage(file) for file in covered],
    }
    return json.dumps(document, indent=2)


def as_junit(results: Sequence[CaseResult]) -> str:
    """Return JUnit's XML, as CI servers read it: a suite for each file, a test case for each case."""
    suites: dict[tuple[str, str], list[junit.Case]] = {}
    for result in results:
        blocks = ["\n".join(_block(failure)) for failure in result.failures]
        message = next(_block(result.failures[0])) if result.failures else None
        file = _from_here(result.test.path)
        case = junit.Case(result.case.name, file, message, text="\n\n".join(blocks))
        suites.setdefault((result.test.path, result.test.name), []).append(case)
    return junit.as_junit("htppower test", [(name, cases) for (_, name), cases in suites.items()])


def _block(failure: Failure) -> Iterator[str]:
    """Yield the lines of a failure: the case, its time and what held then, and each difference at its place."""
    seen = failure.seen
    held = f"{seen.state} under {seen.profile.name} on {failure.case.platform}"
    yield f"{failure.case.name}, at {failure.at_us} us: {held}"
    for each in failure.differences:
        origin = "" if each.origin is None else f" ({_shown(each.origin.path)}:{each.origin.line})"
        yield f"{_jump(each.place)}: {'.'.join(each.at)}: expected {each.expected}, got {each.got}{origin}"
    yield from (f"    {line}" for line in vote_diff(failure))


def _line(result: CaseResult) -> str:
    """Return the result of a case in a line."""
    said = "failed" if result.failures else "passed"
    return f"{said}  {_from_here(result.test.path)}: {result.case.name}"


def _summary(results: Sequence[CaseResult]) -> str:
    files = len({result.test.path for result in results})
    failed = sum(bool(result.failures) for result in results)
    where = f"{counted(len(results), 'case')} in {counted(files, 'file')}"
    return f"{failed} of {where} failed" if failed else f"{where} passed"


def _coverage(covered: Sequence[Coverage]) -> Iterator[str]:
    width = max(len(file.name) for file in covered)
    for file in covered:
        held = len(file.those(Look.HELD_BY_RULES))
        note = f", and {held} held by the rules" if held else ""
        looked_at = len(file.those(Look.SEEN))
        yield f"{file.kind:<7}  {file.name:<{width}}  {looked_at} of {len(file.fields)} fields{note}"
    for file in covered:
        unseen = file.those(Look.UNSEEN)
        wholly = unseen == file.fields
        for field in unseen[:1] if wholly else unseen:
            place = file.name if field.place is None else _jump(field.place)
            what = f"{'.'.join(field.at)}: {field.value}: {Look.UNSEEN.value}"
            yield f"{place}: {file.name}: {'no test looks at any of its fields' if wholly else what}"


def _json_of_case(result: CaseResult) -> dict[str, Any]:
    return {
        "file": _from_here(result.test.path),
        "test": result.test.name,
        "case": result.case.name,
        "passed": not result.failures,
        "failures": [
            {
                "at_us": failure.at_us,
                "state": failure.seen.state,
                "profile": failure.seen.profile.name,
                "differences": [
                    {
                        "field": ".".join(difference.at),
                        "expected": difference.expected,
                        "got": difference.got,
                        **_json_of_place(difference.place),
                        "origin": None if difference.origin is None else _json_of_place(difference.origin),
                    }
                    for difference in failure.differences
                ],
                "votes": list(vote_diff(failure)),
            }
            for failure in result.failures
        ],
    }


def _json_of_coverage(file: Coverage) -> dict[str, Any]:
    return {
        "kind": file.kind,
        "name": file.name,
        "fields": [
            {
                "field": ".".join(field.at),
                "value": field.value,
                "look": field.look.name.lower(),
                "place": None if field.place is None else _json_of_place(field.place),
            }
            for field in file.fields
        ],
    }


def _json_of_place(place: Place) -> dict[str, Any]:
    # A shipped file keeps its own path, wherever it is installed.
    path = place.path if shown_path(place.path) != place.path else _from_here(place.path)
    return {"path": path, "line": place.line, "column": place.column}


def _jump(place: Place) -> str:
    """Return a place in the form that editors jump to."""
    return f"{_shown(place.path)}:{place.line}:{place.column}"


def _shown(path: str) -> str:
    """Return a path for output: the name of a shipped file, or the path from the current folder."""
    shown = shown_path(path)
    return _from_here(path) if shown == path else shown


def _from_here(path: str) -> str:
    """Return a path from the current folder, if it is in there, so that it is the same in every checkout."""
    return path.removeprefix(f"{Path.cwd()}{os.sep}")
