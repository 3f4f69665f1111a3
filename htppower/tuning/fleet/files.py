"""The trace files in a folder."""

from __future__ import annotations

import fnmatch
import itertools
import os
from typing import TYPE_CHECKING

from htppower.errors.trace_error import TraceError
from htppower.tuning.fleet.fleet_error import FleetError
from htppower.tuning.fleet.records import TraceFile
from htppower.tuning.traces.readers.own import run_of
from htppower.tuning.traces.readers.source import opened, parts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from htppower.tuning.traces.readers.own import Run


def trace_files(folder: Path, pattern: str = "*", but: Collection[Path] = ()) -> tuple[TraceFile, ...]:
    """Return the files in a folder and in the folders below, by path; of a trace in several files the first.

    Such are one that was split into parts, and a recording with its older files. Names that begin with a dot are
    left out.

    Args:
        folder: where to look; no link to a folder is followed, and no link that leads out of it is read.
        pattern: which names, with ``*`` and ``?``.
        but: files that are no traces, such as those that are written.

    Raises:
        FleetError: there is none.
    """
    root = os.path.abspath(folder)  # noqa: PTH100 - as a worker finds it, links kept
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
        named = "" if pattern == "*" else f" whose name is like {pattern}"
        raise FleetError(f"{folder}: there is no file{named} in it; name a folder of traces")
    return tuple(found)


def _walked(root: str, pattern: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and fnmatch.fnmatch(name, pattern):
                yield os.path.join(folder, name)  # noqa: PTH118 - thousands of texts


def _parts(path: str, root: str, *, rotated: bool) -> list[str]:
    """Return all the files of a trace of which this is the first: those that are read with it.

    It is alone where a part is missing, or it can't be read, which its reader then says.
    """
    try:
        parts = [str(part) for part in parts_of(path)]
        return [*parts, *_older(path, root)] if rotated and len(parts) == 1 else parts
    except TraceError:
        return [path]


def _older(path: str, root: str) -> Iterator[str]:
    """Yield the files that a recording was rotated into, from the youngest, as far as they are of the same run."""
    newer = _run(path, root)
    for number in itertools.count(1):
        older = f"{path}.{number}"
        run = _run(older, root) if newer is not None and os.path.isfile(older) else None  # noqa: PTH113 - as above
        if newer is None or run is None or not run.goes_on_as(newer):
            return
        yield older
        newer = run


def _run(path: str, root: str) -> Run | None:
    """Return the run that a recording is of; None where the file is none."""
    with opened(path, within=root) as source:
        return run_of(source.head)
