"""Malformed profiles and power states: every reader refuses each for exactly the problems in its first comment."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from support.checkout import CORPUS
from support.expectations import Expectation, expectation
from support.inside import patch_private
from support.schemas import refused

from htppower import ProfileError, RuleBreach, load_profile
from htppower.errors import Severity
from htppower.profiles import strict_yaml
from htppower.profiles.loading import examine_profile
from htppower.tools.review.lint import profile_findings
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.tools.review.lint.forms import FORMS, render
from htppower.tools.review.lint.run import lint

if TYPE_CHECKING:
    from support.command import Command
    from support.expectations import Found

    from htppower.errors import Finding
    from htppower.profiles.discovery import Folders
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import Profile
    from htppower.tools.review.lint.run import LintReport


MALFORMED = CORPUS / "malformed"
PROFILES = sorted(MALFORMED.glob("*.yaml"))
STATES = sorted(MALFORMED.glob("states/*.yaml"))
TODAY = datetime.date(2026, 11, 21)

# The rules that a vote can break; all others are about the file.
RULES = ("DCVS-", "HMX-", "RPC-", "TMR-", "DDR-", "SUS-")

# Rules that always have a hint.
WITH_A_HINT = {
    *("DCVS-1", "DCVS-2", "DCVS-4", "HMX-3", "HMX-8", "RPC-1", "RPC-2", "TMR-1", "DDR-1", "SUS-2"),
    *("EXT-1", "FILE-1", "FILE-2", "FILE-3", "KEY-1", "KEY-2", "NAME-1", "YAML-2", "YAML-3", "YAML-5"),
}


@functools.cache
def _examine(path: str, folders: Folders) -> Examined[Profile]:
    return examine_profile(path, folders)


@pytest.fixture
def _examined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examine each file once for all tests: lint compares a readable file with its 150 neighbours."""
    monkeypatch.setattr(profile_findings, "examine_profile", lambda path, folders, _known: _examine(path, folders))


def of_votes(expected: Expectation) -> bool:
    """Return whether the file is well-formed, and its votes are wrong."""
    return all(rule.startswith(RULES) for *_, rule in expected.found)


def refusal(path: Path) -> ProfileError:
    """Return the error of loading the file."""
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    return caught.value


def found_problems(error: ProfileError) -> list[Found]:
    """Return path, line, column and rule of every problem of an error."""
    return [(str(Path(each.path).resolve()), each.line, each.column, each.rule) for each in error.problems]


def found_errors(report: LintReport) -> list[Found]:
    """Return path, line, column and rule of the errors that lint found."""
    errors = (found for found in report.findings if found.severity is Severity.ERROR)
    return [(str(Path(each.path).resolve()), each.line, each.column, each.rule) for each in errors]


def assert_refused(file: Path, expected: Expectation) -> None:
    """Assert that the error has its class, all problems in order, and a hint for each in one line."""
    error = refusal(file)
    assert found_problems(error) == expected.found
    assert type(error) is (RuleBreach if of_votes(expected) else ProfileError)
    assert str(error) == "\n".join(str(problem) for problem in error.problems)
    for problem in error.problems:
        assert problem.message
        assert str(problem).splitlines() == [str(problem)]
        assert str(problem).startswith(f"{problem.path}:{problem.line}:{problem.column}: {problem.rule}: ")
        assert problem.hint or problem.rule not in WITH_A_HINT
    first = error.problems[0]
    assert (error.path, error.line, error.column) == (first.path, first.line, first.column)
    assert (error.rule, error.hint) == (first.rule, first.hint)
    assert expected.hint in first.hint
    assert not expected.no_hint or expected.no_hint not in first.hint
    assert expected.says in str(first)


def in_order(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return findings sorted by place, each once."""
    return tuple(sorted(set(findings), key=lambda each: (each.path, each.line, each.column, each.rule, each.message)))


def assert_linted(file: Path, expected: Expectation, command: Command) -> None:
    """Assert that lint finds exactly these errors, each in its line, in every form, and ends with 1."""
    report = lint([file], TODAY)
    told = expectation(MALFORMED / expected.lint) if expected.lint else expected
    assert sorted(found_errors(report)) == sorted(told.found)
    assert report.findings == in_order(report.findings)
    for finding in report.findings:
        assert finding.rule in CATALOGUE
        lines = Path(finding.path).read_bytes().decode("utf-8-sig", "replace").splitlines()
        line = lines[finding.line - 1] if lines else ""
        text, column = report.excerpt(finding)
        assert text in line
        assert text[column - 1 :][:9] == line[finding.column - 1 :][:9]
        assert finding.message == finding.message.strip() != ""
    for form in FORMS:
        text = render(report, form)
        assert all(finding.rule in text for finding in report.findings)
    assert command.run("lint", str(file)).exit_code == 1


@pytest.mark.usefixtures("_examined_once")
@pytest.mark.parametrize("file", PROFILES, ids=lambda file: file.stem)
def test_a_malformed_profile(file: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loader, both parsers, lint, commands and schema find exactly its problems, at their places."""
    expected = expectation(file)
    assert_refused(file, expected)
    assert_linted(file, expected, command)
    assert command.run("show", str(file)).exit_code == (1 if of_votes(expected) else 2)
    assert refused("profile", file) == (not expected.schema_accepts)
    # PyYAML may be built without libyaml.
    patch_private(monkeypatch, strict_yaml, Loader=yaml.SafeLoader)
    assert found_problems(refusal(file)) == expected.found


@pytest.mark.usefixtures("_examined_once")
@pytest.mark.parametrize("file", STATES, ids=lambda file: file.stem)
def test_a_malformed_power_state(file: Path, command: Command) -> None:
    """Lint and schema find exactly its problems, at their places."""
    expected = expectation(file)
    assert_linted(file, expected, command)
    assert refused("state", file) == (not expected.schema_accepts)


def test_the_whole_corpus_is_linted_at_once() -> None:
    """Every finding of all files, notes included, appears once, in order; every form gives the same output again."""
    first, second = (lint([MALFORMED], TODAY, notes=True) for _ in range(2))
    assert first.findings == in_order(first.findings)
    assert len(first.findings) > len(PROFILES) >= 60
    for form in FORMS:
        text = render(first, form)
        assert text == render(second, form)
        assert all(rule in text for rule in ("YAML-1", "KEY-2", "DCVS-2", "REV-6"))
