"""Paths as texts: inside they are texts, and what a user is given is a ``Path``, made when it is asked for.

Importing pathlib alone is an eighth of what ``htppower list`` may take beyond its libraries.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# How the names of templates end.
TEMPLATES = (".template", ".tmpl", ".tpl", ".in", ".j2", ".jinja", ".jinja2", ".mustache", ".hbs", ".erb")


def joined(*parts: str | os.PathLike[str]) -> str:
    """Return a path of parts, spelt as ``Path`` spells it: ``..`` stays, since a link may stand before it."""
    drive, rest = os.path.splitdrive(os.path.join(*parts).replace(os.altsep or os.sep, os.sep))
    root = os.sep if rest.startswith(os.sep) else ""
    inner = os.sep.join(part for part in rest.split(os.sep) if part not in {"", os.curdir})
    return f"{drive}{root}{inner}" or os.curdir


def text_of(path: str | os.PathLike[str] | None) -> str | None:
    """Return a path that a user gives, if any."""
    return None if path is None else joined(path)


def path_of(text: str | None) -> Path | None:
    """Return a path for a user."""
    from pathlib import Path  # noqa: PLC0415 - what is said above

    return None if text is None else Path(text)


def folder_of(path: str) -> str:
    """Return the folder of a file."""
    return os.path.dirname(path) or os.curdir


def stem_of(path: str) -> str:
    """Return the name of a file without its suffix."""
    return os.path.splitext(os.path.basename(path))[0]
