"""The question for each trace file, and its answer, which a worker returns and the results file keeps."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import HtpPowerError
from htppower.tools.tuning.fleet.gap_histogram import GapHistogram

if TYPE_CHECKING:
    from htppower.profiles.sustain import Adaptive


# Numbers of inferences, bytes and us are below this.
_LARGEST = 2**63


@attrs.frozen
class TraceFile:
    """A trace file, or all the files of one trace.

    Attributes:
        path: the absolute path of the first file.
        size: the size of all files, in bytes.
        mtime_ns: when the files were last written.
        parts: the paths of all files.
    """

    path: str
    size: int
    mtime_ns: int
    parts: tuple[str, ...] = attrs.field(default=(), eq=False, repr=False)

    @classmethod
    def at(cls, *parts: str) -> TraceFile:
        """Return the trace file with these parts; its size is 0 if a part does not exist."""
        try:
            found = [os.stat(part) for part in parts]  # noqa: PTH116 - thousands of texts
        except OSError:
            return cls(parts[0], 0, 0, parts)
        return cls(parts[0], sum(each.st_size for each in found), max(each.st_mtime_ns for each in found), parts)


@attrs.frozen
class Question:
    """The question that each file is read for.

    Attributes:
        break_even_us: the idle time, in us, that costs as much as lowering and raising again.
        learnt: the learnt sustain times to try on each session.
        sessions: the names of the sessions to read; all if empty.
        form: the format of the files; None recognises it by the content.
        folder: the folder that was searched for files; no link may lead out of it. None: the folder of each file.
    """

    break_even_us: int
    learnt: tuple[Adaptive, ...] = ()
    sessions: tuple[str, ...] = ()
    form: str | None = None
    folder: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the question as values for JSON, without the folder, since answers do not depend on it."""
        fields = attrs.asdict(self, filter=lambda field, _: field.name != "folder")
        return {**fields, "learnt": [attrs.asdict(each) for each in self.learnt]}


@attrs.frozen
class Cost:
    """The cost of a sustain time.

    Attributes:
        cost_us: the sum over all gaps, in us: the length of a gap within the time-out; for any other gap, the time-out
            and the break-even time.
        cold_starts: how many gaps were not within the time-out.
    """

    cost_us: int
    cold_starts: int

    def __add__(self, other: Cost) -> Cost:
        """Return the sum of both costs."""
        return Cost(self.cost_us + other.cost_us, self.cold_starts + other.cold_starts)


@attrs.frozen
class FileGaps:
    """The answer of a file.

    Attributes:
        file: the file.
        sessions: how many sessions have inferences. The first inference of a session always waits for a raise.
        inferences: how many inferences these sessions have.
        gaps: their gaps.
        clairvoyant_us: the lowest possible cost, of a choice that knows each gap in advance, in us.
        learnt: the cost of each learnt sustain time; every session has its own learner.
        notes: what the reader left out of the file.
    """

    file: TraceFile
    sessions: int
    inferences: int
    gaps: GapHistogram
    clairvoyant_us: int
    learnt: tuple[Cost, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the answer as values for JSON."""
        return {
            "file": {name: getattr(self.file, name) for name in ("path", "size", "mtime_ns")},
            **{name: getattr(self, name) for name in ("sessions", "inferences", "clairvoyant_us", "notes")},
            "learnt": [{"cost_us": each.cost_us, "cold_starts": each.cold_starts} for each in self.learnt],
            "gaps": self.gaps.as_json(),
        }

    @classmethod
    def from_json(cls, value: Any) -> FileGaps:
        """Return the answer from the values of ``as_json``.

        Raises:
            ValueError: the values are not an answer.
        """
        try:
            numbers = [value[name] for name in ("sessions", "inferences", "clairvoyant_us")]
            learnt = tuple(Cost(**each) for each in value["learnt"])
            file = TraceFile(**value["file"])
            gaps = GapHistogram.from_json(value["gaps"])
            notes = tuple(map(str, value["notes"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the answer of a trace file: {error}") from None
        every = (*numbers, file.size, file.mtime_ns, *itertools.chain(*map(attrs.astuple, learnt)))
        if type(file.path) is not str or not all(type(number) is int and 0 <= number < _LARGEST for number in every):
            raise ValueError("not the answer of a trace file")
        sessions, inferences, clairvoyant_us = numbers
        return cls(file, sessions, inferences, gaps, clairvoyant_us, learnt, notes)


@attrs.frozen
class Unread:
    """A file that can't be read.

    Attributes:
        path: the path of the file.
        why: the error.
    """

    path: str
    why: str


@attrs.frozen
class ReadChunk:
    """The result of a worker for a chunk of files.

    Attributes:
        answers: the answers of the files, in their order.
        took_s: how long the chunk took, in s.
        version: the version of htppower that read the files.
    """

    answers: tuple[FileGaps | Unread, ...]
    took_s: float
    version: str


class FleetError(HtpPowerError, RuntimeError):
    """No trace file can be read, the cluster can't be used, or the results file is another kind of file."""
