"""Files with very many mistakes: they are read quickly, and the number of findings is limited."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

import pytest

from htppower import ProfileError, load_profile
from htppower.errors.finding import MOST_OF_A_FILE
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.regular_file import LARGEST_FILE_BYTES
from htppower.profiles.strict_yaml import MOST_VALUES, read_document
from htppower.tools.review.lint.run import lint
from htppower.tools.review.lint.suppressions import read_lines
from htppower.tools.review.vote_tests.files import load_test

if TYPE_CHECKING:
    from pathlib import Path

TODAY = datetime.date(2026, 11, 22)
CLEAN = "profile: mine\nextends: burst\n"
TEST = "test: mine\nsummary: Mine.\nprofile: burst\nplatform: {arch: V75}\ncases:\n- case: one\n"
LONG = "y" * 600_000


def whole(line: str, before: str = "") -> str:
    """Return a text of the largest allowed size, with one line again and again."""
    return before + line * ((LARGEST_FILE_BYTES - len(before)) // len(line))


FLOODS = {
    "aliases to nothing": whole("x: *x\n"),
    "keys that are aliases": whole("*x : *y\n"),
    "items that are aliases": f"profile: [{whole('*x,')[:-20]}]\n",
    "one key": whole("x: 1\n"),
    "tags": whole("x: !t 1\n"),
    "words that parsers read differently": whole("on: on\n"),
    "mappings for keys": whole("? [on]\n: on\n"),
    "merge keys": whole("<<: 1\n"),
}


@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS)
def test_a_file_of_mistakes_is_read_no_further_than_any_file(tmp_path: Path, text: str) -> None:
    """Reading stops at the largest number of values, whatever the lines are, and 100 problems are shown."""
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    read = read_document(str(file)).problems
    assert read[-1].message == f"the file holds too many values: over {MOST_VALUES}"
    assert MOST_VALUES // 2 < len(read) <= 2 * MOST_VALUES + 1
    with pytest.raises(ProfileError) as caught:
        load_profile(file)
    assert len(caught.value.problems) == MOST_OF_A_FILE
    left_out = len(read) - MOST_OF_A_FILE + 1
    assert caught.value.problems[-1].message == f"{left_out} findings of this file, including this one, are omitted"
    assert len(str(caught.value)) < 50_000


def test_a_file_of_mistakes_costs_lint_no_more(tmp_path: Path) -> None:
    """Lint shows at most 100 findings of each such file, and every finding of another file."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(FLOODS["aliases to nothing"], encoding="utf-8")
    (tmp_path / "c.yaml").write_text(CLEAN, encoding="utf-8")
    found = lint([tmp_path], TODAY).told
    counts = {name: sum(each.path.endswith(f"{name}.yaml") for each in found) for name in "abc"}
    assert counts == {"a": MOST_OF_A_FILE, "b": MOST_OF_A_FILE, "c": 1}


@pytest.mark.parametrize("line", ["# htppower: x\n", "a: b # htppower: x\n"])
def test_a_file_of_comments_is_read_no_further_than_any_file(tmp_path: Path, line: str) -> None:
    """Comments for htppower are read up to the largest number of values, each once."""
    file = tmp_path / "mine.yaml"
    file.write_text(whole(line, CLEAN), encoding="utf-8")
    assert len(read_lines(str(file)).comments) == MOST_VALUES
    assert len(lint([file], TODAY).told) == MOST_OF_A_FILE


@pytest.mark.parametrize(
    "text",
    [
        f"{TEST}  sequence: [idle_us: 1]\n  expect: [{{at_us: 0, sent: [&a {LONG}{', *a' * 1500}]}}]\n",
        f"{TEST}  expect: [{{at_us: 0, calls: 0}}]\n  sequence:\n  - use: &a {LONG}\n" + "  - use: *a\n" * 900,
    ],
    ids=["sent", "use"],
)
def test_a_long_word_is_repeated_in_no_message(tmp_path: Path, text: str) -> None:
    """A test file with many aliases of a long word gives short messages."""
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        load_test(file)
    assert len(caught.value.problems) <= MOST_OF_A_FILE
    assert all(len(problem.message) + len(problem.hint) < 1000 for problem in caught.value.problems)


def test_a_name_that_is_missing_is_compared_with_some_of_very_many(tmp_path: Path) -> None:
    """The message for a wrong name is not longer if the folder has many files."""
    (tmp_path / "mine.yaml").write_text("profile: mine\nextends: nowhere\n", encoding="utf-8")
    said = []
    for count in (300, 900):
        for number in range(count):
            (tmp_path / f"of_a_camera_{number}.yaml").touch()
        with pytest.raises(ProfileError) as caught:
            load_profile(tmp_path / "mine.yaml")
        said.append(str(caught.value))
    assert all("more" in each for each in said)
    assert max(map(len, said)) < 4_000


def test_the_nearest_names_are_told_without_the_others() -> None:
    """If no name is near, the message lists a few names, or the first ones of many and the number of the rest."""
    assert did_you_mean("x", ["aa", "bb"]) == "one of aa, bb"
    assert did_you_mean("x", [f"n{number}" for number in range(250)]).endswith("n98, n99, and 150 more")
