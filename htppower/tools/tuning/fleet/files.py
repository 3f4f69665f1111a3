"""The trace files in a folder."""

from __future__ import annotations

import fnmatch
import itertools
import os
from typing import TYPE_CHECKING

from htppower.errors import TraceError
from htppower.tools.tuning.fleet.records import FleetError, TraceFile
from htppower.tools.tuning.traces.readers.own import run_of
from htppower.tools.tuning.traces.readers.source import opened, parts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from htppower.tools.tuning.traces.readers.own import Run


def trace_files(folder: Path, pattern: str = "*", but: Collection[Path] = ()) -> tuple[TraceFile, ...]:
    """Return the trace files in a folder and in its subfolders, sorted by path.

    A trace that was split into parts, or a recording with its older files, is one trace file. Names that begin with a
    dot are left out.

    Args:
        folder: the folder. Links to folders are not followed; links to files outside the folder are not read.
        pattern: a pattern for the names, with ``*`` and ``?``.
        but: files that are not traces, such as the output.

    Raises:
        FleetError: the folder is empty, or none of its files match.
    """
    root = os.path.abspath(folder)  # noqa: PTH100 - links are kept, since workers use the same path
    left_out = {os.path.realpath(each) for each in but}
    paths = sorted(_walked(root, pattern))
    there = set(paths)
    found = []
    taken: set[str] = set()
    for path in paths:
        if path in taken or (left_out and os.path.realpath(path) in left_out):
            continue
        parts = _parts(path, root, rotated=f"{path}.1" in there)
        taken.update(parts)
        found.append(TraceFile.at(*parts))
    if not found:
        named = "" if pattern == "*" else f" with a name like {pattern}"
        raise FleetError(f"{folder}: the folder has no file{named}; give a folder of traces")
    return tuple(found)


def _walked(root: str, pattern: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and fnmatch.fnmatch(name, pattern):
                yield os.path.join(folder, name)  # noqa: PTH118 - thousands of texts


def _parts(path: str, root: str, *, rotated: bool) -> list[str]:
    """Return all the files of a trace; ``path`` is the first.

    If a part is missing or can't be read, only ``path`` is returned, and the reader reports the error later.
    """
    try:
        parts = [str(part) for part in parts_of(path)]
        return [*parts, *_older(path, root)] if rotated and len(parts) == 1 else parts
    except TraceError:
        return [path]


def _older(path: str, root: str) -> Iterator[str]:
    """Yield the older files of a rotated recording, the newest first, until a file belongs to another run."""
    newer = _run(path, root)
    for number in itertools.count(1):
        older = f"{path}.{number}"
        run = _run(older, root) if newer is not None and os.path.isfile(older) else None  # noqa: PTH113 - as above
        if newer is None or run is None or not run.goes_on_as(newer):
            return
        yield older
        newer = run


def _run(path: str, root: str) -> Run | None:
    with opened(path, within=root) as source:
        return run_of(source.head)
