"""Counts in words."""

from __future__ import annotations


def counted(count: int, word: str) -> str:
    """Return a count with its word: ``1 inference``, ``12,000 inferences``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
