"""``htppower show``: a profile as it is resolved, with where each value comes from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from htppower.cli import FOLDER
from htppower.errors import ProfileError
from htppower.files import shipped_folder
from htppower.profiles import PowerState, Profile, find_power_state, load_profile
from htppower.votes import HMX_DEFAULT, SEND_ORDER, DcvsV3, HmxV2, VoltageRange, VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.cases import Path

_COMMENT_COLUMN = 40


@click.command(name="show")
@click.argument("profile", metavar="NAME|PATH")
@click.option("--profiles", "folders", multiple=True, type=FOLDER, metavar="DIR", help="Look for profiles here, too.")
def command(profile: str, folders: tuple[str, ...]) -> None:
    """Show a profile as it is resolved: a complete profile file, each inherited value with its origin.

    The name of a power state shows that.
    """
    try:
        shown = as_yaml(load_profile(profile, folders))
    except ProfileError as error:
        if error.rule != "NAME-1" or error.path != profile:
            raise
        try:
            shown = state_as_yaml(find_power_state(profile, folders))
        except ProfileError:
            raise error from None
    click.echo(shown)


def state_as_yaml(state: PowerState) -> str:
    """Return a power state as a file that loads to the same values."""
    lines = [f"state: {state.name}", f"summary: {_quoted(state.summary)}", *(line for _, line in _votes(state.votes))]
    return "\n".join(lines)


def as_yaml(profile: Profile) -> str:
    """Return the profile as a file that loads to the same values."""
    return "\n".join(_with_origin(profile, at, line) for at, line in _lines(profile))


def _lines(profile: Profile) -> Iterator[tuple[Path, str]]:
    yield ("profile",), f"profile: {profile.name}"
    yield ("summary",), f"summary: {_quoted(profile.summary)}"
    yield from _votes(profile.votes)
    if profile.relax is None:
        yield ("relax",), "relax: unset"
        return
    yield (), "relax:"
    yield ("relax", "to"), f"  to: {profile.relax.to.name}"
    for name in ("after_init_us", "after_inference_us"):
        yield ("relax", name), f"  {name}: {getattr(profile.relax, name)}"


def _votes(votes: VoteSet) -> Iterator[tuple[Path, str]]:
    if not votes:
        yield ("votes",), "votes: unset"
        return
    yield (), "votes:"
    for name in SEND_ORDER.values():
        yield from _vote(name, getattr(votes, name))


def _vote(name: str, vote: object) -> Iterator[tuple[Path, str]]:
    at = ("votes", name)
    if isinstance(vote, DcvsV3):
        yield (), f"  {name}:"
        for field in ("dcvs_enable", "power_mode", "sleep_latency_us", "sleep_disable", "bus", "core"):
            yield (*at, field), f"    {field}: {_value(getattr(vote, field))}"
    else:
        yield at, f"  {name}: {_value(vote)}"


def _value(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value == HMX_DEFAULT:
        return "default"
    if isinstance(value, VoltageRange) and value.min == value.target == value.max:
        return value.target.name
    if isinstance(value, (VoltageRange, HmxV2)):
        mode = f", perf_mode: {value.perf_mode.name}" if isinstance(value, HmxV2) else ""
        return f"{{min: {value.min.name}, target: {value.target.name}, max: {value.max.name}{mode}}}"
    return str(getattr(value, "name", value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _with_origin(profile: Profile, at: Path, line: str) -> str:
    """Add where an inherited value was written; the file's own values need no comment."""
    origin = profile.origins.get(at)
    if not at or origin is None or origin.path == str(profile.source):
        return line
    shipped = f"{shipped_folder()}{os.sep}"
    path = f"shipped {origin.path.removeprefix(shipped)}" if origin.path.startswith(shipped) else origin.path
    return f"{line:<{_COMMENT_COLUMN}}  # {path}:{origin.line}"
