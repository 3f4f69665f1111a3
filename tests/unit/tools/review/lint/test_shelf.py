"""Lint compares a profile with the others of its vendor's table, and reads no more files."""

from __future__ import annotations

import datetime
import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from support.shipped import shipped_folder

from htppower import load_profile
from htppower.profiles.loading import examine_profile
from htppower.profiles.names import LLM_DECODE_PROFILES, SHIPPED_PROFILES
from htppower.profiles.paths import stem_of
from htppower.tools.review.lint.review_rules import table_of
from htppower.tools.review.lint.run import lint

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.profiles.discovery import Folders
    from htppower.profiles.loading import Known
    from htppower.tools.review.lint.run import LintReport

TODAY = datetime.date(2026, 11, 1)
TABLES = (SHIPPED_PROFILES, LLM_DECODE_PROFILES)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that lint examines."""
    names = []

    def noting(path: str, folders: Folders, known: Known) -> object:
        names.append(stem_of(path))
        return examine_profile(path, folders, known)

    monkeypatch.setattr("htppower.tools.review.lint.profile_findings.examine_profile", noting)
    return names


@pytest.mark.parametrize("table", TABLES)
def test_a_shipped_profile_is_of_the_table_with_its_name(table: tuple[str, ...]) -> None:
    """The name of a shipped profile shows which table it belongs to, so its file is not read."""
    for name in table:
        profile = load_profile(name)
        assert profile.name == name
        assert table_of(profile) == table


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("spelt", ["as it is", "from here"])
def test_of_the_shipped_profiles_only_those_of_the_table_are_read(
    read: list[str], table: tuple[str, ...], spelt: str
) -> None:
    """Each file is read once, under any spelling of the folder."""
    file = shipped_folder() / f"{table[1]}.yaml"
    lint([file if spelt == "as it is" else os.path.relpath(file)], TODAY)
    assert sorted(read) == sorted(table)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the shipped folder, used instead of it."""
    return shutil.copytree(shipped_folder(), tmp_path / "copied")


@pytest.fixture
def third(tmp_path: Path) -> Path:
    """A profile of the user with the values of the shipped balanced."""
    file = tmp_path / "third.yaml"
    file.write_text((shipped_folder() / "balanced.yaml").read_text().replace("profile: balanced", "profile: third"))
    return file


def _messages(report: LintReport, rule: str) -> list[str]:
    return [finding.message for finding in report.findings if finding.rule == rule]


def test_of_a_copy_of_the_shipped_folder_only_the_table_is_read(read: list[str], copied: Path) -> None:
    """Neither the profiles of the other table are read, nor the shipped profiles that the copy hides."""
    lint([copied / "burst.yaml"], TODAY)
    assert sorted(read) == sorted(SHIPPED_PROFILES)


def test_a_hidden_shipped_profile_is_not_seen_beside_a_copy(copied: Path) -> None:
    """A field that no profile of the copy states may stay unset."""
    for file in copied.glob("*.yaml"):
        unset, count = re.subn(r"(rpc_control_latency_us): \d+", r"\1: unset", file.read_text())
        assert count or file.stem == "system_settings"
        file.write_text(unset)
    report = lint([copied / "burst.yaml"], TODAY)
    assert not _messages(report, "REV-1")


def test_a_shipped_profile_stands_in_for_a_file_that_is_refused(copied: Path) -> None:
    """If the copy's profile is invalid, REV-2 compares with the shipped one."""
    other = copied / "high_performance.yaml"
    other.write_text(other.read_text() + "votes: [\n")
    linted = copied / "balanced.yaml"
    linted.write_text(re.sub(r"(?m)^    core: \w+$", "    core: TURBO_PLUS", linted.read_text()))
    report = lint([linted], TODAY)
    told = _messages(report, "REV-2")
    assert any("of high_performance, which is above" in message for message in told), told


@pytest.mark.parametrize(
    "begin", ['summary: "As\nprofile: llm_decode_burst\n, for vision."\nprofile: mine\n', "# mine\n\nprofile: mine\n"]
)
def test_a_profile_is_seen_that_only_seems_to_be_of_the_other_table(tmp_path: Path, third: Path, begin: str) -> None:
    """A line inside a text that looks like a name is not a name."""
    (tmp_path / "mine.yaml").write_text(f"{begin}extends: balanced\nvotes:\n  hmx_timeout_us: 1000\n")
    told = _messages(lint([third], TODAY), "REV-1")
    assert told == ["third leaves hmx_timeout_us unset, which mine states"]


def test_what_is_read_in_the_place_of_a_file_says_its_name(tmp_path: Path, third: Path) -> None:
    """The name comes from the given text, and not from the file."""
    mine = tmp_path / "mine.yaml"
    mine.write_text("profile: llm_decode_burst\n")
    text = b"profile: mine\nextends: balanced\nvotes:\n  hmx_timeout_us: 1000\n"
    told = _messages(lint([third], TODAY, texts={str(mine): text}), "REV-1")
    assert told == ["third leaves hmx_timeout_us unset, which mine states"]


def test_a_profile_that_extends_one_of_the_other_table_is_seen_beside_it(read: list[str], copied: Path) -> None:
    """The profile's own name does not matter."""
    other = copied / "balanced.yaml"
    other.write_text("profile: balanced\nextends: llm_decode_balanced\nvotes:\n  hmx_timeout_us: 1000\n")
    report = lint([copied / "llm_decode_burst.yaml"], TODAY)
    assert "balanced" in read
    told = _messages(report, "REV-1")
    assert told == ["llm_decode_burst leaves hmx_timeout_us unset, which balanced states"]


def test_of_a_folder_of_ones_own_every_profile_is_read(read: list[str], tmp_path: Path) -> None:
    """A user's file may hold any profile under any name, so all are read."""
    for name in ("balanced", "llm_decode_power_saver"):
        shutil.copy(shipped_folder() / f"{name}.yaml", tmp_path)
    other = tmp_path / "llm_decode_power_saver.yaml"
    other.write_text(other.read_text().replace("profile: llm_decode_power_saver", "profile: mine"))
    other.write_text(other.read_text().replace("  hmx_timeout_us: unset", "  hmx_timeout_us: 1000"))
    report = lint([tmp_path / "balanced.yaml"], TODAY)
    assert sorted(read) == sorted([*SHIPPED_PROFILES, "balanced", "llm_decode_power_saver"])
    told = _messages(report, "REV-1")
    assert told == ["balanced leaves hmx_timeout_us unset, which mine states"]
