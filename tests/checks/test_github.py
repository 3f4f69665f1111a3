"""The files for GitHub: workflows, issue forms, updates of actions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.checkout import ROOT

if TYPE_CHECKING:
    import os

GITHUB = ROOT / ".github"
BIN = Path(sys.executable).parent
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": FORMS,
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "dependabot": [GITHUB / "dependabot.yml"],
}


def run(*command: str | os.PathLike[str]) -> None:
    """Run a tool of the environment, which must find no problem."""
    done = subprocess.run([BIN / command[0], *command[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_files_keep_the_schemas_of_the_host(schema: str) -> None:
    """GitHub ignores an unknown key, or stops the workflow."""
    assert SCHEMAS[schema]
    run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *SCHEMAS[schema])


def test_no_workflow_lets_a_stranger_in() -> None:
    """No workflow exposes its token, or runs text from a pull request."""
    run("zizmor", "--offline", "--no-progress", "--config", GITHUB / "zizmor.yml", *WORKFLOWS)
