"""Paths as texts."""

from __future__ import annotations

import ntpath
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower import PowerState, ProfileError, load_profile
from htppower.profiles import paths
from htppower.profiles.paths import folder_of, joined, stem_of
from htppower.votes.vote_set import VoteSet

# Two slashes at the beginning may have a meaning of their own on some systems; on these they equal one slash.
parts = (
    st.lists(st.sampled_from(["a", "b.yaml", ".", "..", ".c", "", "~"]), min_size=1)
    .map("/".join)
    .filter(lambda part: not part.startswith("//"))
)


@given(st.lists(parts, min_size=1, max_size=3))
def test_a_path_is_spelt_as_by_pathlib(parts: list[str]) -> None:
    """A joined path equals pathlib's text, so a path looks the same everywhere."""
    assert joined(*parts) == str(Path(*parts))


@pytest.mark.parametrize("path", ["a", "a/b.yaml", "../b.c.yaml", "/a/b", "/", "a/.c"])
def test_a_folder_and_a_name_are_those_of_pathlib(path: str) -> None:
    """Folder and name equal pathlib's; a name without a folder is in the current one."""
    assert (folder_of(path), stem_of(path)) == (str(Path(path).parent), Path(path).stem)


def test_a_user_is_given_a_path(tmp_path: Path) -> None:
    """A profile and a power state show the path of their file; if made in code, they have no path."""
    state = PowerState("mine", "", VoteSet(), source=tmp_path / "mine.yaml")
    assert state.source == tmp_path / "mine.yaml"
    assert repr(state).endswith(f"source={tmp_path / 'mine.yaml'!r})")
    assert isinstance(load_profile("burst").source, Path)
    assert PowerState("mine", "", VoteSet()).source is None


def test_a_file_on_another_drive_is_outside_of_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no path from one drive to another, so the absolute path is shown."""
    monkeypatch.setattr(paths, "os", SimpleNamespace(path=ntpath, curdir=".", pardir="..", sep="\\"))
    assert paths.path_below("D:\\repo\\mine.yaml", "C:\\work") is None
    assert paths.relative_path("D:\\repo\\mine.yaml", "C:\\work") == "D:\\repo\\mine.yaml"
    assert paths.path_below("C:\\work\\mine.yaml", "C:\\work") == "mine.yaml"


@pytest.mark.parametrize(
    ("path", "below"), [("a/b", "b"), ("a", "."), ("b", None), ("ab", None), ("a/..b", "..b"), ("..", None)]
)
def test_what_is_below_a_folder(path: str, below: str | None) -> None:
    """A file in a folder is below it, even if its name begins with dots; a folder is below itself."""
    assert paths.path_below(f"/top/{path}", "/top/a") == below


def test_a_path_of_windows_is_named_as_it_was_written(tmp_path: Path) -> None:
    """The backslashes of a path that a profile extends are not doubled."""
    mine = tmp_path / "mine.yaml"
    mine.write_text("profile: mine\nextends: 'C:\\power\\base.yaml'\n", encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        load_profile(mine)
    assert "'C:\\power\\base.yaml'" in str(caught.value)
