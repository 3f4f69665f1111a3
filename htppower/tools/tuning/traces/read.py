"""Reads a trace file of any known kind."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from htppower.errors import TraceError
from htppower.tools.readers.kinds import begins_as_json, is_of_profiler, is_own, other_file
from htppower.tools.tuning.traces.collected import named_apart
from htppower.tools.tuning.traces.readers import chrome, csv_rows, loadgen, onnxruntime, own
from htppower.tools.tuning.traces.readers.source import opened
from htppower.tools.tuning.traces.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.tuning.traces.clocks import ClockTrace
    from htppower.tools.tuning.traces.collected import Inferences
    from htppower.tools.tuning.traces.readers.source import Source

# The kinds of files, as ``--format`` names them.
FORMATS = ("htppower", "loadgen", "onnxruntime", "chrome", "csv")
UNITS = tuple(csv_rows.UNITS)
# The order matters: the first kinds have the strictest tests.
_RECOGNISED = {
    "htppower": is_own,
    "loadgen": loadgen.is_loadgen,
    "onnxruntime": onnxruntime.is_onnxruntime,
    "chrome": chrome.is_chrome,
}
_HINT = "htppower trace --help lists the formats; files of QNN profilers are for htppower advise"


def read_trace(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as the option is called
    name: str | None = None,
    unit: str | None = None,
    stream: IO[bytes] | None = None,
    within: str | os.PathLike[str] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Trace:
    """Return the trace in a file.

    The kind of file is recognised by its content. The file may be packed with gzip, or split into parts (``.jsonaa``,
    ``.jsonab``); then ``path`` may be any of the parts. The older files of a recording of htppower (``.1``, ``.2``) are
    read as well.

    Args:
        path: the file.
        format: ``htppower``, ``loadgen``, ``onnxruntime``, ``chrome`` or ``csv``; None recognises it by the content.
        name: only for Chrome's trace events: the name or the category of the events that are inferences.
        unit: only for CSV: the unit of times whose column does not state it: ``s``, ``ms``, ``us`` or ``ns``.
        stream: is read instead of the file; the path is then only used in messages.
        within: the folder that was searched for the file; no link may lead out of it. None: the user gave the path.
        progress: is called with the number of bytes after each read, before unpacking.

    Raises:
        TraceError: the file can't be read, is of an unknown kind, has an error, has no inferences, or exceeds a limit.
        ValueError: the format or the unit is not known.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format: {format!r}; use one of {', '.join(FORMATS)}")
    if unit is not None and unit not in UNITS:
        raise ValueError(f"unknown unit: {unit!r}; use one of {', '.join(UNITS)}")
    folder = None if within is None else os.fspath(within)
    clocks: tuple[ClockTrace, ...] = ()
    with opened(os.fspath(path), stream, folder, progress) as source:
        kind = format or _recognised(source)
        _require_fitting(source, kind, name, unit)
        if kind == "csv":
            found = csv_rows.read(source, unit)
        elif kind == "chrome" or name is not None:
            kind = "chrome"
            found = chrome.read(source, name)
        elif kind == "htppower":
            found, clocks = _read_own(source, folder or str(Path(path).parent), progress, beside=stream is None)
        else:
            found = {"loadgen": loadgen.read, "onnxruntime": onnxruntime.read}[kind](source)
    found = [each for each in found if len(each)]
    if not found:
        why = "; ".join(source.notes)
        raise TraceError(
            source.path, 0, f"has no inferences{f': {why}' if why else ''}", "record some: controller.record(path)"
        )
    sessions = tuple(each.session(said) for each, said in zip(found, named_apart(found), strict=True))
    notes = (*source.notes, *(note for each in found for note in each.notes()))
    return Trace(source.path, kind, sessions, notes, clocks)


def _require_fitting(source: Source, kind: str, name: str | None, unit: str | None) -> None:
    """Refuse a name for a table, and a unit for trace events, whose unit is us."""
    if kind == "csv" and name is not None:
        raise TraceError(source.path, 0, "is a table, and tables have no names of events", "leave the name out")
    if kind != "csv" and unit is not None:
        raise TraceError(source.path, 0, "has trace events, and their times are in us", "leave the unit out")


def _recognised(source: Source) -> str:
    """Return the kind of a file by its first bytes.

    Raises:
        TraceError: the kind is not known.
    """
    kind = next((kind for kind, fits in _RECOGNISED.items() if fits(source.head)), None)
    if kind is not None:
        return kind
    if b"\0" in source.head:
        raise TraceError(source.path, 0, "is not a text", _HINT)
    if is_of_profiler(source.head):
        hint = f"htppower advise {source.path}"
        raise TraceError(source.path, 0, "was written by a profiler: it is not a trace", hint)
    if begins_as_json(source.head):
        raise TraceError(source.path, 0, "is JSON, but has no trace events", _HINT)
    other = other_file(source.head)
    if other is not None:
        raise TraceError(source.path, 0, other.what, other.hint)
    return "csv"


def _read_own(
    source: Source, folder: str, progress: Callable[[int], None], *, beside: bool
) -> tuple[list[Inferences], tuple[ClockTrace, ...]]:
    """Return the inferences and the clocks of a recording, including older files of the same run."""
    recording = own.Recording(source.room)
    newer = own.run_of(source.head) if beside else None
    with contextlib.ExitStack() as stack:
        older: list[Source] = []
        for path in _older_files(source.path) if newer is not None else ():
            each = stack.enter_context(opened(str(path), within=folder, progress=progress))
            run = own.run_of(each.head)
            if run is None or newer is None or not run.goes_on_as(newer):
                source.notes.append(f"{path.name} is of another run, and was left out")
                break
            older.append(each)
            newer = run
        for each in reversed(older):
            recording.add(each)
            source.notes.extend(f"{Path(each.path).name}: {note}" for note in each.notes)
        recording.add(source)
    if older:
        source.notes.append(
            f"{len(older)} older {'file of it was' if len(older) == 1 else 'files of it were'} read as well"
        )
    return recording.finish(source), recording.clocks.traces()


def _older_files(path: str) -> list[Path]:
    """Return the older files of a rotated recording, the newest of them first."""
    found: list[Path] = []
    while (each := Path(f"{path}.{len(found) + 1}")).is_file():
        found.append(each)
    return found
