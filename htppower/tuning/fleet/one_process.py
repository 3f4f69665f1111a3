"""Reads the files of a fleet in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tuning.fleet.reading import read_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TypeAlias

    from htppower.tuning.fleet.chunks import Chunks
    from htppower.tuning.fleet.records import Question, ReadChunk

    # What reads chunks: in this process, or on a cluster.
    Reader: TypeAlias = Callable[[Chunks, Question], Generator[ReadChunk, None, None]]


def read_here(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
    """Yield each chunk when it is read."""
    while files := chunks.next():
        read = read_chunk(files, question)
        chunks.took(files, read.took_s)
        yield read
