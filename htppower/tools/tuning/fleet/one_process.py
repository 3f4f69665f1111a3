"""Reads the files of a fleet in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.tuning.fleet.reading import read_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TypeAlias

    from htppower.tools.tuning.fleet.chunks import Chunks
    from htppower.tools.tuning.fleet.records import Question, ReadChunk

    # Reads chunks: in this process, in several processes, or on a cluster.
    Reader: TypeAlias = Callable[[Chunks, Question], Generator[ReadChunk, None, None]]


def read_here(chunks: Chunks, question: Question, timeout_s: float | None = None) -> Generator[ReadChunk, None, None]:
    """Yield each chunk when it is read; a file that takes longer than ``timeout_s`` is left out."""
    while files := chunks.next():
        read = read_chunk(files, question, timeout_s)
        chunks.took(files, read.took_s)
        yield read
