"""Events of Chrome's trace format, as dicts for JSON.

Source: "Trace Event Format", a document of the Chromium project. Perfetto reads the format, too.
"""

from __future__ import annotations

from typing import Any

# Larger than the process numbers of profilers, which count from 0 or 1, and larger than those on a small system.
PROCESS = 4_818_000


def event(kind: str, name: str, time_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return an event: ``B`` begins a slice, ``E`` ends it, ``X`` is a whole one, ``i`` an instant, ``C`` a counter."""
    return {"ph": kind, "name": name, "cat": "htppower", "ts": time_us, "pid": PROCESS, "tid": tid, "args": args}


def slice_of(name: str, begin_us: int, duration_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return a complete slice."""
    return {**event("X", name, begin_us, tid, args), "dur": duration_us}


def moment(name: str, time_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return an instant on one track."""
    return {**event("i", name, time_us, tid, args), "s": "t"}


def process(name: str) -> dict[str, Any]:
    """Return the name of the process."""
    return event("M", "process_name", 0, PROCESS, {"name": name})


def track(tid: int, name: str, place: int) -> list[dict[str, Any]]:
    """Return the name of a track, and its place among the tracks."""
    return [
        event("M", "thread_name", 0, tid, {"name": name}),
        event("M", "thread_sort_index", 0, tid, {"sort_index": place}),
    ]
