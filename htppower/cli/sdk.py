"""``--sdk``: the profiles as the vendor's table of an older SDK had them, as far as that is known.

Such a table is a folder of records, as those of what runtimes vote are: ``sdk-2.25:balanced`` is a profile's name too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from htppower.cli.help import WHAT, option
from htppower.profiles.discovery import RECORDS, is_record, shipped_folder

if TYPE_CHECKING:
    from htppower.cli.help import Decorator

_PREFIX = "sdk-"


class _Sdk(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A version of the SDK, as the name of its folder of records."""

    name = "VERSION"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the folder's name, from a version such as ``2.25`` or ``2.25.1``."""
        known = sorted(folder.name for folder in (shipped_folder() / RECORDS).glob(f"{_PREFIX}*"))
        folder = _PREFIX + ".".join(value.split(".")[:2])
        if value.startswith(_PREFIX):
            folder = value
        if folder not in known:
            versions = ", ".join(name.removeprefix(_PREFIX) for name in known)
            newer = "without --sdk the table is that of SDK 2.39 to 2.48"
            self.fail(f"no table of SDK {value} is known; known: {versions}; {newer}", param, ctx)
        return folder


def sdk_option(command_help: str) -> Decorator:
    """Return ``--sdk`` as the parameter ``sdk``: the folder of records, or None."""
    return option("--sdk", type=_Sdk(), metavar="VERSION", group=WHAT, help=command_help)


def of_sdk(name: str, sdk: str | None) -> str:
    """Return the name under which a profile of an SDK's table is found; without an SDK the name itself."""
    if sdk is None:
        return name
    if is_record(name) or "/" in name or name.endswith((".yaml", ".yml")):
        raise click.UsageError(f"{name!r} is no name in the vendor's table; leave --sdk out, or name one in it")
    return f"{sdk}:{name}"
