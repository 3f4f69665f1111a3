"""Reads chunks of trace files. This runs on the workers, and is all that does."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

from htppower._version import __version__
from htppower.errors import HtpPowerError
from htppower.sustain.learner import make_learner
from htppower.tuning.fleet.gap_histogram import GapHistogram, merged
from htppower.tuning.fleet.records import Cost, FileGaps, ReadChunk, Unread
from htppower.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Adaptive
    from htppower.tuning.fleet.records import Question, TraceFile


def read_chunk(files: Sequence[TraceFile], question: Question) -> ReadChunk:
    """Read files one after another; one that can't be read stops none of the others."""
    began_s = time.perf_counter()
    answers = tuple(read_file(file, question) for file in files)
    return ReadChunk(answers, time.perf_counter() - began_s, __version__)


def read_file(file: TraceFile, question: Question) -> FileGaps | Unread:
    """Return the gaps of a file, or why it has none."""
    try:
        return _answer(file, question)
    except HtpPowerError as error:
        return Unread(file.path, str(error))
    except OSError as error:
        return Unread(file.path, f"{file.path}: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 - whatever is in one file of thousands, the others are read
        return Unread(file.path, f"{file.path}: {type(error).__name__}: {error}")


def _answer(file: TraceFile, question: Question) -> FileGaps | Unread:
    folder = question.folder or os.path.dirname(file.path)  # noqa: PTH120 - thousands of texts
    trace = read_trace(file.path, format=question.form, within=folder)
    wanted = question.sessions
    sessions = [each for each in trace.sessions if each.begins_us.size and (not wanted or each.name in wanted)]
    if not sessions:
        which = f" of a session {' or '.join(map(repr, wanted))}" if wanted else ""
        return Unread(file.path, f"{file.path}: has no inference{which}")
    gaps_us = [each.gaps_us() for each in sessions]
    counted = merged(map(GapHistogram.of, gaps_us))  # refuses gaps that the sums below can't hold
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
    """Return what a sustain time that is learnt comes to, over the sessions of a file."""
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
