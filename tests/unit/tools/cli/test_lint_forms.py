"""The forms of ``htppower lint`` for other tools: each has what the JSON has, which is compared with a golden file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from freezegun import freeze_time
from support.checkout import DATA
from support.slashes import json_slashed

from htppower.tools.review.lint.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.command import Command

FIRST_RULE = {
    "id": "FILE-1",
    "shortDescription": {"text": "The file can be read."},
    "fullDescription": {"text": "A file that is missing, is a folder, or may not be read has no votes to check."},
    "help": {
        "text": "The file can be read. A file that is missing, is a folder, or may not be read has no votes to check. "
        "Check the path, and who may read the file. Source: the format of profile files. "
        "More: htppower explain FILE-1.",
        "markdown": "The file can be read.\n\n"
        "A file that is missing, is a folder, or may not be read has no votes to check.\n\n"
        "htppower lint no_such_file.yaml\n\n"
        "Check the path, and who may read the file.\n\n"
        "Source: the format of profile files. More: `htppower explain FILE-1`.",
    },
    "defaultConfiguration": {"level": "error"},
    "properties": {"tags": ["file"]},
}


@pytest.fixture(autouse=True)
def _reviewed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in the folder of the reviewed files, on the day when one of their suppressions has expired."""
    monkeypatch.chdir(DATA)
    with freeze_time("2026-11-21", ignore=["_pytest.timing"]):
        yield


def _reported(command: Command, form: str) -> tuple[dict[str, Any], str]:
    """Return the report on that folder as JSON, and in another form."""
    told = [command.output("lint", "reviewed", "--format", each, exit_code=1) for each in ("json", form)]
    return json.loads(json_slashed(told[0])), told[1]


def test_github_has_what_the_json_has(command: Command) -> None:
    """For GitHub, each finding is a workflow command with its place, its rule, and all texts of the JSON."""
    document, told = _reported(command, "github")
    assert told.splitlines() == [
        f"::{each['severity']} file={each['path']},line={each['line']},col={each['column']},"
        f"title=htppower {each['rule']}::"
        + f"{each['message']}\nexpected: {each['expected']}\nhint: {each['hint']}\nwhy: {each['docs']}".replace(
            "%", "%25"
        ).replace("\n", "%0A")
        for each in document["findings"]
    ]


def test_junit_has_what_the_json_has(command: Command) -> None:
    """Each file is a suite and each finding a case with the texts of the JSON; an error is a failure."""
    document, told = _reported(command, "junit")
    suites = ElementTree.fromstring(told)  # noqa: S314 - our own
    summary = document["summary"]
    assert [suites.get(each) for each in ("name", "tests", "failures")] == [
        "htppower lint",
        f"{summary['errors'] + summary['warnings']}",
        f"{summary['errors']}",
    ]
    assert [suite.get("name") for suite in suites] == sorted({each["path"] for each in document["findings"]})
    cases = [case for suite in suites for case in suite]
    for case, each in zip(cases, document["findings"], strict=True):
        place = f"{each['line']}:{each['column']}"
        assert (case.get("classname"), case.get("name")) == (each["path"], f"{each['rule']} {place}")
        (said,) = case
        assert (said.tag == "failure") == (each["severity"] == "error")
        assert said.get("message", each["message"]) == each["message"]
        first = f"{each['path']}:{place}: {each['message']}\n{each['text']}"
        assert said.text == f"{first}\nexpected: {each['expected']}\nhint: {each['hint']}"


def test_sarif_has_what_the_json_has(command: Command) -> None:
    """Each finding is a result with the texts of the JSON; suppressed findings have their reasons."""
    document, told = _reported(command, "sarif")
    (run,) = json.loads(told)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(CATALOGUE)
    assert rules[0] == FIRST_RULE
    assert [each["location"]["uri"] for each in run["artifacts"]] == document["files"]
    found = [*document["findings"], *document["suppressed"]]
    for result, each in zip(run["results"], found, strict=True):
        assert (result["ruleId"], result["level"]) == (each["rule"], each["severity"])
        rule = rules[result["ruleIndex"]]
        assert (rule["id"], rule["shortDescription"]["text"]) == (each["rule"], each["expected"])
        assert rule["properties"] == {"tags": [each["family"]]}
        assert result["message"]["text"] == f"{each['message']}. Hint: {each['hint']}."
        ((place,),) = (location.values() for location in result["locations"])
        assert place["artifactLocation"]["uri"] == each["path"]
        assert place["region"] == {"startLine": each["line"], "startColumn": each["column"]}
        assert place["contextRegion"]["snippet"]["text"] == each["text"]
        named = f"{each['rule']}:{each['path']}:{each['message']}"
        assert result["partialFingerprints"] == {"htppowerFinding/v1": named}
        if suppression := each.get("suppression"):
            reason = f"{suppression['because']} (until {suppression['until']})"
            assert result["suppressions"] == [{"kind": "inSource", "justification": reason}]
        else:
            assert "suppressions" not in result
