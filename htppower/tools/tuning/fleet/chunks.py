"""Groups the files of a fleet into chunks that are large enough for a worker, and small enough to share the work."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.tools.tuning.fleet.records import TraceFile

# A chunk should take this long to read. Dask needs a few ms for each chunk; at the end, workers wait for the last one.
_CHUNK_S = 1.0
_SHORTEST_CHUNK_S = 0.1
# Opening a file takes as long as reading this many bytes.
_OPENING = 8192
# The size of a chunk before the speed is known: about 0.1 s of work.
_FIRST_CHUNK = 2**20


class Chunks:
    """The files that are not handed out yet, the largest first.

    The first chunks are small. The speed of the chunks that were read determines the size of the next chunks.
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
        """Return the next chunk for one of several readers; empty if no files are left.

        Towards the end, chunks get smaller, down to 0.1 s, so that all readers end at about the same time.
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
