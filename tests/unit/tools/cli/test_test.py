"""``htppower test``: its reports, its exit codes, and bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from support.checkout import ROOT

if TYPE_CHECKING:
    from support.command import Command

FAILING = str(Path("tests/unit/tools/cli/vote_tests/failing.yaml"))
MALFORMED = "tests/corpus/malformed_tests"
SPARSE = "tests/unit/tools/cli/vote_tests/sparse.yaml"


@pytest.fixture(autouse=True)
def _in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in the root of the checkout, since places are relative to it."""
    monkeypatch.chdir(ROOT)


def test_the_shipped_tests_pass_quietly(command: Command) -> None:
    """One line says how many cases passed."""
    assert command.output("test", "profiles") == "55 cases in 20 files passed\n"


def test_a_test_leaves_no_field_out(command: Command) -> None:
    """The shipped tests check every field, so an asserted coverage gives exit 0."""
    output = command.output("test", "profiles/tests/extreme_power_saver.yaml", "--fail-uncovered")
    assert "no test looks at" not in output
    words = [line.split() for line in output.splitlines()]
    assert ["profile", "extreme_power_saver", "16", "of", "16", "fields"] in words


def test_a_sustain_time_that_is_learnt_is_tested(command: Command) -> None:
    """The example of a learning profile passes, and would fail with a fixed time."""
    output = command.output("test", "docs/examples/adaptive", "--coverage")
    assert "3 cases in 1 file passed" in output
    assert not {"voice: relax.after_inference_us", "voice: relax.then"} & set(re.findall(r"voice: relax\.\w+", output))
    assert "voice: relax.after_deinit_to" in output


def test_a_failing_run(command: Command) -> None:
    """Each failure names the case, the time, the state, and each expected and actual field."""
    command.assert_golden("test-failing.txt", "test", FAILING, exit_code=1)


def test_a_failing_run_as_json(command: Command) -> None:
    """The JSON has the same facts as the text, with places as numbers."""
    document = command.document("test", FAILING, "--format", "json", exit_code=1)
    assert (document["format_version"], document["coverage"]) == (1, None)
    cases = document["cases"]
    assert [(case["case"], case["passed"]) for case in cases] == [
        ("passes", True),
        ("other votes, too long a sustain time", False),
        ("on QNX", False),
    ]
    assert {(Path(case["file"]), case["test"]) for case in cases} == {(Path(FAILING), "failing")}
    lines: list[str] = []
    for case in cases:
        for failure in case["failures"]:
            lines.append(f"{case['case']}, at {failure['at_us']} us: {failure['state']} under {failure['profile']}")
            lines += [_in_text(difference) for difference in failure["differences"]]
            lines += [f"    {vote}" for vote in failure["votes"]]
    shown = command.output("test", FAILING, exit_code=1).splitlines()
    assert lines == [line.partition(" on SM8650")[0].partition(" on Hexagon")[0] for line in shown[:-2] if line]


def _in_text(difference: dict[str, Any]) -> str:
    """Return the line of the text for a difference."""
    place = ":".join(f"{difference[part]}" for part in ("path", "line", "column"))
    told = f"{place}: {difference['field']}: expected {difference['expected']}, got {difference['got']}"
    origin = difference["origin"]
    return told if origin is None else f"{told} ({origin['path'].replace('<profiles>/', 'shipped ')}:{origin['line']})"


def test_coverage(command: Command) -> None:
    """Each file has the number of checked fields and each unchecked field; unchecked fields alone do not fail."""
    command.assert_golden("test-coverage.txt", "test", SPARSE, "--coverage")
    assert command.run("test", SPARSE, "--fail-uncovered").exit_code == 1


def test_coverage_as_json(command: Command) -> None:
    """The JSON has every field, with its value and whether a test checks it."""
    document = json.loads(command.output("test", SPARSE, "--coverage", "--format", "json"))
    balanced, relaxed, released = document["coverage"]
    looks = {field["field"]: field["look"] for field in balanced["fields"]}
    assert (looks["votes.dcvs_v3.core"], looks["votes.rpc_polling_time_us"]) == ("seen", "unseen")
    assert (relaxed["kind"], relaxed["name"], len(relaxed["fields"])) == ("state", "relaxed", 12)
    assert (released["kind"], released["name"]) == ("state", "released")
    assert json.loads(command.output("test", SPARSE, "--format", "json"))["coverage"] is None


