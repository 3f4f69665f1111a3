"""Events of Chrome's trace format, as dicts that are written as JSON.

Source: "Trace Event Format", the document of the Chromium project that Perfetto reads, too.
"""

from __future__ import annotations

from typing import Any

# Not a number that a profiler numbers its processes with from 0 or 1 on, nor one of a small system's processes.
PROCESS = 4_818_000


def event(kind: str, name: str, time_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return an event: ``B`` and ``E`` begin and end a slice, ``X`` is a whole one, ``i`` a moment, ``C`` a counter."""
    return {"ph": kind, "name": name, "cat": "htppower", "ts": time_us, "pid": PROCESS, "tid": tid, "args": args}


def slice_of(name: str, begin_us: int, duration_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return a slice whose end is known."""
    return {**event("X", name, begin_us, tid, args), "dur": duration_us}


def moment(name: str, time_us: int, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return a moment on one track."""
    return {**event("i", name, time_us, tid, args), "s": "t"}


def meta(kind: str, tid: int, args: dict[str, Any]) -> dict[str, Any]:
    """Return what is told of a track or of the process, such as its ``thread_name``."""
    return event("M", kind, 0, tid, args)


def named(kind: str, tid: int, name: str) -> dict[str, Any]:
    """Return the name of a track or of the process."""
    return meta(kind, tid, {"name": name})
