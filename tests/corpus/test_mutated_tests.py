"""Test files with slices deleted, doubled or replaced: they run or are refused."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.shipped import shipped_folder

from htppower.errors import VoteTestError
from htppower.tools.review.vote_tests.compare import run_tests
from htppower.tools.review.vote_tests.files import load_tests

if TYPE_CHECKING:
    from htppower.tools.review.vote_tests.cases import VoteTest


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw the text of a shipped test with up to four slices deleted, doubled or replaced."""
    data = draw(st.sampled_from(sorted((shipped_folder() / "tests").glob("*.yaml")))).read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(start + 40, len(data))))
        piece = data[start:end]
        words = st.sampled_from(
            (b"*raised", b"[", b"}", b"0", b"-1", b"99", b"unset", b"\n", b"burst", b'"\\e"', b": ")
        )
        data = data[:start] + draw(st.just(b"") | st.just(piece * 2) | words | st.binary(max_size=8)) + data[end:]
    return data


def load_or_refuse(file: Path) -> tuple[VoteTest, ...] | VoteTestError:
    """Return the test, or the error that refuses it; any other error is raised."""
    try:
        return load_tests([file])
    except VoteTestError as error:
        return error


@examples(60)
@given(mutated())
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
