"""Every malformed profile, linted: the same errors as when it is loaded, and never a crash in any form."""

from __future__ import annotations

import csv
import datetime
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checkout import CORPUS

from htppower.cli.lint.formats import NAMES, render
from htppower.review.lint.catalogue import CATALOGUE, Severity
from htppower.review.lint.run import lint

if TYPE_CHECKING:
    from htppower.review.lint.findings import Finding

TODAY = datetime.date(2026, 11, 21)
MALFORMED = CORPUS / "malformed"


def expected_errors() -> dict[str, list[tuple[str, int, int]]]:
    """Return rule, line and column of what is expected in each file."""
    with (MALFORMED / "expected.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: [(row["rule"], int(row["line"]), int(row["column"])) for row in group]
        for name, group in itertools.groupby(rows, key=lambda row: row["file"])
    }


EXPECTED = expected_errors()


IN_A_STATE = {
    "relax-to-broken-state.yaml",
    "relax-to-refused-state.yaml",
    "relax-to-state-that-extends-nothing.yaml",
    "relax-to-state-with-several-mistakes.yaml",
}


def found_errors(findings: tuple[Finding, ...]) -> list[tuple[str, int, int]]:
    """Return rule, line and column of the errors."""
    return [(found.rule, found.line, found.column) for found in findings if found.severity is Severity.ERROR]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_malformed_file_has_the_errors_for_which_it_is_refused(name: str) -> None:
    """Lint finds what loading refuses: each mistake by its rule and place, and no error besides.

    A mistake in a power state is told in the power state's own file, where it is to be mended.
    """
    errors = found_errors(lint([MALFORMED / name], TODAY).findings)
    if name in IN_A_STATE:
        assert [rule for rule, _, _ in errors] == [rule for rule, _, _ in EXPECTED[name]]
    else:
        assert sorted(errors) == sorted(EXPECTED[name])


def test_every_finding_has_its_line_and_all_are_sorted() -> None:
    """Every finding in the whole corpus has a place, the line itself, a rule that is known; they come in order."""
    report = lint([MALFORMED], TODAY)
    assert list(report.findings) == sorted(report.findings)
    assert len(set(report.findings)) == len(report.findings) > 150
    for finding in report.findings:
        assert finding.rule in CATALOGUE
        lines = Path(finding.path).read_bytes().decode("utf-8-sig", "replace").splitlines()
        line = lines[finding.line - 1] if lines else ""
        assert finding.text in line
        assert finding.text[finding.text_column - 1 :][:9] == line[finding.column - 1 :][:9]
        assert finding.message == finding.message.strip() != ""


@pytest.mark.parametrize("form", NAMES)
def test_every_form_takes_the_whole_corpus_twice_alike(form: str) -> None:
    """A form tells every finding, and says the same when it is asked again."""
    first, second = (render(lint([MALFORMED], TODAY, notes=True), form) for _ in range(2))
    assert first == second
    assert all(f"{rule}" in first for rule in ("YAML-1", "KEY-2", "DCVS-2", "REV-6"))
