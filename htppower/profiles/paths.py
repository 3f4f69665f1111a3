"""Paths as texts, in the spelling of ``Path``: the files of findings are texts."""

from __future__ import annotations

import os
from pathlib import Path

# The suffixes of templates.
TEMPLATES = (".template", ".tmpl", ".tpl", ".in", ".j2", ".jinja", ".jinja2", ".mustache", ".hbs", ".erb")


def joined(*parts: str | os.PathLike[str]) -> str:
    """Return a path joined from parts; ``..`` stays, since a link may come before it."""
    return str(Path(*parts))


def folder_of(path: str) -> str:
    """Return the folder of a file."""
    return str(Path(path).parent)


def stem_of(path: str) -> str:
    """Return the name of a file without its suffix."""
    return Path(path).stem


def relative_path(path: str | os.PathLike[str], start: str | os.PathLike[str] = os.curdir) -> str:
    """Return a path as seen from a folder; the absolute path if Windows has the two on different drives."""
    try:
        return os.path.relpath(path, start)
    except ValueError:
        return os.path.abspath(path)


def path_below(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> str | None:
    """Return a path as seen from a folder that it is in; None if it is outside."""
    relative = relative_path(path, folder)
    outside = relative == os.pardir or relative.startswith(f"{os.pardir}{os.sep}") or os.path.isabs(relative)
    return None if outside else relative
