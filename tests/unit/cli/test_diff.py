"""``htppower diff``: what it prints, its exit codes, and revisions of a git repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sides import BASE, CHANGED, MINE

from htppower.profiles.discovery import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from command import Command

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git")


@pytest.mark.usefixtures("sides")
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_every_form_is_the_reviewed_one(command: Command, form: str) -> None:
    """What is told of two folders is, in every form, what was reviewed."""
    command.assert_golden(f"diff-{form}.txt", "diff", "old", "new", "--format", form, exit_code=1)


def test_the_same_is_exit_0(command: Command) -> None:
    """Nothing that differs is exit 0 and a line that says so."""
    assert command.output("diff", "burst", "burst") == "nothing differs in what is resolved\n"
    assert json.loads(command.output("diff", "burst", "burst", "--format", "json"))["same"] is True


@pytest.mark.usefixtures("sides")
def test_fail_on_counts_its_effects_only(command: Command) -> None:
    """With --fail-on a difference of another effect is exit 0; it may be repeated."""
    assert command.run("diff", "old", "new", "--fail-on", "raises-power").exit_code == 1
    assert command.run("diff", "new", "old", "--fail-on", "changes-timing").exit_code == 1
    assert command.run("diff", "burst", "burst", "--fail-on", "raises-power").exit_code == 0
    lower = ("diff", "high_performance", "balanced", "--fail-on", "raises-power")
    assert command.run(*lower).exit_code == 0
    assert command.run(*lower, "--fail-on", "changes-latency").exit_code == 1
    assert command.run("diff", "old", "new", "--fail-on", "nothing").exit_code == 2


@pytest.mark.usefixtures("sides")
def test_outputs_are_written_beside_what_is_printed(command: Command) -> None:
    """Several forms in one run, each as it would be printed; with one that can't be written none is."""
    printed = command.output("diff", "old", "new", "--output", "json=o.json", "--output", "html=o.html", exit_code=1)
    assert printed == command.output("diff", "old", "new", exit_code=1)
    told = command.output("diff", "old", "new", "--format", "json", exit_code=1)
    assert Path("o.json").read_text(encoding="utf-8") == told
    assert "<svg" in Path("o.html").read_text(encoding="utf-8")
    outputs = ("--output", "json=p.json", "--output", "markdown=none/p.md")
    result = command.run("diff", "old", "new", *outputs)
    assert (result.exit_code, result.stdout, Path("p.json").exists()) == (2, "", False)


def test_nothing_compared_with_nothing_is_exit_2(command: Command, tmp_path: Path) -> None:
    """Folders without profiles are no success: the wrong folder must not be green."""
    result = command.run("diff", str(tmp_path), str(tmp_path))
    assert (result.exit_code, "no profile there" in result.stderr) == (2, True)
    assert command.run("diff", str(tmp_path), "burst").exit_code == 2


def test_power_states_are_compared_by_name(command: Command) -> None:
    """Two power states can be compared, as two profiles can."""
    assert "dcvs_v3.sleep_latency_us  2000 -> 65535" in command.output("diff", "relaxed", "released", exit_code=1)


def test_bad_input_is_exit_2(command: Command, tmp_path: Path) -> None:
    """What can't be found, read or resolved is named with its place, and nothing is compared."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("profile: wrong\nextends: burst\nvotes: {rpc_polling_time_us: 10000}\n", encoding="utf-8")
    for arguments, said in (
        (("burst", "brst"), "did you mean burst?"),
        (("burst", str(tmp_path / "none.yaml")), "none.yaml: FILE-1"),
        ((str(wrong), "burst"), "wrong.yaml:3:30: RPC-1"),
        (("burst",), "name OLD and NEW"),
        (("burst", "burst", "burst"), "name OLD and NEW"),
        ((), "name OLD and NEW"),
    ):
        result = command.run("diff", *arguments)
        assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True), arguments


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Yield git in a new repository, made the current folder, with one commit of profiles."""
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


@needs_git
def test_a_revision_is_compared_with_now(command: Command, repository: Callable[..., None]) -> None:
    """A change in the work tree, committed or not, is told against a revision; the repository stays as it is."""
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