def test_a_folder_of_profiles_shows_those_without_a_test(command: Command, tmp_path: Path) -> None:
    """A profile and a power state that no test uses are shown in one line each."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "states").mkdir()
    (tmp_path / "tests" / "sparse.yaml").write_bytes(Path(SPARSE).read_bytes())
    (tmp_path / "lonely.yaml").write_text("profile: lonely\nextends: burst\nsummary: Lonely.\n")
    (tmp_path / "states" / "cool.yaml").write_text("state: cool\nextends: relaxed\nsummary: Cool.\n")
    output = command.output("test", str(tmp_path), "--coverage")
    lines = [line.split() for line in output.splitlines()]
    assert ["profile", "lonely", "0", "of", "16", "fields"] in lines
    assert ["state", "cool", "0", "of", "12", "fields"] in lines
    # The others: the base of lonely, and the power state of balanced after DE-INIT.
    states = ("cool", "relaxed_up_down", "released_up_down", "released")
    assert output.count("no test looks at any of its fields") == 1 + len(states)


def test_no_coverage_while_a_case_fails(command: Command) -> None:
    """If a case fails, the coverage is unknown; the exit code is the one for the failure."""
    result = command.run("test", FAILING, "--coverage")
    assert (result.exit_code, "no coverage" in result.stderr, "fields" in result.stdout) == (1, True, False)


def test_junit(command: Command) -> None:
    """The XML has a suite with each case, and the failures with their places."""
    result = command.run("test", FAILING, "--format", "junit")
    (suite,) = ElementTree.fromstring(result.stdout_bytes)  # noqa: S314 - our own
    assert result.stdout_bytes.startswith(b'<?xml version="1.0" encoding="UTF-8"?>')
    assert result.exit_code == 1
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("failing", "3", "2")
    assert [len(case) for case in suite] == [0, 1, 1]
    assert f"{FAILING}:21:39: votes.dcvs_v3.sleep_latency_us: expected 100, got 40" in (suite[1][0].text or "")
    assert f"{FAILING}:25:16: state: expected RAISED, got LOWERED" in (suite[1][0].text or "")


def test_what_can_not_be_run_is_2(command: Command) -> None:
    """A bad file, an unknown path and a profile that breaks a rule are errors, not failed expectations."""
    for path in (
        "tests/corpus/malformed_tests/several.yaml",
        "nowhere.yaml",
        "tests/corpus/malformed_tests/platform-refuses.yaml",
    ):
        result = command.run("test", path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(path)
        assert "Error" not in result.stderr


def test_bad_usage_is_2(command: Command, tmp_path: Path) -> None:
    """A missing path, an unknown format or folder, and coverage as JUnit XML are wrong; an empty folder is not."""
    for args in (
        (),
        (SPARSE, "--format", "xml"),
        (SPARSE, "--profiles", "nowhere"),
        (SPARSE, "--format", "junit", "--coverage"),
    ):
        result = command.run("test", *args)
        assert (result.exit_code, "Usage: htppower test" in result.stderr) == (2, True)
    result = command.run("test", str(tmp_path))
    assert (result.exit_code, "no tests in this folder" in result.stderr) == (2, True)


def test_good_files_are_not_run_beside_a_bad_one(command: Command) -> None:
    """One bad file ends the run before any report, so that a partial report is not mistaken for the whole."""
    result = command.run("test", "profiles", f"{MALFORMED}/sequence-empty.yaml")
    assert (result.exit_code, result.stdout) == (2, "")


def test_profiles_are_also_found_in_named_folders(command: Command, tmp_path: Path) -> None:
    """--profiles DIR gives a folder to search for names."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bright.yaml").write_text("profile: bright\nextends: balanced\nsummary: Bright.\n")
    (tmp_path / "test.yaml").write_text(Path(SPARSE).read_text().replace("balanced", "bright"))
    assert command.run("test", str(tmp_path / "test.yaml")).exit_code == 2
    command.output("test", str(tmp_path / "test.yaml"), "--profiles", str(tmp_path / "mine"))


def test_chosen_cases_are_shown(command: Command) -> None:
    """-k runs the cases whose name, or whose test's name, matches a text or pattern; -v shows each case."""
    told = command.output("test", FAILING, "-k", "QNX", "-v", exit_code=1)
    assert told.startswith("failed  tests/unit/tools/cli/vote_tests/failing.yaml: on QNX\n")
    assert told.endswith("1 of 1 case in 1 file failed\n")
    assert command.output("test", FAILING, "-k", "*on q*", exit_code=1).endswith("1 of 1 case in 1 file failed\n")
    assert command.output("test", "profiles", "-k", "balanced", "-v").count("passed  profiles/tests/") > 1


@pytest.mark.parametrize("options", [["-k", "no such case"], ["-k", "burst", "--coverage"]])
def test_cases_that_are_none_are_refused(command: Command, options: list[str]) -> None:
    """A filter without a match is an error, and so is coverage of only some cases."""
    result = command.run("test", "profiles", *options)
    assert (result.exit_code, result.stdout) == (2, "")


def test_votes_that_differ_are_told_as_a_difference(command: Command) -> None:
    """Every vote in force is shown once; a different vote is shown after the expected one."""
    cases = json.loads(command.run("test", FAILING, "--format", "json").stdout)["cases"]
    first = next(failure for case in cases for failure in case["failures"])
    assert [line for line in first["votes"] if line[0] != " "] == [
        "- dcvs_v3.sleep_latency_us: 100",
        "+ dcvs_v3.sleep_latency_us: 40",
        "- dcvs_v3.core: TURBO",
        "+ dcvs_v3.core: MAX_VOLTAGE_CORNER",
        "- hmx_timeout_us: 500000",
        "+ hmx_timeout_us: unset",
    ]
    assert "  hmx_v2: default" in first["votes"]
