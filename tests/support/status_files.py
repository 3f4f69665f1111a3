"""The folder of status files in tests, and the content of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from htppower.control.status.runtime_folder import runtime_folders

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def serve_below(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make a runtime folder for this process, and return the folder in it where statuses are served by default."""
    folder.mkdir(mode=0o700)
    for name in ("XDG_RUNTIME_DIR", "LOCALAPPDATA"):
        patch.setenv(name, str(folder))
    return runtime_folders()[0]


def read(path: Path) -> dict[str, Any]:
    """Return the content of a file."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="ascii"))
    return document
