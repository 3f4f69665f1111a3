"""Writes extension files, and returns the findings of lint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def linted(command: Command, path: Path, *options: str) -> list[dict[str, Any]]:
    """Return the findings in a path."""
    findings: list[dict[str, Any]] = json.loads(command.run("lint", str(path), "--format", "json", *options).stdout)[
        "findings"
    ]
    return findings


def written(path: Path, data: Any) -> Path:
    """Write a file of this JSON, and return its path."""
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path
