"""Lint of several files: their choice, their names, and the places of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.linted import TODAY, found, write
from support.shipped import shipped_folder

from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.review.lint.run import lint

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_said_of_a_lineage_that_can_not_be_read(tmp_path: Path) -> None:
    """A profile without its base may extend a profile that polls, so the only finding is the missing base."""
    base, mine = tmp_path / "base.yaml", tmp_path / "mine.yaml"
    mine.write_text("profile: mine\nextends: base\nvotes: {rpc_polling_time_us: 500}\n", encoding="utf-8")
    assert [finding.rule for finding in lint([tmp_path], TODAY).findings] == ["NAME-1"]
    base.write_text("profile: base\nextends: burst\nsummary: Faster.\n", encoding="utf-8")
    assert [finding.rule for finding in lint([tmp_path], TODAY).findings] == []
    base.write_text("profile: base\nextends: balanced\nsummary: Slower.\n", encoding="utf-8")
    assert "RPC-6" in [finding.rule for finding in lint([tmp_path], TODAY).findings]


def test_a_finding_in_an_inherited_field_stands_where_the_file_extends(tmp_path: Path) -> None:
    """The place is ``extends`` if the base is not linted; if it is, the only finding is in the base."""
    write(tmp_path, base="profile: base\nextends: low_balanced\nvotes: {rpc_polling_time_us: 9}\n")
    write(tmp_path, mine="profile: mine\nextends: base\n")
    assert found(tmp_path, tmp_path / "mine.yaml") == ["mine.yaml:2:10 REV-2", "mine.yaml:2:10 RPC-6"]
    assert found(tmp_path) == ["base.yaml:3:30 REV-2", "base.yaml:3:30 RPC-6"]


def test_a_copy_of_the_shipped_folder_is_linted_by_itself(tmp_path: Path) -> None:
    """If a folder has a profile for every shipped name, these names mean its own files."""
    for name in SHIPPED_PROFILES:
        text = (shipped_folder() / f"{name}.yaml").read_text(encoding="utf-8")
        write(tmp_path, **{name: text})
    for name in (path.stem for path in (shipped_folder() / "states").glob("*.yaml")):
        text = (shipped_folder() / "states" / f"{name}.yaml").read_text(encoding="utf-8")
        write(tmp_path, **{f"states__{name}": text})
    assert found(tmp_path) == []
    relaxed = tmp_path / "states" / "relaxed.yaml"
    relaxed.write_text(relaxed.read_text(encoding="utf-8").replace("max: SVS}", "max: SVS2}"), encoding="utf-8")
    assert [line.split()[1] for line in found(tmp_path, tmp_path / "balanced.yaml")] == ["DCVS-2", "DCVS-2"]


def test_hidden_files_and_other_files_are_left_alone(tmp_path: Path) -> None:
    """YAML files of a folder and its subfolders are linted; hidden and other files are not."""
    (tmp_path / ".git").mkdir()
    for name in (".git/a.yaml", ".hidden.yaml", "notes.txt"):
        (tmp_path / name).write_text("x: [", encoding="utf-8")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.yml").write_text("x: [", encoding="utf-8")
    assert [line.split(":")[0] for line in found(tmp_path)] == ["below/a.yml"]
