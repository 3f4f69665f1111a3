"""The settings of a project: ``htppower.toml`` and ``[tool.htppower]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

CAM = "profile: cam\nextends: burst\nsummary: Cam.\nrelax: {after_inference_us: 10000}\n"
SETTINGS = 'profiles = ["mine"]\nstrict = true\nexclude = ["drafts"]\n'


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder as a project: lint warns about its profile, and its draft has an error."""
    for folder in ("mine", "mine/drafts", "src/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "mine" / "cam.yaml").write_text(CAM, encoding="utf-8")
    (tmp_path / "mine" / "drafts" / "draft.yaml").write_text("profile: draft\nextends: 7\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["htppower.toml", "pyproject.toml"])
def configured(request: pytest.FixtureRequest, project: Path) -> Path:
    """Return the project with its settings in one of the two files."""
    table = "[tool.htppower]\n" if request.param == "pyproject.toml" else ""
    (project / request.param).write_text(f"{table}{SETTINGS}", encoding="utf-8")
    return project


@pytest.mark.usefixtures("configured")
def test_names_are_looked_up_in_the_folders_of_the_project(command: Command) -> None:
    """Every command that has --profiles takes them."""
    assert command.output("show", "cam").startswith("profile: cam\n")
    assert "cam: Cam." in command.output("profile", "cam", "--dry-run")
    assert "cam" in command.output("list")
    assert "after_inference_us" in command.output("explain", "cam")


@pytest.mark.usefixtures("configured")
def test_lint_is_as_strict_and_leaves_out_what_the_project_says(command: Command) -> None:
    """The file sets --strict and the exclusions; the command line overrides the file."""
    told = command.output("lint", "mine", exit_code=1)
    assert "SUS-1" in told
    assert "draft" not in told
    assert "SUS-1" in command.output("lint", "mine", "--no-strict")
    assert "draft" in command.output("lint", "mine", "--exclude", "nothing", exit_code=1)


def test_a_folder_below_the_project_has_its_settings(
    command: Command, configured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths in the file are relative to the folder of the file."""
    monkeypatch.chdir(configured / "src" / "deep")
    assert command.output("show", "cam").startswith("profile: cam\n")


def test_the_nearest_file_counts(command: Command, configured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of two files are not mixed; a project file without settings of htppower is skipped."""
    (configured / "src" / "pyproject.toml").write_text('[project]\nname = "other"\n', encoding="utf-8")
    monkeypatch.chdir(configured / "src")
    assert command.run("show", "cam").exit_code == 0
    (configured / "src" / "htppower.toml").write_text("strict = false\n", encoding="utf-8")
    assert command.run("show", "cam").exit_code == 2


def test_options_that_the_file_gives_are_not_refused(command: Command, configured: Path) -> None:
    """A command that does not need the project's folders ignores them."""
    (configured / "genai_config.json").write_text('{"model": {"decoder": {}}}', encoding="utf-8")
    assert "is for settings of a profile" not in command.run("settings", "--check", "genai_config.json").stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("strct = true\n", "unknown key 'strct': did you mean strict?"),
        ("strict = 1\n", "strict is 1: write true or false"),
        ('strict = "yes"\n', "strict is 'yes': write true or false"),
        ('profiles = "mine"\n', "profiles is 'mine': write a list of texts"),
        ("exclude = [1]\n", "exclude is [1]: write a list of texts"),
        ('profiles = ["nope"]\n', "profiles has 'nope', which is not a folder"),
        ("profiles = [\n", "htppower.toml: "),
        ("\u0000", "htppower.toml: "),
        (f"a = {'9' * 5000}\n", "htppower.toml: "),
        (f"# {'x' * 2**20}\n", "is larger than 1048576 bytes"),
        (f"strict = 0x{'f' * 5000}\n", "strict is too large to print: write true or false"),
        (f"exclude = {'[' * 3000}\n", "nested too deeply"),
        (f"{'a={' * 3000}\n", "nested too deeply"),
        (f"a{'.a' * 50000} = 1\n", "a key has more than 100 parts"),
        (f'[t]\nx = """\n" \'\'\' # """\ny = {{b = "#", a{" . a" * 50000} = 1}}\n', "a key has more than 100 parts"),
        (f"exclude = ['{'[' * 50000}']\n", "exclude has more than 10000 characters"),
    ],
)
def test_what_is_wrong_in_the_file_is_refused(command: Command, project: Path, text: str, said: str) -> None:
    """The error names the file and the fix, with exit code 2."""
    (project / "htppower.toml").write_text(text, encoding="utf-8")
    result = command.run("list")
    assert result.exit_code == 2
    assert str(project / "htppower.toml") in result.stderr
    assert said in result.stderr


@pytest.mark.parametrize(
    "text", [f"strict = '{'x' * 90000}'\n", f"{'k' * 90000} = 1\n", f"exclude = [{'1,' * 90000}]\n"]
)
def test_a_long_value_is_shortened(command: Command, project: Path, text: str) -> None:
    """A message quotes only the beginning of a value."""
    (project / "htppower.toml").write_text(text, encoding="utf-8")
    result = command.run("list")
    assert (result.exit_code, len(result.stderr) < 1000) == (2, True)


def test_dots_in_texts_are_no_parts_of_a_key(command: Command, project: Path) -> None:
    """Comments and texts may hold any number of dots."""
    dots = "a.b." * 100
    text = f"# {dots}\nexclude = [\"{dots}\", '{dots}', \"\"\"\n{dots}\"\"\", '''\n{dots}''']\n"
    (project / "htppower.toml").write_text(text, encoding="utf-8")
    assert command.run("list").exit_code == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(command: Command, project: Path) -> None:
    """A pipe may never get any data, so it is not read."""
    os.mkfifo(project / "htppower.toml")
    assert command.run("list").exit_code == 2


@pytest.mark.parametrize("text", ["[project\n", '[tool.other]\nname = "htppower"\n', "[tool.htppower-lint]\n"])
def test_a_project_file_without_the_table_is_passed_over(command: Command, project: Path, text: str) -> None:
    """A project file without the table is skipped even if it is wrong: other tools report that."""
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    assert command.run("list").exit_code == 0
