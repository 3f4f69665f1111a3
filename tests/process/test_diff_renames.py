"""``htppower diff`` in a repository: paths in a revision, renames and new profiles."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from support.command import Command

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")

CAMERA = "profile: camera\nextends: burst\nsummary: The camera's.\nrelax:\n  after_inference_us: 100000\n"


@pytest.fixture
def command() -> Command:
    """Return the command, on a terminal wide enough for a change in one line."""
    return Command(columns=250)


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of profiles of a repository, which is the current folder."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / "camera.yaml").write_text(CAMERA, encoding="utf-8")
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
    git = shutil.which("git") or "git"
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        subprocess.run((git, *who, *arguments), check=True)
    (folder / "camera.yaml").unlink()
    renamed = CAMERA.replace("profile: camera", "profile: cam2").replace("100000", "200000")
    (folder / "cam2.yaml").write_text(renamed, encoding="utf-8")
    return folder


def test_a_rename_is_shown_with_its_changes(command: Command, profiles: Path) -> None:
    """A renamed and edited profile is one profile: the edit is shown, and nothing is new or removed."""
    told = command.output("diff", "--against", "main", exit_code=1)
    assert "camera -> cam2   renamed   (profiles/cam2.yaml)" in told
    assert "cam2  inference  relax.after_inference_us  100000 -> 200000   changes timing" in told
    assert "added" not in told
    assert "removed" not in told


@pytest.mark.parametrize(("effect", "code"), [("renamed", 1), ("removed", 1), ("added", 1), ("raises-power", 0)])
def test_a_rename_fails_where_it_is_asked_for(command: Command, profiles: Path, effect: str, code: int) -> None:
    """A host that loads the old name would fail, so a rename counts as removed, too."""
    assert command.run("diff", "--against", "main", "--fail-on", effect).exit_code == code


def test_a_path_in_a_revision(command: Command, profiles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``REV:PATH`` is a file or a folder of that revision, from the working folder, on either side."""
    told = command.output("diff", "main:profiles/camera.yaml", "profiles/cam2.yaml", exit_code=1)
    assert "100000 -> 200000" in told
    assert "200000 -> 100000" in command.output("diff", "profiles/cam2.yaml", "main:profiles/camera.yaml", exit_code=1)
    assert "renamed" in command.output("diff", "main:profiles", "profiles", exit_code=1)
    assert "nothing differs" in command.output("diff", "main:profiles", "HEAD:profiles")
    monkeypatch.chdir(profiles)
    assert "100000 -> 200000" in command.output("diff", "main:camera.yaml", "cam2.yaml", exit_code=1)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("main:profiles/none.yaml", "profiles/none.yaml: FILE-1: is not in main"),
        ("nope:profiles/camera.yaml", "no revision 'nope'"),
        ("onnxruntim:burst", "no record 'onnxruntim:burst'"),
    ],
)
def test_a_path_that_a_revision_lacks_is_refused(command: Command, profiles: Path, name: str, said: str) -> None:
    """The error has the missing path and the revision; a name with a colon that is not a path is a name."""
    result = command.run("diff", name, "profiles/cam2.yaml")
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_a_new_profile_is_shown_with_what_it_changes_and_its_run(command: Command, profiles: Path) -> None:
    """In every form, the fields that differ from its base are shown, and with --timeline its dry run."""
    (profiles / "hot.yaml").write_text(
        "profile: hot\nextends: balanced\nsummary: Hot.\nvotes:\n  dcvs_v3: {core: TURBO}\n", encoding="utf-8"
    )
    told = command.output("diff", "--against", "main", "--timeline", exit_code=1)
    assert "hot   added   (profiles/hot.yaml)" in told
    assert "hot is new and extends balanced:\ninference  dcvs_v3.core  NOM_PLUS -> TURBO   raises power" in told
    assert "hot: dry runs on SM8650" in told
    markdown = command.output("diff", "--against", "main", "--format", "markdown", exit_code=1)
    assert (
        "| `raises power` | `inference` | `dcvs_v3.core` | `NOM_PLUS` | `TURBO` | `profiles/hot.yaml:5` |" in markdown
    )
    page = command.output("diff", "--against", "main", "--format", "html", exit_code=1)
    assert "hot is new and extends balanced" in page
    document = json.loads(command.output("diff", "--against", "main", "--format", "json", exit_code=1))
    (added,) = document["added"]
    assert (added["name"], added["beside"], added["extends"]) == ("hot", "balanced", True)
    assert [change["field"] for change in added["changes"]] == ["dcvs_v3.core"]
    assert document["renamed"] == [{"old": "camera", "new": "cam2", "path": "profiles/cam2.yaml"}]
