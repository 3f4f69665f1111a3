"""Paths as texts: internally paths are texts; a user gets a ``Path``, created on request.

Importing pathlib alone takes an eighth of the time that ``htppower list`` may take in addition to its libraries.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The suffixes of templates.
TEMPLATES = (".template", ".tmpl", ".tpl", ".in", ".j2", ".jinja", ".jinja2", ".mustache", ".hbs", ".erb")


def joined(*parts: str | os.PathLike[str]) -> str:
    """Return a path joined from parts, in the spelling of ``Path``; ``..`` stays, since a link may come before it."""
    drive, rest = os.path.splitdrive(os.path.join(*parts).replace(os.altsep or os.sep, os.sep))
    root = os.sep if rest.startswith(os.sep) else ""
    inner = os.sep.join(part for part in rest.split(os.sep) if part not in {"", os.curdir})
    return f"{drive}{root}{inner}" or os.curdir


def text_of(path: str | os.PathLike[str] | None) -> str | None:
    """Return a user's path as a text, or None."""
    return None if path is None else joined(path)


def path_of(text: str | None) -> Path | None:
    """Return a text as a ``Path`` for a user, or None."""
    from pathlib import Path  # noqa: PLC0415 - see the top of this file

    return None if text is None else Path(text)


def folder_of(path: str) -> str:
    """Return the folder of a file."""
    return os.path.dirname(path) or os.curdir


def stem_of(path: str) -> str:
    """Return the name of a file without its suffix."""
    return os.path.splitext(os.path.basename(path))[0]
