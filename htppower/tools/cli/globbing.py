"""Patterns in PATH arguments: shells on POSIX replace them by files, and those on Windows leave them to the command."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

# Whether the shell leaves patterns to the command.
LEFT_TO_US = os.name == "nt"


def expanded(_ctx: click.Context | None, _parameter: click.Parameter | None, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths of an argument, with each pattern on Windows replaced by the files that match, sorted.

    As in a shell on POSIX, a pattern that matches nothing stays, and so does the path of a file that is there.
    """
    if not LEFT_TO_US:
        return paths
    return tuple(found for path in paths for found in _matching(path))


def _matching(path: str) -> list[str]:
    is_pattern = glob.has_magic(path) and not os.path.lexists(path)
    return (sorted(glob.glob(path)) if is_pattern else []) or [path]
