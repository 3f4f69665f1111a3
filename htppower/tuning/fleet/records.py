"""What is asked of each trace file, and what it answers: values that a worker returns and the results file keeps."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tuning.fleet.gap_histogram import GapHistogram
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from htppower.profiles.sustain import Adaptive


# No file has so many inferences or bytes, nor gaps of so many us.
_LARGEST = 2**63


@attrs.frozen
class TraceFile:
    """A trace file as it lies there.

    Attributes:
        path: where it is, from the root.
        size: its bytes, those of all its parts where it was split.
        mtime_ns: when it was last written.
        parts: the paths of all its files.
    """

    path: str
    size: int
    mtime_ns: int
    parts: tuple[str, ...] = attrs.field(default=(), eq=False, repr=False)

    __repr__ = field_repr

    @classmethod
    def at(cls, *parts: str) -> TraceFile:
        """Return the file at a path, or that of several parts; one that is not there has no size."""
        try:
            found = [os.stat(part) for part in parts]  # noqa: PTH116 - thousands of texts
        except OSError:
            return cls(parts[0], 0, 0, parts)
        return cls(parts[0], sum(each.st_size for each in found), max(each.st_mtime_ns for each in found), parts)


@attrs.frozen
class Question:
    """The question that each file is read for.

    Attributes:
        break_even_us: how long votes that are up and idle cost as much as a raise and a lowering do, in us.
        learnt: sustain times that are learnt, to be tried on each session.
        sessions: only the sessions of these names; all where there is none.
        form: the format of the files; None is found out for each.
        folder: the folder that was searched for files; no link may lead out of it. None: the folder of each file.
    """

    break_even_us: int
    learnt: tuple[Adaptive, ...] = ()
    sessions: tuple[str, ...] = ()
    form: str | None = None
    folder: str | None = None

    __repr__ = field_repr

    def as_json(self) -> dict[str, Any]:
        """Return the question as JSON takes it, without the folder: no answer depends on the folder."""
        fields = attrs.asdict(self, filter=lambda field, _: field.name != "folder")
        return {**fields, "learnt": [attrs.asdict(each) for each in self.learnt]}


@attrs.frozen
class Cost:
    """What a sustain time comes to.

    Attributes:
        cost_us: the gaps that it stayed up for, and for each other its time-out and the break-even time, in us.
        cold_starts: the gaps that it did not stay up for.
    """

    cost_us: int
    cold_starts: int

    __repr__ = field_repr

    def __add__(self, other: Cost) -> Cost:
        """Return what both come to."""
        return Cost(self.cost_us + other.cost_us, self.cold_starts + other.cold_starts)


@attrs.frozen
class FileGaps:
    """What a file answers.

    Attributes:
        file: which.
        sessions: how many have inferences in it; the first of each waits for a raise whatever the sustain time is.
        inferences: how many those have.
        gaps: their gaps.
        clairvoyant_us: what the gaps cost whoever knows the length of each when it begins, in us.
        learnt: what each sustain time that is learnt comes to, every session with a learner of its own.
        notes: what the reader left out of the file.
    """

    file: TraceFile
    sessions: int
    inferences: int
    gaps: GapHistogram
    clairvoyant_us: int
    learnt: tuple[Cost, ...] = ()
    notes: tuple[str, ...] = ()

    __repr__ = field_repr

    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON takes it."""
        others = attrs.asdict(self, filter=attrs.filters.exclude("gaps", "parts"))  # whose 512 numbers take it long
        return {**others, "gaps": self.gaps.as_json()}

    @classmethod
    def from_json(cls, value: Any) -> FileGaps:
        """Return what ``as_json`` made.

        Raises:
            ValueError: it is none of these.
        """
        try:
            numbers = [value[name] for name in ("sessions", "inferences", "clairvoyant_us")]
            learnt = tuple(Cost(**each) for each in value["learnt"])
            file = TraceFile(**value["file"])
            gaps = GapHistogram.from_json(value["gaps"])
            notes = tuple(map(str, value["notes"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"no answer of a trace file: {error}") from None
        every = (*numbers, file.size, file.mtime_ns, *itertools.chain(*map(attrs.astuple, learnt)))
        if type(file.path) is not str or not all(type(number) is int and 0 <= number < _LARGEST for number in every):
            raise ValueError("no answer of a trace file")
        sessions, inferences, clairvoyant_us = numbers
        return cls(file, sessions, inferences, gaps, clairvoyant_us, learnt, notes)


@attrs.frozen
class Unread:
    """A file that can't be read.

    Attributes:
        path: which.
        why: what is wrong with it.
    """

    path: str
    why: str

    __repr__ = field_repr


@attrs.frozen
class ReadChunk:
    """What a worker returns of a chunk of files.

    Attributes:
        answers: one for each file, in their order.
        took_s: how long it took, in s.
        version: the htppower that read them.
    """

    answers: tuple[FileGaps | Unread, ...]
    took_s: float
    version: str
