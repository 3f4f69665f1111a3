"""Hostile and mutated profiles are refused, or load."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.shipped import shipped_folder

from htppower import Profile, ProfileError, load_profile, profile_names
from htppower.profiles.regular_file import LARGEST_FILE_BYTES

SHIPPED = shipped_folder()


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


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw the text of a shipped profile with up to four slices deleted, doubled or replaced."""
    data = (SHIPPED / f"{draw(st.sampled_from(profile_names()))}.yaml").read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(start + 40, len(data))))
        piece = data[start:end]
        words = st.sampled_from((b"*a", b"&a ", b"!!int ", b"<<", b"\t", b"[", b"}", b"on", b"-1", b"\n", b"extends"))
        data = data[:start] + draw(st.just(b"") | st.just(piece * 2) | words | st.binary(max_size=8)) + data[end:]
    return data


@examples(90)
@given(mutated())
def test_a_mutated_profile_loads_or_is_refused(data: bytes) -> None:
    """A shipped profile with slices deleted, doubled or replaced loads or raises ProfileError."""
    assert isinstance(load_bytes(data), (Profile, ProfileError))


def test_a_profile_at_the_end_of_a_very_long_chain_never_breaks_the_interpreter(tmp_path: Path) -> None:
    """A chain of 1000 files that extend each other loads or is refused, like any other file."""
    for number in range(1000):
        base = "burst" if number == 0 else f"./link{number - 1}.yaml"
        (tmp_path / f"link{number}.yaml").write_text(f"profile: link{number}\nextends: {base}\n")
    assert load_or_refuse(tmp_path / "link999.yaml")
