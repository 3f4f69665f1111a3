"""The events of a recording."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def events(path: Path) -> list[dict[str, Any]]:
    """Return the events in a file: the first line is a bracket, and each other line is a whole event."""
    text = path.read_text(encoding="ascii")
    assert text.endswith(",\n")
    bracket, *made = text.splitlines()
    assert bracket == "["
    assert json.loads(f"[{''.join(made)[:-1]}]") == [json.loads(line[:-1]) for line in made]
    return [json.loads(line[:-1]) for line in made]


def inferences(path: Path) -> list[tuple[int, int, int]]:
    """Return the session, begin and end of each inference in a file."""
    made = [event for event in events(path) if event["name"] == "inference"]
    return [(event["tid"], event["ts"], event["ts"] + event["dur"]) for event in made]


def lost(path: Path) -> int:
    """Return how many inferences are lost by a file's own count."""
    return sum(event["args"]["inferences"] for event in events(path) if event["name"] == "lost")
