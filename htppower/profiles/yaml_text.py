"""Writes profiles and power states as texts of files that load to the same values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import printable
from htppower.profiles.fields import LEFT_OUT, profile_fields, spell, vote_fields
from htppower.profiles.names import LISTED_FIRST, own_name
from htppower.profiles.yaml_words import read_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath, Place
    from htppower.profiles.profile import PowerState, Profile

_INDENT = "  "
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_NAME = 60


@attrs.frozen
class ProfileFiles:
    """A profile and its power states as files to be written.

    Attributes:
        name: the profile's name.
        text: the content of its file.
        states: the contents of the files of its power states, by name.
        place: the place of the source that it was made from; None if the file contains it.
    """

    name: str
    text: str
    states: dict[str, str] = attrs.field(factory=dict, hash=False)
    place: Place | None = None

    def texts(self) -> dict[str, str]:
        """Return the contents by path below the profile folder: first the profile, then its power states."""
        return {f"{self.name}.yaml": self.text, **{f"states/{name}.yaml": text for name, text in self.states.items()}}


def profile_name(text: str) -> str:
    """Turn a text, such as a file name, into a profile name that is not a shipped one.

    YAML must read the name as a word: ``profile_`` is put before a name that YAML reads as a number or truth value.
    """
    name = _NOT_IN_A_NAME.sub("_", text)[:_LONGEST_NAME].strip("_.-") or "imported"
    if name in LISTED_FIRST:
        return f"{name}_imported"
    return name if read_word(name) == name else f"profile_{name}"


def comment(text: str) -> str:
    """Return any text as a one-line comment."""
    return f"# {printable(text)}"


def profile_lines(profile: Profile, base: Profile | None = None) -> Iterator[tuple[KeyPath, str]]:
    """Yield the lines of a profile's file, each with the keys of the value that it states; for a heading, no keys.

    With a ``base``, the file extends it by name, and states only the differences.
    """
    yield ("profile",), f"profile: {own_name(profile.name)}"
    if base is not None:
        yield (), f"extends: {base.name}"
    yield ("summary",), f"summary: {quoted(profile.summary)}"
    yield from _provenance_lines(profile)
    known = {} if base is None else dict(profile_fields(base))
    own = dict(profile_fields(profile))
    stated = [(at, value) for at, value in own.items() if at not in known or known[at] != value]
    # Fields of the base that this profile lacks are reset.
    stated += [(at, said) for at, said in LEFT_OUT.items() if _says(known, at) and not _says(own, at)]
    yield from field_lines(stated)


def _says(fields: Iterable[KeyPath], at: KeyPath) -> bool:
    return any(each[: len(at)] == at for each in fields)


def _provenance_lines(profile: Profile) -> Iterator[tuple[KeyPath, str]]:
    """Yield the source of the values of a record."""
    known = profile.provenance
    if known is not None:
        yield (), "provenance:"
        yield from (((), f"{_INDENT}{name}: {quoted(getattr(known, name))}") for name in ("how", "of", "source"))


def state_text(state: PowerState) -> str:
    """Return the text of a power state's file."""
    votes = (line for _, line in field_lines(vote_fields(state.votes)))
    return "\n".join((f"state: {state.name}", f"summary: {quoted(state.summary)}", *votes))


def field_lines(fields: Iterable[tuple[KeyPath, Any]]) -> Iterator[tuple[KeyPath, str]]:
    """Yield a line for every field, and a heading line for every mapping that begins there."""
    begun: KeyPath = ()
    for at, value in fields:
        for depth in range(1, len(at)):
            if at[:depth] != begun[:depth]:
                yield (), f"{_INDENT * (depth - 1)}{at[depth - 1]}:"
        begun = at
        yield at, f"{_INDENT * (len(at) - 1)}{at[-1]}: {spell(value)}"


def quoted(text: str) -> str:
    """Return a text in double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
