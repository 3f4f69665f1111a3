"""What became of test files, as text, as JSON, and as JUnit's XML."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from htppower.vote_tests.coverage import Look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from htppower.documents import Place
    from htppower.vote_tests.compare import CaseResult, Difference, Failure
    from htppower.vote_tests.coverage import Coverage

FORMAT_VERSION = 1


def as_text(results: Sequence[CaseResult], covered: Sequence[Coverage] | None) -> str:
    """Return every failure as a block, then a line on all cases; quiet where everything passed."""
    blocks = ["\n".join(_block(failure)) for result in results for failure in result.failures]
    if covered is not None:
        blocks.append("\n".join(_coverage(covered)))
    return "\n\n".join((*blocks, _summary(results)))


def as_json(results: Sequence[CaseResult], covered: Sequence[Coverage] | None) -> str:
    """Return one document; ``coverage`` is null where it was not asked for, or a case failed."""
    document = {
        "format_version": FORMAT_VERSION,
        "cases": [_json_of_case(result) for result in results],
        "coverage": None if covered is None else [_json_of_coverage(file) for file in covered],
    }
    return json.dumps(document, indent=2)


def as_junit(results: Sequence[CaseResult], _covered: Sequence[Coverage] | None) -> str:
    """Return JUnit's XML, as CI servers read it: a suite for each file, a test case for each case."""
    root = ElementTree.Element("testsuites")
    suites: dict[Path, ElementTree.Element] = {}
    for result in results:
        if result.test.path not in suites:
            suites[result.test.path] = ElementTree.SubElement(root, "testsuite", name=result.test.name)
        suite = suites[result.test.path]
        file = _shown(str(result.test.path))
        case = ElementTree.SubElement(suite, "testcase", classname=result.test.name, name=result.case.name, file=file)
        for failure in result.failures:
            heading, *differences = _block(failure)
            ElementTree.SubElement(case, "failure", message=heading).text = "\n".join(differences)
    for suite in suites.values():
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(sum(case.find("failure") is not None for case in suite)))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


FORMATS: dict[str, Callable[[Sequence[CaseResult], Sequence[Coverage] | None], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
}


def _block(failure: Failure) -> Iterator[str]:
    """Yield the lines of a failure: which case, when and what held then, and each difference at its place."""
    seen = failure.seen
    held = f"{seen.state} under {seen.profile.name} on {failure.case.platform}"
    yield f"{failure.case.name}, at {failure.at_us} us: {held}"
    for difference in failure.differences:
        yield _difference(difference)


def _difference(difference: Difference) -> str:
    origin = "" if difference.origin is None else f" ({_line(difference.origin)})"
    field = ".".join(difference.at)
    return f"{_jump(difference.place)}: {field}: expected {difference.expected}, got {difference.got}{origin}"


def _summary(results: Sequence[CaseResult]) -> str:
    files = len({result.test.path for result in results})
    failed = sum(bool(result.failures) for result in results)
    where = f"{len(results)} {'case' if len(results) == 1 else 'cases'} in {files} {'file' if files == 1 else 'files'}"
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
        "file": _shown(str(result.test.path)),
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
    return {"path": _shown(place.path), "line": place.line, "column": place.column}


def _jump(place: Place) -> str:
    """Return a place in the form that editors jump to."""
    return f"{_shown(place.path)}:{place.line}:{place.column}"


def _line(place: Place) -> str:
    return f"{_shown(place.path)}:{place.line}"


def _shown(path: str) -> str:
    """Return a path from the working folder, if it is in there: the same for everybody who has a checkout."""
    here = f"{Path.cwd()}{os.sep}"
    return path.removeprefix(here)
