"""``htppower show``: a resolved profile, with the origin of each value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from htppower.cli.completion import values as completion
from htppower.cli.help import Command
from htppower.cli.options import folders_option
from htppower.cli.sdk import of_sdk, sdk_option
from htppower.cli.terminal import echo
from htppower.profiles.discovery import Folders, own_name, shown_path
from htppower.profiles.fields import profile_fields, spell, vote_fields
from htppower.profiles.loading import examine_power_state, load_profile
from htppower.review.file_selection import Kind, find_either

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import PowerState, Profile

_COMMENT_COLUMN = 40
_INDENT = "  "


@click.command(name="show", cls=Command, example="htppower show burst")
@click.argument("profile", metavar="NAME|PATH", shell_complete=completion.profiles_and_states)
@sdk_option("Show the profile as the vendor's table of this SDK had it, such as 2.25.")
@folders_option("Look for profiles in this folder, too; may be repeated.")
def command(profile: str, sdk: str | None, folders: tuple[str, ...]) -> None:
    """Show a profile or power state as it is resolved.

    What is printed is a complete file with the same values; each inherited value has its origin beside it.
    """
    where = Folders.of(folders)
    path, kind = find_either(of_sdk(profile, sdk), where)
    if kind is Kind.STATE:
        echo(state_as_yaml(examine_power_state(path, where).accepted()))
        return
    echo(as_yaml(load_profile(path, folders)))


def state_as_yaml(state: PowerState) -> str:
    """Return a file that loads to the same power state."""
    votes = (line for _, line in _field_lines(vote_fields(state.votes)))
    return "\n".join((f"state: {state.name}", f"summary: {_quoted(state.summary)}", *votes))


def as_yaml(profile: Profile) -> str:
    """Return a file that loads to the same profile."""
    head = (
        (("profile",), f"profile: {own_name(profile.name)}"),
        (("summary",), f"summary: {_quoted(profile.summary)}"),
    )
    lines = (*head, *_provenance_lines(profile), *_field_lines(profile_fields(profile)))
    return "\n".join(_with_origin(profile, at, line) for at, line in lines)


def _provenance_lines(profile: Profile) -> Iterator[tuple[KeyPath, str]]:
    """Yield where the values of a record are from."""
    known = profile.provenance
    if known is not None:
        yield (), "provenance:"
        yield from (((), f"{_INDENT}{name}: {_quoted(getattr(known, name))}") for name in ("how", "of", "source"))


def _field_lines(fields: Iterable[tuple[KeyPath, Any]]) -> Iterator[tuple[KeyPath, str]]:
    """Yield a line for every field, and before it one for every mapping that begins there."""
    begun: KeyPath = ()
    for at, value in fields:
        for depth in range(1, len(at)):
            if at[:depth] != begun[:depth]:
                yield (), f"{_INDENT * (depth - 1)}{at[depth - 1]}:"
        begun = at
        yield at, f"{_INDENT * (len(at) - 1)}{at[-1]}: {spell(value)}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _with_origin(profile: Profile, at: KeyPath, line: str) -> str:
    """Add the origin of an inherited value, or that it is a default; the file's own values get no comment."""
    origin = profile.origins.get(at)
    if not at or not profile.origins or (origin is not None and origin.path == str(profile.source)):
        return line
    comment = "default" if origin is None else f"{shown_path(origin.path)}:{origin.line}"
    return f"{line:<{_COMMENT_COLUMN}}  # {comment}"
