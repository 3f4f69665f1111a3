"""The shipped profiles."""

from __future__ import annotations

from pathlib import Path

from htppower.profiles import discovery


def shipped_folder() -> Path:
    """Return their folder."""
    return Path(discovery.shipped_folder())
