"""Folders of profiles and power states, and what lint finds in them on a day."""

from __future__ import annotations

import datetime
import os
from typing import TYPE_CHECKING

from htppower.tools.review.lint.run import lint

if TYPE_CHECKING:
    from pathlib import Path

TODAY = datetime.date(2026, 11, 21)


def write(folder: Path, **files: str) -> Path:
    """Write profile files by their names, ``states__x`` into the folder of power states; return the folder."""
    (folder / "states").mkdir(exist_ok=True)
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.write_text(text, encoding="utf-8")
    return folder


def found(folder: Path, *paths: Path) -> list[str]:
    """Return file, line, column and rule of every finding."""
    report = lint(paths or [folder], TODAY)
    places = [str(finding.place).removeprefix(f"{folder}{os.sep}").replace(os.sep, "/") for finding in report.findings]
    return [f"{place} {finding.rule}" for place, finding in zip(places, report.findings, strict=True)]
