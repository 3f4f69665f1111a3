"""``htppower diff --against``: a revision of a git repository, compared with the work tree."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.command import Command
from support.shipped import shipped_folder
from support.two_folders import BASE, CHANGED, MINE

if TYPE_CHECKING:
    from collections.abc import Callable


pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


@pytest.fixture
def command() -> Command:
    """Return the command, on a terminal wide enough for a change in one line."""
    return Command(columns=250)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Yield git in a new repository with one commit of profiles, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], check=True, capture_output=True)  # noqa: S607

    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "base.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "profiles" / "mine.yaml").write_text(MINE, encoding="utf-8")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    return git


def test_a_revision_is_compared_with_now(command: Command, repository: Callable[..., None]) -> None:
    """A change in the work tree, committed or not, is shown; the repository stays as it is."""
    assert command.run("diff", "--against", "HEAD").exit_code == 0
    Path("profiles/base.yaml").write_text(CHANGED, encoding="utf-8")
    before = sorted(Path.cwd().rglob("*"))
    told = command.output("diff", "--against", "HEAD", exit_code=1)
    assert "mine  inference  dcvs_v3.core.min  SVS -> NOM   raises power   (profiles/base.yaml:5)" in told
    assert sorted(Path.cwd().rglob("*")) == before
    repository("commit", "-q", "-a", "-m", "two")
    assert command.run("diff", "--against", "HEAD").exit_code == 0
    assert command.output("diff", "--against", "HEAD~1", exit_code=1) == told
    assert command.output("diff", "--against", "HEAD~1", "profiles", exit_code=1) == told


def test_files_that_come_and_go_between_revisions(command: Command, repository: Callable[..., None]) -> None:
    """A new file is added and a missing file is removed, each with its path."""
    Path("profiles/mine.yaml").unlink()
    Path("profiles/more.yaml").write_text("profile: more\nextends: power_saver\n", encoding="utf-8")
    told = command.output("diff", "--against", "HEAD", exit_code=1)
    assert "more   added   (profiles/more.yaml)" in told
    assert "mine   removed   (HEAD:profiles/mine.yaml)" in told
    assert "mine   removed" in command.output("diff", "--against", "HEAD", "profiles/mine.yaml", exit_code=1)
    assert "more   added" in command.output("diff", "--against", "HEAD", "profiles/more.yaml", exit_code=1)
    repository("tag", "v1")
    assert command.run("diff", "--against", "v1").exit_code == 1


def test_a_revision_keeps_its_own_bases(command: Command, repository: Callable[..., None]) -> None:
    """Old files extend old bases anywhere in the repository, also if their folder is only named."""
    Path("parts").mkdir()
    Path("profiles/base.yaml").rename("parts/base.yaml")
    repository("add", "-A")
    repository("commit", "-q", "-m", "moved")
    Path("parts/base.yaml").write_text(CHANGED, encoding="utf-8")
    told = command.output("diff", "--against", "HEAD", "profiles", "--profiles", "parts", exit_code=1)
    assert "mine  inference  dcvs_v3.core.min  SVS -> NOM   raises power   (parts/base.yaml:5)" in told


@pytest.mark.usefixtures("repository")
def test_a_wrong_old_file_is_named_with_its_revision(command: Command) -> None:
    """If an old file can't be resolved, the place of the error has the revision."""
    result = command.run("diff", "--against", "HEAD", "profiles/mine.yaml", "profiles/none.yaml")
    assert (result.exit_code, "profiles/none.yaml" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--against", "nowhere"], "no revision 'nowhere'"),
        (["--against", "--output=x"], "no revision '--output=x'"),
        (["--against", "HEAD:profiles"], "no revision 'HEAD:profiles'"),
        (["--against", "HEAD", "/"], "not a git repository"),
        (["--against", "HEAD", "profiles", "/"], "is not in the repository"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_a_revision_that_can_not_be_had_is_exit_2(command: Command, arguments: list[str], said: str) -> None:
    """A missing revision, no repository, or a path outside it is an error in one line."""
    result = command.run("diff", *arguments)
    assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True), result.stderr


def test_the_shipped_folder_of_a_revision_is_that_revisions(
    command: Command, repository: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the shipped folder is in the repository, old profiles relax to the old states."""
    shutil.copytree(shipped_folder(), "shipped")
    repository("add", ".")
    repository("commit", "-q", "-m", "shipped")
    for module in (
        "profiles.discovery",
        "tools.review.file_selection",
        "tools.review.diff.sides",
        "tools.review.diff.revision",
    ):
        monkeypatch.setattr(f"htppower.{module}.shipped_folder", lambda: str(Path("shipped").resolve()))
    relaxed = Path("shipped/states/relaxed.yaml")
    relaxed.write_text(relaxed.read_text(encoding="utf-8").replace("2000", "1999"), encoding="utf-8")
    told = command.output("diff", "--against", "HEAD", "profiles", exit_code=1)
    assert "mine  lowered  dcvs_v3.sleep_latency_us  2000 -> 1999   changes latency" in told


@pytest.mark.usefixtures("repository")
def test_a_page_names_old_files_by_their_revision(command: Command) -> None:
    """A page has no temporary path, since that would be gone when the page is read."""
    Path("profiles/base.yaml").write_text(CHANGED, encoding="utf-8")
    page = command.output("diff", "--against", "HEAD", "--format", "html", exit_code=1)
    assert "HEAD:profiles/base.yaml" in page
    assert "htppower-" not in page


def test_extension_files_are_compared_as_they_were_then(command: Command, repository: Callable[..., None]) -> None:
    """The file that an outer file names is old, too, from its folder or the working folder; a refused one is exit 2."""
    chat = '{"devices": [{"cores": [{"perf_profile": "burst"}]}]}'
    Path("app").mkdir()
    Path("app/chat.json").write_text(chat, encoding="utf-8")
    for outer, named in (("beside", "chat.json"), ("working", "app/chat.json")):
        said = f'{{"backend_extensions": {{"config_file_path": "{named}"}}}}'
        Path(f"app/{outer}.json").write_text(said, encoding="utf-8")
    repository("add", ".")
    repository("commit", "-q", "-m", "two")
    assert command.run("diff", "--against", "HEAD", "app").exit_code == 0
    Path("app/chat.json").write_text(chat.replace("burst", "balanced"), encoding="utf-8")
    for path in ("app/chat.json", "app/beside.json", "app/working.json", "app"):
        told = command.output("diff", "--against", "HEAD", path, exit_code=1)
        assert "relax.after_inference_us  300000 -> 0   changes timing   (app/chat.json:1:26)" in told
    Path("app/chat.json").write_text(chat.replace("burst", "brst"), encoding="utf-8")
    result = command.run("diff", "--against", "HEAD", "app/chat.json")
    assert (result.exit_code, "app/chat.json:1:42: EXT-12" in result.stderr) == (2, True)
