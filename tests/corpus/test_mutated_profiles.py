"""Hostile and mutated profiles are refused, or load."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.mutated_files import mutated
from support.shipped import shipped_folder

from htppower import Profile, ProfileError, load_profile, profile_names
from htppower.profiles.regular_file import LARGEST_FILE_BYTES

PROFILES = [shipped_folder() / f"{name}.yaml" for name in profile_names()]
WORDS = (b"*a", b"&a ", b"!!int ", b"<<", b"\t", b"[", b"}", b"on", b"-1", b"\n", b"extends")


@pytest.mark.parametrize("text", ["[", "{", "- ", "? ", "&a ", "!a ", "profile: [", "'", "x: *x\n", " "])
def test_a_hostile_file_of_1_mib_is_refused(text: str, tmp_path: Path) -> None:
    """Any repetition up to the largest size is refused, without running out of stack."""
    file = tmp_path / "hostile.yaml"
    file.write_bytes(text.encode() * (LARGEST_FILE_BYTES // len(text)))
    with pytest.raises(ProfileError):
        load_profile(file)


def load_or_refuse(path: Path) -> Profile | ProfileError:
    """Return the profile, or the ProfileError that refuses it; any other error is raised."""
    try:
        return load_profile(path)
    except ProfileError as error:
        return error


def load_bytes(data: bytes) -> Profile | ProfileError:
    """Return the result for a file of these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "any.yaml")
        file.write_bytes(data)
        return load_or_refuse(file)


@examples(90)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    """Random bytes raise ProfileError, and no other error."""
    assert isinstance(load_bytes(data), ProfileError)


@examples(90)
@given(mutated(PROFILES, WORDS))
def test_a_mutated_profile_loads_or_is_refused(data: bytes) -> None:
    """A shipped profile with slices deleted, doubled or replaced loads or raises ProfileError."""
    assert isinstance(load_bytes(data), (Profile, ProfileError))


def test_a_profile_at_the_end_of_a_very_long_chain_never_breaks_the_interpreter(tmp_path: Path) -> None:
    """A chain of 1000 files that extend each other loads or is refused, like any other file."""
    for number in range(1000):
        base = "burst" if number == 0 else f"./link{number - 1}.yaml"
        (tmp_path / f"link{number}.yaml").write_text(f"profile: link{number}\nextends: {base}\n")
    assert load_or_refuse(tmp_path / "link999.yaml")
