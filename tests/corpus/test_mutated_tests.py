"""Test files with slices deleted, doubled or replaced: they run or are refused."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from support.examples import examples
from support.mutated_files import mutated
from support.shipped import shipped_folder

from htppower.errors import VoteTestError
from htppower.tools.review.vote_tests.compare import run_tests
from htppower.tools.review.vote_tests.files import load_tests

if TYPE_CHECKING:
    from htppower.tools.review.vote_tests.cases import VoteTest
TESTS = sorted((shipped_folder() / "tests").glob("*.yaml"))
WORDS = (b"*raised", b"[", b"}", b"0", b"-1", b"99", b"unset", b"\n", b"burst", b'"\\e"', b": ")


def load_or_refuse(file: Path) -> tuple[VoteTest, ...] | VoteTestError:
    """Return the test, or the error that refuses it; any other error is raised."""
    try:
        return load_tests([file])
    except VoteTestError as error:
        return error


@examples(60)
@given(mutated(TESTS, WORDS))
def test_a_mutated_test_runs_or_is_refused(data: bytes) -> None:
    """A shipped test with slices deleted, doubled or replaced runs, or is refused in printable lines."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mine.yaml")
        file.write_bytes(data)
        found = load_or_refuse(file)
        if isinstance(found, VoteTestError):
            assert all(str(problem).isprintable() for problem in found.problems)
        else:
            assert run_tests(found)
