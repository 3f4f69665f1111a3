"""``--sdk``: the profiles of the vendor's table in an older SDK, as far as they are known.

Such a table is a folder of records, like the records of runtimes' votes. So ``sdk-2.25:balanced`` is also a profile's
name.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from htppower.profiles.discovery import is_record, shipped_folder
from htppower.profiles.names import LLM_DECODE_PROFILES, RECORDS
from htppower.profiles.paths import joined
from htppower.tools.cli.help import WHAT, option

if TYPE_CHECKING:
    from htppower.tools.cli.help import Decorator

_PREFIX = "sdk-"
# The first SDK whose documentation has the present table (read in the documentation of 2.39).
_TODAYS = (2, 39)
_LLM_DECODE_SINCE = "2.48"


class _Sdk(click.ParamType):  # type: ignore[type-arg] # generic in newer versions only
    """A version of the SDK, as the name of its folder of records; None for the present table."""

    name = "VERSION"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str | None:
        """Return the folder's name, from a version such as ``2.25`` or ``2.25.1``."""
        found = re.fullmatch(r"(\d{1,9})\.(\d{1,9})(\.\d+)*", value)
        if found is None:
            self.fail(f"{value!r} is not a version of the SDK, such as 2.25", param, ctx)
        version = int(found[1]), int(found[2])
        if version >= _TODAYS:
            return None
        folders = os.listdir(joined(shipped_folder(), RECORDS))
        known = sorted(_version_of(folder) for folder in folders if folder.startswith(_PREFIX))
        table = next((each for each in known if version <= each), None)
        if table is None:
            last, today = (".".join(map(str, each)) for each in (known[-1], _TODAYS))
            self.fail(
                f"the table of SDK {value} is unknown: name a version up to {last}, or from {today} on",
                param,
                ctx,
            )
        return f"{_PREFIX}{table[0]}.{table[1]}"


def _version_of(folder: str) -> tuple[int, int]:
    major, _, minor = folder.removeprefix(_PREFIX).partition(".")
    return int(major), int(minor)


def sdk_option(command_help: str) -> Decorator:
    """Return ``--sdk`` as the parameter ``sdk``: the folder of records, or None."""
    return option("--sdk", type=_Sdk(), metavar="VERSION", group=WHAT, help=command_help)


def of_sdk(name: str, sdk: str | None) -> str:
    """Return the name of a profile from an SDK's table; without an SDK the name itself."""
    if sdk is None:
        return name
    if is_record(name) or "/" in name or name.endswith((".yaml", ".yml")):
        raise click.UsageError(f"{name!r} is not in the vendor's table; leave --sdk out, or name a profile from it")
    if name in LLM_DECODE_PROFILES:
        raise click.UsageError(f"{name} is new in SDK {_LLM_DECODE_SINCE}; leave --sdk out")
    return f"{sdk}:{name}"
