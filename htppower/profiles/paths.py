"""Paths as texts, in the spelling of ``Path``: the files of findings are texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

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
