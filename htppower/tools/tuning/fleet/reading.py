"""Reads chunks of trace files, on a worker or in this process."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from htppower._version import __version__
from htppower.errors import HtpPowerError
from htppower.sustain.learner import make_learner
from htppower.tools.tuning.fleet.gap_histogram import GapHistogram, merged
from htppower.tools.tuning.fleet.records import Cost, FileGaps, ReadChunk, Unread
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Adaptive
    from htppower.tools.tuning.fleet.chunks import Chunks
    from htppower.tools.tuning.fleet.records import Question, TraceFile

    # Reads chunks: in this process, in several processes, or on a cluster.
    Reader: TypeAlias = Callable[[Chunks, Question], Generator[ReadChunk, None, None]]


class _TookTooLong(Exception):  # noqa: N818 - it ends the reading of a file, and never leaves this module
    """A file has taken longer than it may."""


def read_chunk(files: Sequence[TraceFile], question: Question, timeout_s: float | None = None) -> ReadChunk:
    """Read files one after another. If a file can't be read, the others are still read.

    A file that takes longer than ``timeout_s`` counts as unreadable. In the main thread of a POSIX system, a signal
    stops the reading at once. Elsewhere it stops when the next part of the file is read.
    """
    began_s = time.perf_counter()
    answers = tuple(read_file(file, question, timeout_s) for file in files)
    return ReadChunk(answers, time.perf_counter() - began_s, __version__)


def read_file(file: TraceFile, question: Question, timeout_s: float | None = None) -> FileGaps | Unread:
    """Return the gaps of a file, or why it can't be read."""
    try:
        with _at_most(timeout_s) as look:
            return _answer(file, question, look)
    except _TookTooLong:
        return too_long(file.path, timeout_s or 0.0)
    except HtpPowerError as error:
        return Unread(file.path, str(error))
    except OSError as error:
        return Unread(file.path, f"{file.path}: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 - one bad file must not stop the reading of thousands
        return Unread(file.path, f"{file.path}: {type(error).__name__}: {error}")


def too_long(path: str, timeout_s: float) -> Unread:
    """Return the answer for a file that takes longer to read than the timeout."""
    return Unread(path, f"{path}: takes longer than {timeout_s:g} s; --file-timeout gives each file more time")


@contextlib.contextmanager
def _at_most(timeout_s: float | None) -> Iterator[Callable[[int], None]]:
    """Yield a callback for each part that is read. After the timeout, it or a signal raises ``_TookTooLong``."""
    ends_s = time.monotonic() + (timeout_s or 0.0)

    def look(_: int) -> None:
        if timeout_s is not None and time.monotonic() > ends_s:
            raise _TookTooLong

    def end(*_: object) -> None:
        raise _TookTooLong

    by_signal = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if timeout_s is None or not by_signal:
        yield look
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    try:
        yield look
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _answer(file: TraceFile, question: Question, look: Callable[[int], None]) -> FileGaps | Unread:
    folder = question.folder or os.path.dirname(file.path)  # noqa: PTH120 - thousands of texts
    trace = read_trace(file.path, format=question.form, within=folder, progress=look)
    wanted = question.sessions
    sessions = [each for each in trace.sessions if each.begins_us.size and (not wanted or each.name in wanted)]
    if not sessions:
        which = f" of a session {' or '.join(map(repr, wanted))}" if wanted else ""
        return Unread(file.path, f"{file.path}: has no inferences{which}")
    gaps_us = [each.gaps_us() for each in sessions]
    counted = merged(map(GapHistogram.of, gaps_us))  # refuses gaps that are too long for the sums below
    return FileGaps(
        file,
        sessions=len(sessions),
        inferences=sum(each.begins_us.size for each in sessions),
        gaps=counted,
        clairvoyant_us=sum(int(np.minimum(each, question.break_even_us).sum()) for each in gaps_us),
        learnt=tuple(_cost(sustain, gaps_us, question.break_even_us) for sustain in question.learnt),
        notes=trace.notes,
    )


def _cost(sustain: Adaptive, gaps_us: Sequence[NDArray[np.int64]], break_even_us: int) -> Cost:
    """Return the cost of a learnt sustain time over the sessions of a file."""
    cost_us = cold_starts = 0
    for of_session in gaps_us:
        learner = make_learner(sustain)
        for gap_us in of_session.tolist():
            time_out_us = learner.time_out_us
            if gap_us < time_out_us:
                cost_us += gap_us
            else:
                cost_us += time_out_us + break_even_us
                cold_starts += 1
            learner.learn(gap_us)
    return Cost(cost_us, cold_starts)


def read_here(chunks: Chunks, question: Question, timeout_s: float | None = None) -> Generator[ReadChunk, None, None]:
    """Yield each chunk when it is read; a file that takes longer than ``timeout_s`` is left out."""
    while files := chunks.next():
        read = read_chunk(files, question, timeout_s)
        chunks.took(files, read.took_s)
        yield read
