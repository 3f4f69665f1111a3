"""Paths as texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower import PowerState, load_profile
from htppower.profiles.paths import folder_of, joined, stem_of
from htppower.votes.vote_set import VoteSet

# Two slashes at the beginning may mean something of their own to a system; to those here they mean one.
parts = (
    st.lists(st.sampled_from(["a", "b.yaml", ".", "..", ".c", "", "~"]), min_size=1)
    .map("/".join)
    .filter(lambda part: not part.startswith("//"))
)


@given(st.lists(parts, min_size=1, max_size=3))
def test_a_path_is_spelt_as_by_pathlib(parts: list[str]) -> None:
    """So a user's path is told alike wherever it is told."""
    assert joined(*parts) == str(Path(*parts))


@pytest.mark.parametrize("path", ["a", "a/b.yaml", "../b.c.yaml", "/a/b", "/", "a/.c"])
def test_a_folder_and_a_name_are_those_of_pathlib(path: str) -> None:
    """A file without a folder lies in the current one."""
    assert (folder_of(path), stem_of(path)) == (str(Path(path).parent), Path(path).stem)


def test_a_user_is_given_a_path(tmp_path: Path) -> None:
    """A profile and a power state tell of their file by a path, and show it so; what is built in code has none."""
    state = PowerState("mine", "", VoteSet(), source=tmp_path / "mine.yaml")
    assert state.source == tmp_path / "mine.yaml"
    assert repr(state).endswith(f"source={tmp_path / 'mine.yaml'!r})")
    assert isinstance(load_profile("burst").source, Path)
    assert PowerState("mine", "", VoteSet()).source is None
