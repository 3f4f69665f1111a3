"""``htppower show``: a resolved profile, with the origin of each value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from htppower.profiles.discovery import Folders, shown_path
from htppower.tools.cli import completion
from htppower.tools.cli.help import Command
from htppower.tools.cli.options import folders_option
from htppower.tools.cli.sdk import of_sdk, sdk_option
from htppower.tools.cli.terminal import echo

if TYPE_CHECKING:
    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile

_COMMENT_COLUMN = 40


@click.command(name="show", cls=Command, example="htppower show burst")
@click.argument("profile", metavar="NAME|PATH", shell_complete=completion.profiles_and_states)
@sdk_option("Show the profile from the vendor's table of this SDK, such as 2.25.")
@folders_option("Also look for profiles in this folder; may be repeated.")
def command(profile: str, sdk: str | None, folders: tuple[str, ...]) -> None:
    """Show a resolved profile or power state.

    The output is a complete file with the same values. Each inherited value has its origin next to it.
    """
    from htppower.profiles.loading import examine_power_state, load_profile  # noqa: PLC0415 - not needed for completion
    from htppower.profiles.yaml_text import state_text  # noqa: PLC0415
    from htppower.tools.review.file_kinds import Kind  # noqa: PLC0415
    from htppower.tools.review.file_selection import find_either  # noqa: PLC0415

    where = Folders.of(folders)
    path, kind = find_either(of_sdk(profile, sdk), where)
    if kind is Kind.STATE:
        echo(state_text(examine_power_state(path, where).accepted()))
        return
    echo(as_yaml(load_profile(path, folders)))


def as_yaml(profile: Profile) -> str:
    """Return a file that loads to the same profile."""
    from htppower.profiles.yaml_text import profile_lines  # noqa: PLC0415 - as above

    return "\n".join(_with_origin(profile, at, line) for at, line in profile_lines(profile))


def _with_origin(profile: Profile, at: KeyPath, line: str) -> str:
    """Add the origin of an inherited value, or that it is a default. The file's own values get no comment."""
    origin = profile.origins.get(at)
    if not at or not profile.origins or (origin is not None and origin.path == str(profile.source)):
        return line
    comment = "default" if origin is None else f"{shown_path(origin.path)}:{origin.line}"
    return f"{line:<{_COMMENT_COLUMN}}  # {comment}"
