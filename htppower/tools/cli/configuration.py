"""The settings of a project: ``htppower.toml``, or the table ``[tool.htppower]`` of ``pyproject.toml``."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import attrs

from htppower.errors import HtpPowerError, shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.paths import joined, relative_path
from htppower.profiles.regular_file import LARGEST_FILE_BYTES, read_regular_file
from htppower.tools.cli.commands import COMMANDS

OWN_FILE = "htppower.toml"
PROJECT_FILE = "pyproject.toml"
_TABLE = ("tool", "htppower")
# The TOML reader takes time and memory that grow with the square of the number of parts of a dotted key.
_MOST_PARTS = 100
_TEXT_OR_COMMENT = (
    r'''#[^\n]*|"""(?:[^\\]|\\[\s\S])*?(?:"""|\\?\Z)|"(?:[^"\\\n]|\\.)*"?'''
    r"""|'''[\s\S]*?(?:'''|\Z)|'[^'\n]*'?"""
)
_BETWEEN_KEYS = r"[=,{}\[\]\n]"
# The most characters of all texts of a list, since each file is compared with each pattern.
_LONGEST_LIST = 10_000


class ConfigurationError(HtpPowerError, ValueError):
    """A configuration file can't be read, or has a value that no command accepts."""


@attrs.frozen
class _Key:
    """A key of the file.

    Attributes:
        parameter: the parameter of the commands that accept it.
        commands: their names; None for every command.
        is_list: whether it is a list of texts; otherwise it is true or false.
    """

    parameter: str
    commands: tuple[str, ...] | None
    is_list: bool


KEYS = {
    "profiles": _Key("folders", None, is_list=True),
    "exclude": _Key("exclude", ("lint",), is_list=True),
    "strict": _Key("strict", ("lint",), is_list=False),
}


def default_map(folder: str) -> dict[str, dict[str, Any]]:
    """Return the defaults of the options of each command, in the form of click.

    The nearest configuration file counts, in the folder or above it. Its paths are relative to its folder.

    Raises:
        ConfigurationError: the file can't be read, or is wrong.
    """
    found = _find(folder)
    if found is None:
        return {}
    path, settings = found
    defaults: dict[str, dict[str, Any]] = {command: {} for command in COMMANDS}
    for name, value in settings.items():
        key = KEYS.get(name)
        if key is None:
            raise ConfigurationError(f"{path}: unknown key {_spelled(name)}: {did_you_mean(name, KEYS)}")
        for command in COMMANDS if key.commands is None else key.commands:
            defaults[command][key.parameter] = _checked(path, name, key, value)
    return defaults


def _find(folder: str) -> tuple[str, dict[str, Any]] | None:
    """Return the nearest configuration file with its settings."""
    while True:
        for name in (OWN_FILE, PROJECT_FILE):
            path = joined(folder, name)
            settings = _settings(path) if os.path.exists(path) else None
            if settings is not None:
                return path, settings
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _settings(path: str) -> dict[str, Any] | None:
    """Return the settings in a file; None if it is a project's file without settings for htppower."""
    try:
        data = read_regular_file(path)
        # Most projects have no such table, and reading TOML takes some ms.
        if path.endswith(PROJECT_FILE) and b"[tool.htppower" not in data:
            return None
        if len(data) > LARGEST_FILE_BYTES:
            raise ConfigurationError(f"{path}: is larger than {LARGEST_FILE_BYTES} bytes: make it smaller")
        table: Any = _toml(data.decode("utf-8"))
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"{path}: {getattr(error, 'strerror', None) or shortened(str(error))}") from None
    if path.endswith(OWN_FILE):
        return dict(table)
    for key in _TABLE:
        table = table.get(key) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: tool.htppower is not a table: write [tool.htppower]")
    return table


def _toml(text: str) -> dict[str, Any]:
    """Read TOML.

    Raises:
        ValueError: it is not TOML, and the message has the line; or it is nested too deeply.
    """
    bare = re.sub(_TEXT_OR_COMMENT, "", text)
    if any(key.count(".") >= _MOST_PARTS for key in re.split(_BETWEEN_KEYS, bare)):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts: make it shorter")
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - only if there is such a file
    else:
        import tomli as tomllib  # noqa: PLC0415
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply: make it flatter") from None
    return found


def _spelled(value: Any) -> str:
    """Return a value for a quotation in a message."""
    try:
        return shortened(repr(value))
    except (ValueError, RecursionError):
        return "too large to print"


def _checked(path: str, name: str, key: _Key, value: Any) -> Any:
    """Return the value of a key in the form of its option."""
    if not key.is_list:
        if isinstance(value, bool):
            return value
        raise ConfigurationError(f"{path}: {name} is {_spelled(value)}: write true or false")
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        said = _spelled(value)
        raise ConfigurationError(f'{path}: {name} is {said}: write a list of texts, such as {name} = ["mine"]')
    if sum(map(len, value)) > _LONGEST_LIST:
        raise ConfigurationError(f"{path}: {name} has more than {_LONGEST_LIST} characters: name less")
    if key.parameter != "folders":
        return value
    here = os.path.dirname(path)
    folders = [relative_path(joined(here, each)) for each in value]
    for said, folder in zip(value, folders, strict=True):
        if not os.path.isdir(folder):
            what = f"{_spelled(said)}, which is not a folder"
            raise ConfigurationError(f"{path}: {name} has {what}: make it, or correct the path")
    return folders
