"""``htppower test --write`` writes a test of a profile as it is."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from support.shipped import shipped_folder

from htppower import profile_names

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

CAM = "profile: cam\nextends: burst\nsummary: Cam.\nrelax: {after_inference_us: 100000}\n"
LEARNT = (
    "profile: learnt\nextends: balanced\nsummary: Learnt.\nrelax: {after_init_us: 20000, "
    "after_inference_us: {adaptive: {break_even_us: 100000}}, then: {to: released, after_us: 500000}}\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder with two profiles."""
    (tmp_path / "cam.yaml").write_text(CAM, encoding="utf-8")
    (tmp_path / "learnt.yaml").write_text(LEARNT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_written_passes_and_looks_at_every_field(command: Command) -> None:
    """The test passes while the profile is unchanged; in a folder, every profile gets a test."""
    told = command.output("test", ".", "--write")
    assert told.splitlines() == ["wrote tests/cam.yaml", "wrote tests/learnt.yaml"]
    assert "4 cases in 2 files passed" in command.output("test", ".", "--fail-uncovered")
    assert command.output("lint", ".", "--strict").startswith("2 files: no findings")


@pytest.mark.parametrize(
    ("old", "new"),
    [("100000", "100001"), ("burst", "sustained_high_performance"), ("{after", "{to: released, after")],
)
def test_what_is_written_fails_once_the_profile_changes(command: Command, folder: Path, old: str, new: str) -> None:
    """A time that differs by a microsecond, another corner, or another power state fails the test."""
    command.output("test", "cam.yaml", "--write")
    assert command.run("test", "tests/cam.yaml").exit_code == 0
    (folder / "cam.yaml").write_text(CAM.replace(old, new), encoding="utf-8")
    assert command.run("test", "tests/cam.yaml").exit_code == 1


def test_a_folder_without_anything_to_test_is_told(command: Command, folder: Path) -> None:
    """If each profile has a test, or the profiles are in a subfolder, the message says that nothing was written."""
    command.output("test", ".", "--write")
    result = command.run("test", ".", "--write")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "wrote nothing: no profile without a test directly in ." in result.stderr
    (folder / "above" / "below").mkdir(parents=True)
    (folder / "cam.yaml").rename(folder / "above" / "below" / "cam.yaml")
    assert "directly in above" in command.run("test", "above", "--write").stderr


def test_a_test_that_is_there_is_kept(command: Command, folder: Path) -> None:
    """A profile with a test, given by path, is refused without --force; a folder's other profiles get a test."""
    command.output("test", "cam.yaml", "--write")
    kept = (folder / "tests" / "cam.yaml").read_text(encoding="utf-8") + "# mine\n"
    (folder / "tests" / "cam.yaml").write_text(kept, encoding="utf-8")
    result = command.run("test", "cam.yaml", "--write")
    assert (result.exit_code, "--force" in result.stderr) == (2, True)
    assert command.output("test", ".", "--write").splitlines() == ["wrote tests/learnt.yaml"]
    assert (folder / "tests" / "cam.yaml").read_text(encoding="utf-8") == kept
    command.output("test", "cam.yaml", "--write", "--force")
    assert (folder / "tests" / "cam.yaml").read_text(encoding="utf-8") == kept.removesuffix("# mine\n")


def test_a_test_of_each_shipped_profile_passes(command: Command, folder: Path) -> None:
    """The tests pass on a SoC with every option, and on a SoC that lacks most."""
    for soc in ("SM8850", "SM8350"):
        target = folder / soc
        target.mkdir()
        for file in shipped_folder().glob("*.yaml"):
            shutil.copy(file, target)
        shutil.copytree(shipped_folder() / "states", target / "states")
        command.output("test", str(target), "--write", "--soc", soc)
        passed = f"{2 * len(profile_names())} cases in {len(profile_names())} files passed"
        assert command.output("test", str(target)).strip() == passed


@pytest.mark.parametrize(
    "arguments",
    [("--soc", "SM8650"), ("--force",), ("--write", "-k", "x"), ("--write", "--coverage"), ("--write", "--soc", "X")],
)
def test_options_that_do_not_go_together(command: Command, arguments: tuple[str, ...]) -> None:
    """Nothing is written."""
    assert command.run("test", ".", *arguments).exit_code == 2
