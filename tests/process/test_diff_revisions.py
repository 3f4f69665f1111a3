"""``htppower diff --against`` with unusual repositories, and with a malicious one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.command import Command

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="no git")

WHO = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
BASE = "profile: base\nextends: balanced\n"
MINE = "profile: mine\nextends: ./base.yaml\n"


class Repository:
    """A git repository in the current folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, given: bytes = b"") -> str:
        """Run git, and return its output."""
        arguments = ("git", *WHO, "-c", "protocol.file.allow=always", *arguments)
        done = subprocess.run(arguments, cwd=self.path, input=given, check=True, capture_output=True)
        return os.fsdecode(done.stdout).strip()

    def write(self, name: str, text: str) -> None:
        """Write a file, and make its folders."""
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def commit(self) -> None:
        """Commit all files."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")


@pytest.fixture
def command() -> Command:
    """Return the command, on a terminal wide enough for a change in one line."""
    return Command(columns=250)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Yield a repository with a base and a profile, which is the current folder."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Repository(folder)
    made.write("profiles/base.yaml", BASE)
    made.write("profiles/mine.yaml", MINE)
    made.commit()
    return made


def raise_base(repository: Repository, name: str = "profiles/base.yaml") -> None:
    """Raise the core clock of the base."""
    repository.write(name, f"{BASE}votes: {{dcvs_v3: {{core: TURBO}}}}\n")


RAISED = "dcvs_v3.core  NOM_PLUS -> TURBO   raises power"


def test_a_tree_that_leads_out_of_itself_writes_nothing(
    command: Command, repository: Repository, tmp_path: Path
) -> None:
    """A hand-made commit with a path out of the temporary folder writes no file there."""
    blob = repository.git("hash-object", "-w", "--stdin", given=b"profile: pwned\nextends: burst\n")
    inner = repository.git("mktree", given=f"100644 blob {blob}\tpwned.yaml\n".encode())
    raw = b"40000 ..\0" + bytes.fromhex(inner)
    evil = repository.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=raw)
    commit = repository.git("commit-tree", evil, "-m", "evil")
    repository.git("update-ref", "refs/heads/evil", commit)
    result = command.run("diff", "--against", "evil")
    assert result.exit_code in {1, 2}
    assert "pwned" not in result.output
    assert not any("pwned" in name for _, _, names in os.walk(tmp_path) for name in names)
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob("*pwned*"))  # noqa: S108 - where it would be


def test_the_environment_of_a_hook_names_no_other_repository(
    command: Command, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variables that git sets for its hooks do not change the compared repository."""
    raise_base(repository)
    told = command.output("diff", "--against", "HEAD", exit_code=1)
    assert f"base, mine  inference  {RAISED}" in told
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert command.output("diff", "--against", "HEAD", "profiles", exit_code=1) == told
    monkeypatch.chdir(repository.path / "profiles")
    told = command.output("diff", "--against", "HEAD", ".", exit_code=1)
    assert f"base, mine  inference  {RAISED}" in told