@needs_git
def test_files_that_come_and_go_between_revisions(command: Command, repository: Callable[..., None]) -> None:
    """A file that is new is added and one that is gone is removed, said with where it was."""
    Path("profiles/mine.yaml").unlink()
    Path("profiles/more.yaml").write_text("profile: more\nextends: base\n", encoding="utf-8")
    told = command.output("diff", "--against", "HEAD", exit_code=1)
    assert "more  added   (profiles/more.yaml)" in told
    assert "mine  removed   (HEAD:profiles/mine.yaml)" in told
    assert "mine  removed" in command.output("diff", "--against", "HEAD", "profiles/mine.yaml", exit_code=1)
    assert "more  added" in command.output("diff", "--against", "HEAD", "profiles/more.yaml", exit_code=1)
    repository("tag", "v1")
    assert command.run("diff", "--against", "v1").exit_code == 1


@needs_git
def test_a_revision_keeps_its_own_bases(command: Command, repository: Callable[..., None]) -> None:
    """Old files extend old bases, wherever in the repository these are, also where their folder is only named."""
    Path("parts").mkdir()
    Path("profiles/base.yaml").rename("parts/base.yaml")
    repository("add", "-A")
    repository("commit", "-q", "-m", "moved")
    Path("parts/base.yaml").write_text(CHANGED, encoding="utf-8")
    told = command.output("diff", "--against", "HEAD", "profiles", "--profiles", "parts", exit_code=1)
    assert "mine  inference  dcvs_v3.core.min  SVS -> NOM   raises power   (parts/base.yaml:5)" in told


@needs_git
@pytest.mark.usefixtures("repository")
def test_a_wrong_old_file_is_named_with_its_revision(command: Command) -> None:
    """Where an old file can't be resolved the place says of which revision it is."""
    result = command.run("diff", "--against", "HEAD", "profiles/mine.yaml", "profiles/none.yaml")
    assert (result.exit_code, "profiles/none.yaml" in result.stderr) == (2, True)


@needs_git
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
    """No revision, no repository, or a path outside of it: said in a line, whatever the name looks like."""
    result = command.run("diff", *arguments)
    assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True), result.stderr


def test_without_git_it_is_said_what_to_do(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no git a revision can't be had, and two folders still can be compared."""
    monkeypatch.setenv("PATH", "")
    result = command.run("diff", "--against", "HEAD", ".")
    assert (result.exit_code, "compare two folders" in result.stderr) == (2, True)


@needs_git
def test_the_shipped_folder_of_a_revision_is_that_revisions(
    command: Command, repository: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the shipped folder is part of the repository, old profiles relax to the states of then."""
    shutil.copytree(shipped_folder(), "shipped")
    repository("add", ".")
    repository("commit", "-q", "-m", "shipped")
    for module in ("profiles.discovery", "review.file_selection", "review.diff.sides", "review.diff.revision"):
        monkeypatch.setattr(f"htppower.{module}.shipped_folder", lambda: Path("shipped").resolve())
    relaxed = Path("shipped/states/relaxed.yaml")
    relaxed.write_text(relaxed.read_text(encoding="utf-8").replace("2000", "1999"), encoding="utf-8")
    told = command.output("diff", "--against", "HEAD", "profiles", exit_code=1)
    assert "mine  lowered  dcvs_v3.sleep_latency_us  2000 -> 1999   changes latency" in told


def test_diff_imports_nothing_that_runs_votes() -> None:
    """Neither the controller nor its libraries are imported, nor what only other forms need."""
    code = (
        "import sys; from htppower.cli.main import main\n"
        "try: main(['diff', 'burst', 'balanced'])\n"
        "except SystemExit: pass\n"
        "left_out = {'transitions', 'apscheduler', 'htppower.control.controller', 'json'}\n"
        "left_out.add('htppower.review.diff.revision')\n"
        "print(sorted(left_out & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.splitlines()[-1] == "[]"


@needs_git
@pytest.mark.usefixtures("repository")
def test_a_page_names_old_files_by_their_revision(command: Command) -> None:
    """No temporary place is on a page: it would not be there when the page is read."""
    Path("profiles/base.yaml").write_text(CHANGED, encoding="utf-8")
    page = command.output("diff", "--against", "HEAD", "--format", "html", exit_code=1)
    assert "HEAD:profiles/base.yaml" in page
    assert "htppower-" not in page
