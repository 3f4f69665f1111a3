"""Findings as values: their text, when they are equal, and how many of one file are shown."""

from __future__ import annotations

from htppower import Problem, ProfileError
from htppower.errors import Finding, Place, Severity, bounded
from htppower.errors.finding import MOST_OF_A_FILE


def at(path: str, line: int, severity: Severity = Severity.ERROR, rule: str = "KEY-1") -> Finding:
    """Return a finding in a line of a file."""
    return Finding(rule, (), f"wrong in line {line}", severity=severity, place=Place(path, line, 1))


def test_a_finding_is_a_line_that_begins_with_its_place() -> None:
    """``Problem`` is the finding itself; a missing place or line is left out of its text."""
    assert Problem is Finding
    finding = Finding("KEY-1", ("votes",), "unknown", "did you mean x?", place=Place("a.yaml", 3, 5))
    assert str(finding) == "a.yaml:3:5: KEY-1: unknown (did you mean x?)"
    assert (finding.path, finding.line, finding.column) == ("a.yaml", 3, 5)
    assert str(Finding.of_file("a.yaml", "FILE-1", "gone")) == "a.yaml: FILE-1: gone"
    assert str(Finding("KEY-1", (), "x\ny")) == "KEY-1: x\\ny"
    assert Finding("KEY-1", (), "x").path == ""


def test_findings_that_say_the_same_of_a_place_are_equal() -> None:
    """The keys that led to a place make no difference; the place does."""
    one = Finding("KEY-1", ("votes",), "x", place=Place("a.yaml", 3, 5))
    assert one == Finding("KEY-1", ("relax", "to"), "x", also=(("votes",),), place=Place("a.yaml", 3, 5))
    assert one != Finding("KEY-1", ("votes",), "x", place=Place("a.yaml", 3, 6))


def test_no_more_findings_of_a_file_are_told_than_somebody_reads() -> None:
    """A file shows 100 findings; the last one counts the rest, and has the highest severity of them."""
    many = [at("a.yaml", line, Severity.WARNING) for line in range(1, 300)] + [at("a.yaml", 300, rule="KEY-2")]
    told = bounded(many)
    assert told[:-1] == tuple(many[: MOST_OF_A_FILE - 1])
    last = told[-1]
    assert (len(told), last.line, last.rule, last.severity) == (MOST_OF_A_FILE, 300, "KEY-2", Severity.ERROR)
    assert last.message == "201 findings of this file, including this one, are omitted"
    assert [finding.left_out for finding in told] == [0] * (MOST_OF_A_FILE - 1) + [201]
    assert bounded(told) == told


def test_files_are_counted_one_by_one() -> None:
    """A file with few findings loses none because of another file, and the order is kept."""
    many = [at("a.yaml", line) for line in range(1, 102)]
    few = [at("b.yaml", line) for line in range(1, MOST_OF_A_FILE + 1)]
    told = bounded([*many, *few])
    assert told[MOST_OF_A_FILE:] == tuple(few)
    assert told[MOST_OF_A_FILE - 1].message.startswith("2 findings")


def test_an_error_tells_no_more_and_is_of_the_first() -> None:
    """The findings and the text of a ProfileError are limited."""
    error = ProfileError(at("a.yaml", line) for line in range(1, 2000))
    assert (len(error.problems), error.line) == (MOST_OF_A_FILE, 1)
    assert len(str(error).splitlines()) == MOST_OF_A_FILE


def test_a_message_is_no_longer_than_somebody_reads() -> None:
    """The text of a finding is limited, whatever a file holds."""
    finding = Finding("KEY-1", (), "x" * 1_000_000, "y" * 1_000_000)
    assert len(str(finding)) < 11_000
    assert finding.message.endswith("...")
