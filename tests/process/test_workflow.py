"""The workflow in the docs: each of its commands does in a repository what its name says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.checkout import ROOT
from support.shipped import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORKFLOW = ROOT / "docs" / "workflows" / "review.yml"

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or shutil.which("bash") is None, reason="the workflow needs git and bash"
)


def steps() -> dict[str, str]:
    """Return the steps that run htppower, by name."""
    workflow: Any = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return {
        step["name"]: step["run"] for step in workflow["jobs"]["review"]["steps"] if "name" in step and "run" in step
    }


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Yield a function that runs a step in a clone; burst's sustain time is 2 s there, and 300 ms on main."""
    (tmp_path / "bin").mkdir()
    htppower = tmp_path / "bin" / "htppower"
    htppower.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m htppower "$@"\n', encoding="utf-8")
    htppower.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {
        **kept,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }
    origin, clone = tmp_path / "origin", tmp_path / "clone"

    def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
        )

    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
    shutil.copytree(shipped_folder(), origin / "profiles")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "all")):
        assert call(origin, "git", *who, *arguments).returncode == 0
    assert call(tmp_path, "git", "clone", "-q", str(origin), str(clone)).returncode == 0
    burst = clone / "profiles" / "burst.yaml"
    burst.write_text(burst.read_text(encoding="utf-8").replace("300000", "2000000"), encoding="utf-8")
    # Like the workflow's shell: stop at the first failing command.
    return lambda step: call(clone, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps()[step])


def test_lint_passes_and_writes_sarif(run: Callable[[str], subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """A longer sustain time is not a finding; the file for code scanning is there."""
    assert run("Lint").returncode == 0
    assert '"version": "2.1.0"' in (tmp_path / "clone" / "lint.sarif").read_text(encoding="utf-8")


def test_the_tests_fail(run: Callable[[str], subprocess.CompletedProcess[str]]) -> None:
    """The shipped tests expect 300 ms."""
    done = run("Test")
    assert (done.returncode, "expected LOWERED, got RAISED" in done.stdout) == (1, True)


def test_what_changes_is_said_without_failing(
    run: Callable[[str], subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """The summary has the change and its cost, and the page has both pictures; the step passes with a difference."""
    done = run("Say what changes")
    assert (done.returncode, done.stderr) == (0, "")
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "`300000` | `2000000`" in summary
    assert "time raised: 345 ms -> 2.045 s (+1.7 s)" in summary
    assert (tmp_path / "clone" / "profiles.html").read_text(encoding="utf-8").count("<svg") == 2


def test_power_is_not_raised_unseen(run: Callable[[str], subprocess.CompletedProcess[str]]) -> None:
    """The last step fails, since the change is one of timing."""
    assert run("Raise no power unseen").returncode == 1
