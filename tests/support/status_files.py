"""The content of a status file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> dict[str, Any]:
    """Return the content of a file."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
    return document
