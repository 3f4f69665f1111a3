"""Reads the trace files of a fleet, in this process or on a cluster, and resumes after an interruption."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import attrs

from htppower.tools.tuning.fleet.chunks import Chunks
from htppower.tools.tuning.fleet.reading import read_here
from htppower.tools.tuning.fleet.records import FileGaps, FleetError, Unread
from htppower.tools.tuning.fleet.results_file import results_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from htppower.tools.tuning.fleet.reading import Reader
    from htppower.tools.tuning.fleet.records import Question, TraceFile
    from htppower.tools.tuning.fleet.results_file import ResultsFile

_MOST_NAMED = 3


@attrs.frozen
class Fleet:
    """The results of reading the files of a fleet.

    Attributes:
        answers: the answers of the files that can be read, sorted by path.
        unread: the files that can't be read, sorted by path.
        kept: how many answers are from an earlier run.
        broken: how many lines of the earlier results were broken; their files are read again.
    """

    answers: tuple[FileGaps, ...]
    unread: tuple[Unread, ...]
    kept: int = 0
    broken: int = 0


def read_fleet(
    files: Sequence[TraceFile],
    question: Question,
    *,
    read: Reader = read_here,
    results: Path | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Fleet:
    """Read the files, and return their answers.

    Args:
        files: the trace files.
        question: the question that each file is read for.
        read: reads the files.
        results: a file for the answers, which are written as soon as they are known. If a run is interrupted, the next
            run does not read the same files again. None keeps no answers.
        progress: is called with the number of files each time some are done.

    Raises:
        FleetError: none of the files can be read, or ``results`` is another kind of file, or the cluster fails.
        OSError: the results can't be written.
    """
    with contextlib.ExitStack() as stack:
        kept = None if results is None else stack.enter_context(results_file(results, question))
        answers = _found(files, kept)
        already = len(answers)
        progress(already)
        unread: list[Unread] = []
        chunks = Chunks(file for file in files if file not in answers)
        for chunk in stack.enter_context(contextlib.closing(read(chunks, question))):
            new = [each for each in chunk.answers if isinstance(each, FileGaps)]
            if kept is not None:
                kept.keep(new)
            answers.update((each.file, each) for each in new)
            unread += [each for each in chunk.answers if isinstance(each, Unread)]
            progress(len(chunk.answers))
    if not answers:
        raise FleetError(_none_read(unread))
    return Fleet(
        tuple(sorted(answers.values(), key=lambda each: each.file.path)),
        tuple(sorted(unread, key=lambda each: each.path)),
        already,
        0 if kept is None else kept.broken,
    )


def _found(files: Sequence[TraceFile], kept: ResultsFile | None) -> dict[TraceFile, FileGaps]:
    return {} if kept is None else {file: kept.found[file] for file in files if file in kept.found}


def _none_read(unread: Sequence[Unread]) -> str:
    named = "\n".join(each.why for each in unread[:_MOST_NAMED])
    more = f"\nand {len(unread) - _MOST_NAMED} more" if len(unread) > _MOST_NAMED else ""
    return f"none of {len(unread)} files can be read:\n{named}{more}"
