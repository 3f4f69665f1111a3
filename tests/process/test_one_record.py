"""A rule, and a vote option, are added in one file: each test adds a made-up one to a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.checkout import ROOT
from support.shipped import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., str]

RULE = """

@rule(
    "FAKE-1",
    "The HMX timeout is not 777 us.",
    Breach.ERROR,
    "made up",
    why="A test looks for it.",
    mend="State another timeout.",
    wrong=my_votes("hmx_timeout_us: 777"),
    right=my_votes("hmx_timeout_us: 778"),
    fields=(("votes", "hmx_timeout_us"),),
    schema=(IfThen({"hmx_timeout_us": {"const": 777}}, {"ddr_perf_mode": False}),),
)
def _fake(case: Case) -> Iterator[Finding]:
    if case.votes.hmx_timeout_us == 777:
        yield Finding("FAKE-1", ("votes", "hmx_timeout_us"), "the timeout is 777 us", "778")
"""
NUMBER = "    CENG_EXP = 10\n"
OPTION = """    fake_us: int | None = attrs.field(
        default=None,
        metadata=_record(
            Option.FAKE,
            "fakeConfig",
            "A made-up time, in us.",
            "made up",
            taken_back=1,
            limits=Limits(1, 99),
            optional=True,
        ),
    )
"""


# Prints the vote in the status, its native form, and its value after the session has lowered.
HOST = """
from htppower import VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.testing import VirtualTime

time = VirtualTime()
recorder = RecordingBackend(SimulatedHtp(arch=75), time=time)
with VoteController(recorder, time=time, handle_sigterm=False, folders=["."]) as controller:
    session = controller.session("./mine.yaml")
    with session.inference():
        (votes,) = controller.status().sessions[0].votes.values()
        print(votes.fake_us)
    (sent,) = [dict(config.fields) for call in recorder.calls for config in call.configs if config.option == "FAKE"]
    print(sent)
    time.advance_us(1_000_000)
    (votes,) = controller.status().sessions[0].votes.values()
    print(votes.fake_us)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package that a test may change."""
    copy = tmp_path / "changed" / "htppower"
    shutil.copytree(ROOT / "htppower", copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(shipped_folder(), copy.parent / "profiles")
    return copy


@pytest.fixture
def run(package: Path, tmp_path: Path) -> Run:
    """Return a function that runs Python with the copy in a folder of profiles."""

    def _run(*arguments: str, fails: bool = False) -> str:
        paths = os.pathsep.join((str(package.parent), str(ROOT)))
        environment = {**os.environ, "PYTHONPATH": paths, "COLUMNS": "200"}
        command = [sys.executable, *arguments]
        folder = tmp_path / "profiles"
        folder.mkdir(exist_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)
        assert (done.returncode != 0) is fails, done.stderr
        return done.stdout + done.stderr

    return _run


def profile(tmp_path: Path, name: str, votes: str) -> None:
    """Write a profile that extends burst."""
    path = tmp_path / "profiles" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"profile: {name}\nextends: burst\nvotes: {{{votes}}}\n", encoding="utf-8")


def test_a_rule_is_added_in_one_file(package: Path, run: Run, tmp_path: Path) -> None:
    """Lint, its rule list, explain, the JSON Schema, a raise and the page of the rules know a rule from its record."""
    with (package / "rules" / "number_rules.py").open("a", encoding="utf-8") as module:
        module.write(RULE)
    profile(tmp_path, "mine", "hmx_timeout_us: 777")
    assert "FAKE-1 the timeout is 777 us" in run("-m", "htppower", "lint", "mine.yaml", fails=True)
    sarif = json.loads(run("-m", "htppower", "lint", "mine.yaml", "--format", "sarif", fails=True))
    rules: list[dict[str, Any]] = sarif["runs"][0]["tool"]["driver"]["rules"]
    assert "A test looks for it." in [rule["fullDescription"]["text"] for rule in rules if rule["id"] == "FAKE-1"]
    told = run("-m", "htppower", "explain", "FAKE-1")
    for text in ("The HMX timeout is not 777 us.", "A test looks for it.", "State another timeout.", "778", "made up"):
        assert text in told
    assert "FAKE-1" in run("-m", "htppower", "explain", "burst", "hmx_timeout_us")
    run("-m", "htppower", "schema", "schemas")
    assert "FAKE-1" in (tmp_path / "profiles" / "schemas" / "profile.json").read_text("utf-8")
    assert "FAKE-1" in run("-m", "htppower", "profile", "./mine.yaml", "--dry-run", fails=True)
    page = run("-c", "from docs.rule_parts import PARTS; print(PARTS['rules'](), PARTS['rule-messages']())")
    assert "| `FAKE-1` |" in page
    assert "error FAKE-1 the timeout is 777 us (778)" in page


def test_an_option_is_added_in_one_file(package: Path, run: Run, tmp_path: Path) -> None:
    """A dry run, lint, explain, diff, the JSON Schema, vote tests, status and the simulator know an option."""
    options = package / "votes" / "options.py"
    text = options.read_text(encoding="utf-8")
    head, end = text.split("\n\n\n_TABLE = ")
    options.write_text(
        f"{head.replace(NUMBER, f'{NUMBER}    FAKE = 11{chr(10)}')}\n{OPTION}\n\n_TABLE = {end}", "utf-8"
    )
    profile(tmp_path, "mine", "fake_us: 7")
    profile(tmp_path, "other", "fake_us: 8")
    profile(tmp_path, "wrong", "fake_us: 100")
    dry_run = run("-m", "htppower", "profile", "./mine.yaml", "--dry-run")
    assert "FAKE" in dry_run
    assert "VALUE-1" in run("-m", "htppower", "lint", "wrong.yaml", fails=True)
    (tmp_path / "profiles" / "wrong.yaml").unlink()
    assert "no findings" in run("-m", "htppower", "lint", "mine.yaml", "other.yaml").lower()
    explained = run("-m", "htppower", "explain", "mine.yaml", "fake_us")
    for part in ("A made-up time, in us.", "FAKE, option 11", "fakeConfig 7"):
        assert part in explained
    assert "fake_us" in run("-m", "htppower", "diff", "mine.yaml", "other.yaml", fails=True)
    run("-m", "htppower", "schema", "schemas")
    schema = json.loads((tmp_path / "profiles" / "schemas" / "profile.json").read_text("utf-8"))
    assert schema["definitions"]["VoteSet"]["properties"]["fake_us"]["description"] == "A made-up time, in us."
    run("-m", "htppower", "test", "--write", "mine.yaml")
    assert "fake_us: 7" in (tmp_path / "profiles" / "tests" / "mine.yaml").read_text("utf-8")
    uncovered = run("-m", "htppower", "test", "tests", "--coverage")
    assert "votes.fake_us" not in uncovered
    assert "fake_us" in run("-m", "htppower", "explain", "V75")
    assert run("-c", HOST).splitlines() == ["7", "{'fakeConfig': 7}", "1"]
