"""Patterns in PATH arguments: shells on POSIX replace them by files, and those on Windows leave them to the command."""

from __future__ import annotations

import glob
import os

import click

# Whether the shell leaves patterns to the command.
LEFT_TO_US = os.name == "nt"


def expanded(_ctx: click.Context | None, _parameter: click.Parameter | None, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths of an argument, with each pattern on Windows replaced by the files that match, sorted.

    The path of a file that is there stays, and so does ``REVISION:PATH``.

    Raises:
        BadParameter: no file matches a pattern.
    """
    if not LEFT_TO_US:
        return paths
    return tuple(found for path in paths for found in _matching(path))


def _matching(path: str) -> list[str]:
    if not glob.has_magic(path) or os.path.lexists(path) or ":" in os.path.splitdrive(path)[1]:
        return [path]
    if not (found := sorted(glob.glob(path))):
        raise click.BadParameter(f"no file matches {path}")
    return found
