"""A profile that is exported and imported again is the same, except for the listed losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from support.any_profiles import profiles
from support.examples import examples

from htppower import load_profile
from htppower.profiles.fields import profile_fields, vote_fields
from htppower.profiles.loading import load_profile as load
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.rules import table as rules
from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.from_profile import from_profile
from htppower.tools.extensions.refusals import refusals
from htppower.tools.extensions.to_profiles import to_profiles

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile


def fields(profile: Profile) -> dict[KeyPath, Any]:
    """Return every field of a profile; fields of its power states have the name of their state in front."""
    found = {at: value for at, value in profile_fields(profile) if at not in NAMES}
    if profile.relax is not None:
        for at, state in zip(NAMES, (profile.relax.to, profile.relax.after_deinit_to), strict=True):
            found.update({(*at, *below[1:]): value for below, value in vote_fields(state.votes)})
    return found


NAMES = (("relax", "to"), ("relax", "after_deinit_to"))


def differing(one: Profile, other: Profile) -> set[KeyPath]:
    """Return the keys of the fields that differ between two profiles."""
    mine, theirs = fields(one), fields(other)
    return {at for at in {**mine, **theirs} if mine.get(at) != theirs.get(at)}


def round_trip(profile: Profile) -> Profile:
    """Return a profile after export and import; the vendor's parser must accept the exported file."""
    file = parse_extension_file(from_profile(profile).text(), "any.json")
    assert not refusals(file)
    (imported,) = to_profiles(file)
    assert not rules.errors(imported.profile.case())
    return imported.profile


def is_told(at: KeyPath, lost: set[KeyPath]) -> bool:
    """Return whether a loss covers a field, or the same field of an equal state that is named first."""
    twins = [at] if at[:2] != NAMES[1] else [at, (*NAMES[0], *at[2:])]
    return any(twin[: len(each)] == each for twin in twins for each in lost)


@examples(10)
@given(profiles())
def test_what_comes_back_differs_only_where_it_was_said(profile: Profile) -> None:
    """Each field that differs after the round trip is listed as a loss by the export."""
    lost = {each.field for each in from_profile(profile).lost}
    back = round_trip(profile)
    assert not {at for at in differing(profile, back) if not is_told(at, lost)}


@examples(10)
@given(profiles())
def test_a_second_trip_changes_nothing(profile: Profile) -> None:
    """After one round trip, the second one loses nothing."""
    back = round_trip(profile)
    assert not differing(back, round_trip(back))
    assert from_profile(back).lossless


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_shipped_profiles_come_back_as_they_were(name: str) -> None:
    """The export loses nothing, and the import only extends the shipped profile."""
    profile = load_profile(name)
    exported = from_profile(profile)
    assert exported.lossless
    (imported,) = to_profiles(parse_extension_file(exported.text(), "any.json"))
    assert (imported.profile.votes, imported.profile.relax) == (profile.votes, profile.relax)
    assert imported.base == profile
    assert "votes:" not in imported.texts()["any.yaml"]


@examples(10)
@given(profiles())
def test_the_files_of_an_import_load_to_the_profile(tmp_path_factory: pytest.TempPathFactory, profile: Profile) -> None:
    """The written YAML loads to the same votes, power states and times."""
    (imported,) = to_profiles(parse_extension_file(from_profile(profile).text(), "any.json"))
    folder: Path = tmp_path_factory.mktemp("imported")
    for path, text in imported.texts().items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    assert not differing(imported.profile, load(folder / "any.yaml"))