def test_a_linked_work_tree(
    command: Command, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a linked work tree the revision is the same."""
    repository.git("worktree", "add", "-q", str(tmp_path / "second"), "-b", "second")
    monkeypatch.chdir(tmp_path / "second")
    assert command.run("diff", "--against", "main").exit_code == 0
    Path("profiles/base.yaml").write_text(f"{BASE}votes: {{dcvs_v3: {{core: TURBO}}}}\n", encoding="utf-8")
    assert f"base, mine  inference  {RAISED}" in command.output("diff", "--against", "main", exit_code=1)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_links_are_followed_as_in_the_work_tree(command: Command, repository: Repository) -> None:
    """A linked profile and a linked folder of power states are equal before and after, until they change."""
    state = command.output("show", "relaxed").replace("state: relaxed", "state: low")
    repository.write("common/states/low.yaml", state)
    repository.write("common/shared.yaml", "profile: shared\nextends: burst\nrelax: {to: low}\n")
    Path("profiles/states").symlink_to("../common/states")
    Path("profiles/shared.yaml").symlink_to("../common/shared.yaml")
    Path("profiles/gone.link").symlink_to("/nowhere")
    repository.commit()
    assert command.output("diff", "--against", "HEAD") == "nothing differs in what is resolved\n"
    repository.write("common/states/low.yaml", state.replace("2000", "1999"))
    assert "shared  lowered  dcvs_v3.sleep_latency_us" in command.output("diff", "--against", "HEAD", exit_code=1)
    assert "shared  lowered" in command.output("diff", "--against", "HEAD", "profiles/shared.yaml", exit_code=1)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_links_that_lead_through_links(command: Command, repository: Repository) -> None:
    """Links are resolved one by one, also absolute ones into the repository, as in the file system."""
    repository.write("a/v2/profiles/cam.yaml", "profile: cam\nextends: ../v/shared/base.yaml\n")
    repository.write("common/base.yaml", BASE)
    (repository.path / "a" / "current").symlink_to("v2")
    Path("linked").symlink_to("a/current/profiles")
    Path("far").symlink_to(repository.path / "a" / "v2" / "profiles")
    (repository.path / "a" / "v2" / "v").mkdir()
    (repository.path / "a" / "v2" / "v" / "shared").symlink_to("../../../common")
    Path("round").symlink_to("round")
    repository.commit()
    for folder in ("linked", "far", "a/v2/profiles"):
        assert command.output("diff", "--against", "main", folder) == "nothing differs in what is resolved\n"
    raise_base(repository, "common/base.yaml")
    for folder in ("linked", "far", "a/v2/profiles", "a/v2/profiles/cam.yaml"):
        assert RAISED in command.output("diff", "--against", "main", folder, exit_code=1)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_what_a_linked_file_extends_is_beside_the_link(command: Command, repository: Repository) -> None:
    """A path in a linked file is relative to the link's folder."""
    repository.write("other/base.yaml", BASE)
    repository.write("shared/real/cam.yaml", "profile: cam\nextends: ../other/base.yaml\n")
    Path("profiles/cam.yaml").symlink_to("../shared/real/cam.yaml")
    repository.commit()
    assert command.run("diff", "--against", "main").exit_code == 0
    raise_base(repository, "other/base.yaml")
    assert f"cam  inference  {RAISED}" in command.output("diff", "--against", "main", exit_code=1)


def test_an_absolute_base_outside_of_what_is_compared(command: Command, repository: Repository) -> None:
    """A base that only has an absolute path is read from the revision."""
    repository.write("common/base.yaml", BASE)
    repository.write("profiles/far.yaml", f"profile: far\nextends: {repository.path}/common/base.yaml\n")
    repository.commit()
    assert command.run("diff", "--against", "HEAD").exit_code == 0
    raise_base(repository, "common/base.yaml")
    assert f"far  inference  {RAISED}" in command.output("diff", "--against", "HEAD", exit_code=1)


def test_a_path_that_was_never_there_is_no_shipped_name(command: Command, repository: Repository) -> None:
    """With a revision only paths are compared, so a name that is not a path is an error."""
    assert repository.path.is_dir()
    for name in ("burst", "nothere"):
        result = command.run("diff", "--against", "main", name)
        assert (result.exit_code, result.stdout, "FILE-1" in result.stderr) == (2, "", True)


def test_a_base_by_its_absolute_path_is_that_of_then(command: Command, repository: Repository) -> None:
    """An absolute path into the repository is read from the revision for the old side."""
    repository.write("profiles/far.yaml", f"profile: far\nextends: {repository.path}/profiles/base.yaml\n")
    repository.commit()
    raise_base(repository)
    assert f"base, far, mine  inference  {RAISED}" in command.output("diff", "--against", "HEAD", exit_code=1)


def test_a_base_elsewhere_and_of_another_ending(command: Command, repository: Repository) -> None:
    """A base named by path is read from the revision, whatever its folder and its ending."""
    repository.write("parts/base.inc", BASE)
    repository.write("profiles/mine.yaml", "profile: mine\nextends: ../parts/base.inc\n")
    repository.commit()
    raise_base(repository, "parts/base.inc")
    assert f"mine  inference  {RAISED}   (profiles/../parts/base.inc:3)" in command.output(
        "diff", "--against", "HEAD", exit_code=1
    )


def test_only_what_is_reached_is_read(command: Command, repository: Repository) -> None:
    """Other YAML files of the repository are not read."""
    repository.write("deploy/values.yaml", "profile: [\n")
    repository.commit()
    assert command.run("diff", "--against", "HEAD").exit_code == 0


def test_a_submodule_is_named(command: Command, repository: Repository, tmp_path: Path) -> None:
    """Profiles in a submodule are not compared, and the message says where to compare them."""
    other = tmp_path / "other"
    other.mkdir()
    inner = Repository(other)
    inner.write("q.yaml", "profile: q\nextends: burst\n")
    inner.commit()
    repository.git("submodule", "add", "-q", str(other), "profiles/sub")
    repository.commit()
    result = command.run("diff", "--against", "HEAD")
    assert (result.exit_code, "profiles/sub is a submodule" in result.stderr) == (2, True)
    assert command.run("diff", "--against", "HEAD", "profiles/sub").exit_code == 0
    assert command.run("diff", "--against", "HEAD", "profiles/mine.yaml").exit_code == 0


def test_a_submodule_without_profiles_is_no_trouble(command: Command, repository: Repository, tmp_path: Path) -> None:
    """A submodule without profiles does not stop the comparison."""
    other = tmp_path / "other"
    other.mkdir()
    inner = Repository(other)
    inner.write("readme.txt", "a library")
    inner.commit()
    repository.git("submodule", "add", "-q", str(other), "third")
    repository.commit()
    raise_base(repository)
    told = command.output("diff", "--against", "HEAD", ".", exit_code=1)
    assert f"profiles/base, profiles/mine  inference  {RAISED}" in told


def test_a_second_power_state_elsewhere_is_found_in_the_revision(command: Command, repository: Repository) -> None:
    """The file of ``then`` is read from the revision, even if only the profile is named."""
    state = command.output("show", "released").replace("state: released", "state: low")
    repository.write("far/low.yaml", state)
    then = "relax: {then: {to: ../far/low.yaml, after_us: 0}}\n"
    repository.write("profiles/mine.yaml", f"profile: mine\nextends: burst\n{then}")
    repository.commit()
    assert command.output("diff", "--against", "HEAD", "profiles/mine.yaml") == "nothing differs in what is resolved\n"
    repository.write("far/low.yaml", state.replace("65535", "60000"))
    told = command.output("diff", "--against", "HEAD", "profiles/mine.yaml", exit_code=1)
    assert "mine  further  dcvs_v3.sleep_latency_us  65535 -> 60000" in told


def test_a_clone_that_lacks_a_file_is_told_so(command: Command, repository: Repository) -> None:
    """A missing blob is an error that says what to do."""
    blob = repository.git("rev-parse", "HEAD:profiles/base.yaml")
    (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    result = command.run("diff", "--against", "HEAD")
    assert (result.exit_code, result.stdout, "fetch all of it" in result.stderr) == (2, "", True)


def test_names_of_all_kinds(command: Command, repository: Repository) -> None:
    """File and folder names with spaces, accents and quotes work."""
    name = "profiles/für alle 'x'/mine \"q\".yaml"
    repository.write(name, "profile: mine\nextends: balanced\n")
    repository.commit()
    assert command.run("diff", "--against", "HEAD").exit_code == 0
    repository.write(name, "profile: mine\nextends: balanced\nvotes: {dcvs_v3: {core: TURBO}}\n")
    assert RAISED in command.output("diff", "--against", "HEAD", exit_code=1)


def test_a_renamed_profile_is_added_and_can_be_failed_on(command: Command, repository: Repository) -> None:
    """A profile with a new name may raise power unnoticed, unless the command fails on additions."""
    repository.git("mv", "profiles/mine.yaml", "profiles/other.yaml")
    repository.write("profiles/other.yaml", "profile: other\nextends: burst\n")
    assert command.run("diff", "--against", "HEAD", "--fail-on", "changes-timing").exit_code == 0
    assert command.run("diff", "--against", "HEAD", "--fail-on", "added").exit_code == 1
    assert command.run("diff", "--against", "HEAD", "--fail-on", "removed").exit_code == 1
    assert command.run("diff", "--against", "HEAD", "--fail-on", "raises-power").exit_code == 1


@pytest.mark.parametrize("elsewhere", ["/etc", "/"])
def test_a_work_tree_that_the_configuration_names_is_told(
    command: Command, repository: Repository, elsewhere: str
) -> None:
    """With core.worktree git looks in another folder, so the error says what to do."""
    repository.git("config", "core.worktree", elsewhere)
    result = command.run("diff", "--against", "HEAD", ".")
    assert (result.exit_code, result.stdout) == (2, "")
    told = " ".join(result.stderr.split())
    assert f"says that its work tree is {elsewhere}: git -C" in told
    assert "config --unset core.worktree" in told
