"""Test files: the choice of files, the profiles that they name, and the errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.checkout import CORPUS
from support.shipped import shipped_folder

from htppower.errors import VoteTestError
from htppower.tools.review.vote_tests.files import load_beside, load_test, load_tests

MALFORMED = CORPUS / "malformed_tests"

TEST = """\
test: mine
summary: Mine.
profile: {profile}
platform: {{soc: SM8650}}
cases:
  - case: one
    sequence:
      - inference_us: 5000
    expect:
      - {{at_us: 0, state: RAISED}}
"""
BRIGHT = "profile: bright\nextends: balanced\nsummary: Bright.\n"


def refusal(*paths: Path) -> VoteTestError:
    """Return the error that loading the paths raises."""
    with pytest.raises(VoteTestError) as caught:
        load_tests(paths)
    return caught.value


def write(path: Path, text: str) -> Path:
    """Write a file, and create its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """The hint shows how a test begins."""
    error = refusal(write(tmp_path / "empty.yaml", ""))
    assert [(problem.rule, problem.line, problem.column) for problem in error.problems] == [("YAML-1", 1, 1)]
    assert "start with 'test: NAME'" in str(error)


def test_the_problems_of_all_files_are_told_at_once_and_each_once() -> None:
    """A problem of a profile that two files test is reported once, with the problems of other files."""
    files = [MALFORMED / name for name in ("profile-invalid.yaml", "profile-invalid.yaml", "sequence-empty.yaml")]
    problems = refusal(*files).problems
    assert [Path(problem.path).name for problem in problems] == ["invalid.yaml", "invalid.yaml", "sequence-empty.yaml"]


def test_a_wrong_value_hides_no_wrong_name(tmp_path: Path) -> None:
    """If a file is not a valid test, the profiles that it names are still looked up."""
    file = tmp_path / "bad.yaml"
    file.write_text(
        "test: bad\nsummary: Bad.\nprofile: camra\nplatform: {soc: SM8650}\ncases:\n"
        "- {case: one, sequence: [inference_us: 8ms, use: brust], expect: [{at_us: 0, state: RISED}]}\n"
        "- {case: two, profile: nope, sequence: [inference_us: 8], expect: [{at_us: 0, calls: 1}]}\n"
    )
    with pytest.raises(VoteTestError) as refused:
        load_tests([file])
    told = [(problem.rule, problem.line) for problem in refused.value.problems]
    assert told == [("NAME-1", 3), ("TYPE-1", 6), ("NAME-1", 6), ("VALUE-1", 6), ("NAME-1", 7)]


def test_a_name_is_that_of_the_profile_beside_the_test(tmp_path: Path) -> None:
    """A test in a folder ``tests`` means the profile next to that folder, even if a shipped profile has the name."""
    own = write(tmp_path / "burst.yaml", BRIGHT.replace("bright", "burst"))
    test = load_test(write(tmp_path / "tests" / "burst.yaml", TEST.format(profile="burst")))
    source = test.cases[0].profile.source
    assert source is not None
    assert source.resolve() == own.resolve()


def test_a_name_that_is_not_beside_the_test_is_looked_up_as_everywhere(tmp_path: Path) -> None:
    """The name is found among the shipped profiles, or in the given folders."""
    shipped = load_test(write(tmp_path / "tests" / "one.yaml", TEST.format(profile="burst")))
    assert shipped.cases[0].profile.source == shipped_folder() / "burst.yaml"
    write(tmp_path / "mine" / "bright.yaml", BRIGHT)
    named = write(tmp_path / "tests" / "two.yaml", TEST.format(profile="bright"))
    assert load_test(named, [tmp_path / "mine"]).cases[0].profile.name == "bright"
    assert refusal(named).rule == "NAME-1"


def test_a_path_is_taken_from_beside_the_test(tmp_path: Path) -> None:
    """A path is relative to the test file."""
    write(tmp_path / "mine" / "bright.yaml", BRIGHT)
    test = load_test(write(tmp_path / "tests" / "one.yaml", TEST.format(profile="../mine/bright.yaml")))
    assert test.cases[0].profile.name == "bright"


def test_a_case_may_have_a_profile_and_a_platform_of_its_own(tmp_path: Path) -> None:
    """The values of a case override the values of the file."""
    text = TEST.format(profile="burst") + "    profile: balanced\n    platform: {arch: V73, os: qnx}\n"
    case = load_test(write(tmp_path / "one.yaml", text)).cases[0]
    assert (case.profile.name, case.platform.arch, case.platform.os) == ("balanced", 73, "qnx")


