"""Cuts the files of a fleet into chunks that are worth the way to a worker and back."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.tuning.fleet.records import TraceFile

# A chunk takes about so long: Dask spends some ms on each, and up to so long one worker may wait for the last.
_CHUNK_S = 1.0
_SHORTEST_CHUNK_S = 0.5
# To open a file takes as long as to read so many bytes.
_OPENING = 8192
# Until something has been read: about 0.1 s of work.
_FIRST_CHUNK = 2**20


class Chunks:
    """Files that are still to be read, the largest first.

    The first chunks are small. Each that comes back says how fast files are read, and makes the next ones right.
    """

    def __init__(self, files: Iterable[TraceFile]) -> None:
        self._left = deque(sorted(files, key=lambda file: -file.size))
        self._left_bytes = sum(map(_work, self._left))
        self._read_bytes = 0
        self._took_s = 0.0

    def __len__(self) -> int:
        """Return how many files are left."""
        return len(self._left)

    def took(self, files: Sequence[TraceFile], took_s: float) -> None:
        """Learn how long a chunk took, in s."""
        self._read_bytes += sum(map(_work, files))
        self._took_s += took_s

    def next(self, readers: int = 1) -> list[TraceFile]:
        """Return the next chunk for one of so many readers; an empty one where nothing is left.

        Towards the end chunks grow shorter, down to half a second, so that all readers end at about the same time.
        """
        most = self._largest(readers)
        chunk: list[TraceFile] = []
        taken = 0
        while self._left and (not chunk or taken + _work(self._left[0]) <= most):
            chunk.append(self._left.popleft())
            taken += _work(chunk[-1])
        self._left_bytes -= taken
        return chunk

    def _largest(self, readers: int) -> float:
        if not self._took_s:
            return _FIRST_CHUNK
        bytes_a_s = self._read_bytes / self._took_s
        fair_s = self._left_bytes / bytes_a_s / (2 * readers)
        return bytes_a_s * min(_CHUNK_S, max(_SHORTEST_CHUNK_S, fair_s))


def _work(file: TraceFile) -> int:
    return file.size + _OPENING
