"""Malformed test files: each is refused for exactly the problems in its first comment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.checkout import CORPUS
from support.expectations import expectation
from support.schemas import refused

from htppower.errors import VoteTestError
from htppower.tools.review.vote_tests.files import load_tests

if TYPE_CHECKING:
    from support.command import Command

FILES = sorted((CORPUS / "malformed_tests").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_malformed_test(file: Path, command: Command) -> None:
    """Loader, command and schema find its problems, in order, in the file to correct."""
    expected = expectation(file)
    with pytest.raises(VoteTestError) as caught:
        load_tests([file])
    problems = caught.value.problems
    found = [(str(Path(each.path).resolve()), each.line, each.column, each.rule) for each in problems]
    assert found == expected.found
    assert all(problem.message and problem.hint for problem in problems)
    assert all(str(problem).splitlines() == [str(problem)] for problem in problems)
    assert expected.hint in problems[0].hint
    assert expected.says in str(problems[0])
    assert command.run("test", str(file)).exit_code == 2
    assert refused("test", file) == (not expected.schema_accepts)


def test_there_are_malformed_tests() -> None:
    """The folder of malformed tests is not empty."""
    assert len(FILES) >= 50