def test_a_folder_means_its_tests(tmp_path: Path) -> None:
    """If a folder has a folder ``tests``, its files are taken, else the folder's own; each file is taken once."""
    text = TEST.format(profile="burst")
    write(tmp_path / "tests" / "two.yml", text)
    write(tmp_path / "tests" / "one.yaml", text)
    paths = [tmp_path, tmp_path / "tests", tmp_path / "tests" / "one.yaml"]
    assert [Path(test.path).name for test in load_tests(paths)] == ["one.yaml", "two.yml"]


def test_a_folder_of_profiles_without_tests_has_none(tmp_path: Path) -> None:
    """Profiles in the folder are not read as tests; next to a test they are skipped."""
    write(tmp_path / "bright.yaml", BRIGHT)
    write(tmp_path / "burst.yaml", (shipped_folder() / "burst.yaml").read_text(encoding="utf-8"))
    (problem,) = refusal(tmp_path).problems
    assert (problem.rule, problem.path, problem.message) == ("FILE-1", str(tmp_path), "no tests in this folder")
    write(tmp_path / "one.yaml", TEST.format(profile="bright"))
    assert [Path(test.path).name for test in load_tests([tmp_path])] == ["one.yaml"]


@pytest.mark.parametrize("name", ["empty", "nowhere", "nowhere.yaml"])
def test_a_path_without_tests_is_refused(name: str, tmp_path: Path) -> None:
    """A folder without a test, and a missing file, break FILE-1."""
    (tmp_path / "empty").mkdir()
    error = refusal(tmp_path / name)
    assert (error.rule, error.path) == ("FILE-1", str(tmp_path / name))


def test_what_stands_beside_the_tests_is_loaded_or_refused(tmp_path: Path) -> None:
    """Coverage loads the profiles and power states next to the tests; an invalid one is an error."""
    write(tmp_path / "tests" / "one.yaml", TEST.format(profile="burst"))
    write(tmp_path / "bright.yaml", BRIGHT)
    write(tmp_path / "states" / "cool.yaml", "state: cool\nextends: relaxed\nsummary: Cool.\n")
    for path in (tmp_path, tmp_path / "tests"):
        profiles, states = load_beside([path])
        assert ([profile.name for profile in profiles], [state.name for state in states]) == (["bright"], ["cool"])
    assert load_beside([tmp_path / "tests" / "one.yaml"]) == ((), ())
    write(tmp_path / "bright.yaml", BRIGHT + "votes: {hmx_timeout_us: 5}\n")
    with pytest.raises(VoteTestError, match="TMR-1"):
        load_beside([tmp_path])


def test_all_that_is_wrong_beside_the_tests_is_told(tmp_path: Path) -> None:
    """Every problem of every profile and power state is reported once, ordered by file and line."""
    write(tmp_path / "tests" / "one.yaml", TEST.format(profile="burst"))
    write(tmp_path / "bright.yaml", BRIGHT + "votes: {hmx_timeout_us: 5}\n")
    write(tmp_path / "dim.yaml", "profile: dim\nextends: nothing\nsummary: Dim.\n")
    write(tmp_path / "states" / "cool.yaml", "state: cool\nextends: relaxed\nsummary: Cool.\nvotse: {}\n")
    with pytest.raises(VoteTestError) as caught:
        load_beside([tmp_path])
    found = [(Path(problem.path).name, problem.rule) for problem in caught.value.problems]
    assert found == [("bright.yaml", "TMR-1"), ("dim.yaml", "NAME-1"), ("cool.yaml", "KEY-1")]


def test_a_profile_that_is_changed_to_is_checked_on_the_platform_too(tmp_path: Path) -> None:
    """A rule that refuses the profile of a step ``use`` is reported before any case runs."""
    write(tmp_path / "ddr.yaml", "profile: ddr\nextends: burst\nsummary: DDR.\nvotes: {ddr_perf_mode: true}\n")
    text = TEST.format(profile="burst").replace("    expect:", "      - use: ./ddr.yaml\n    expect:")
    (problem,) = refusal(write(tmp_path / "one.yaml", text)).problems
    assert (problem.rule, problem.line, "ddr is refused here" in problem.message) == ("DDR-1", 4, True)
