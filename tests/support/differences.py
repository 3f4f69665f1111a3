"""Folders of profiles that a test writes, and the differences between two of them."""

from __future__ import annotations

from pathlib import Path

from htppower.tools.review.diff.compare import Comparison, compare
from htppower.tools.review.diff.sides import here, read_side


def write(folder: Path, **files: str) -> Path:
    """Write profile files by their names, ``__`` for a slash; return the folder."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def differ(old: Path | str, new: Path | str) -> Comparison:
    """Return the differences."""
    tree = here()
    sides = [(read_side([side], tree), tree) for side in (old, new)]
    return compare((str(old), str(new)), *sides, files=not Path(old).is_dir())
