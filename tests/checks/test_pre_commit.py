"""The hooks of ``.pre-commit-hooks.yaml``, run by pre-commit from a checkout on a separate repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.checkout import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "htppower", "profiles")
# The error of pip without a package index, which the hooks' environment needs.
NO_INDEX = ("No matching distribution found for", "Failed to establish a new connection", "Temporary failure in name")

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


class Repository:
    """A git repository, with pre-commit in it.

    Attributes:
        installed: the run that installed the hooks, on a sound profile.
    """

    installed: subprocess.CompletedProcess[str]

    def __init__(self, path: Path, home: Path) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        # Compiling all packages would take longer than installing them.
        pip = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1"}
        self._environment = {**kept, "PRE_COMMIT_HOME": str(home), **pip}
        self.git("init", "-q")

    def git(self, *arguments: str) -> str:
        """Run git, and return its output."""
        who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
        return self._run("git", *who, *arguments).stdout.strip()

    def commit(self) -> str:
        """Commit all files without the hooks, and return the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "-m", "all")
        return self.git("rev-parse", "HEAD")

    def pre_commit(self) -> subprocess.CompletedProcess[str]:
        """Run every hook on every file."""
        self.git("add", "-A")
        return self._run(sys.executable, "-m", "pre_commit", "run", "--all-files", check=False)

    def _run(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments, cwd=self.path, env=self._environment, capture_output=True, text=True, check=check
        )


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Yield a repository of profiles with both hooks, installed once from a copy of the checkout."""
    folder = tmp_path_factory.mktemp("pre-commit")
    project = Repository(folder / "htppower", folder / "home")
    for name in NEEDED:
        source, target = ROOT / name, project.path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    revision = project.commit()
    mine = Repository(folder / "mine", folder / "home")
    hooks = "  - id: htppower-lint\n  - id: htppower-test\n"
    config = f"repos:\n- repo: {project.path}\n  rev: {revision}\n  hooks:\n{hooks}"
    (mine.path / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    (mine.path / "profiles" / "tests").mkdir(parents=True)
    write(mine, sustain_us=300_000)
    mine.installed = done = mine.pre_commit()
    if any(said in done.stdout for said in NO_INDEX) and os.environ.get("HTPPOWER_VENDOR") != "required":
        pytest.skip("no package index can be reached, from which the hooks' environment is made")
    return mine


def write(repository: Repository, *, sustain_us: int) -> None:
    """Write a profile with this sustain time, and a test that expects 300 ms."""
    profile = f"profile: camera\nextends: burst\nrelax: {{after_inference_us: {sustain_us}}}\n"
    (repository.path / "profiles" / "camera.yaml").write_text(profile, encoding="utf-8")
    (repository.path / "profiles" / "tests" / "camera.yaml").write_text(TEST, encoding="utf-8")


TEST = """\
test: camera
summary: Lowered 300 ms after the last inference.
profile: camera
platform: {arch: V75}
cases:
  - case: one inference
    sequence:
      - inference_us: 5000
      - idle_us: 300000
    expect:
      - {at_us: 304999, state: RAISED}
      - {at_us: 305000, state: LOWERED}
"""


def test_a_sound_profile_passes_both_hooks(repository: Repository) -> None:
    """Lint and test accept profiles that match their tests."""
    done = repository.installed
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 2


def test_a_wrong_profile_fails_lint_with_its_place(repository: Repository) -> None:
    """If lint refuses a profile, the hook fails and prints the finding."""
    write(repository, sustain_us=-1)
    done = repository.pre_commit()
    assert done.returncode == 1
    assert "profiles/camera.yaml:3:29: error VALUE-1" in done.stdout


def test_a_changed_profile_fails_its_test(repository: Repository) -> None:
    """A valid profile that differs from its test passes lint and fails the test."""
    write(repository, sustain_us=2_000_000)
    done = repository.pre_commit()
    assert done.returncode == 1
    assert done.stdout.count("Passed") == 1
    assert "profiles/tests/camera.yaml" in done.stdout
