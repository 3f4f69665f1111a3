"""Reads the files of a fleet in several processes of this machine.

Each worker has two pipes to this process and no other connection; it opens no port. A worker sends the answer of each
file as soon as it has read it. So this process knows which file a worker was reading when it died, and which file takes
too long.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.tools.tuning.fleet.reading import too_long
from htppower.tools.tuning.fleet.records import FleetError, ReadChunk, Unread
from htppower.tools.tuning.fleet.worker import serve, without_interrupts

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from htppower.tools.tuning.fleet.chunks import Chunks
    from htppower.tools.tuning.fleet.reading import Reader
    from htppower.tools.tuning.fleet.records import FileGaps, Question, TraceFile

# A worker that does not end when asked to is killed after this time.
_ENDING_S = 2.0
# A file is given up after this many workers have died while reading it.
_MOST_DEATHS = 2


def in_processes(jobs: int, timeout_s: float | None = None) -> Reader:
    """Return a reader that uses several processes of this machine.

    Args:
        jobs: how many processes.
        timeout_s: a file that takes longer, in s, is left out; None sets no limit.
    """

    def read(chunks: Chunks, question: Question) -> Generator[ReadChunk, None, None]:
        with contextlib.closing(_Pool(question, timeout_s)) as pool:
            while pool.hand_out(chunks, jobs):
                yield from pool.done(chunks)

    return read


@attrs.define(eq=False)
class _Worker:
    """A process that reads.

    Attributes:
        process: the process.
        tasks, answers: the pipes to the process and from it.
        ready: whether the process has reported that it runs.
        left: the files of its chunk that it has not read yet.
        read: the files of its chunk that it has read, with the answers.
        since_s: when it began to read the first file in ``left``, by the monotonic clock.
        took_s: how long it has read its chunk so far.
    """

    process: Any
    tasks: connection.Connection
    answers: connection.Connection
    ready: bool = False
    left: list[TraceFile] = attrs.Factory(list)
    read: list[tuple[TraceFile, FileGaps | Unread]] = attrs.Factory(list)
    since_s: float = 0.0
    took_s: float = 0.0


class _Pool:
    """The workers, the files that they read, and the unread files of dead workers."""

    def __init__(self, question: Question, timeout_s: float | None) -> None:
        self._question = question
        self._timeout_s = timeout_s
        self._workers: list[_Worker] = []
        self._again: list[TraceFile] = []
        self._deaths: dict[TraceFile, int] = {}
        self._failed_starts = 0

    def hand_out(self, chunks: Chunks, jobs: int) -> bool:
        """Give a chunk to each idle worker, and start missing workers; return whether any worker has a chunk."""
        idle = [each for each in self._workers if not each.left]
        while idle or len(self._workers) < jobs:
            files = [self._again.pop()] if self._again else chunks.next(jobs)
            if not files:
                break
            worker = idle.pop() if idle else self._started()
            worker.left, worker.since_s = files, time.monotonic()
            with contextlib.suppress(OSError):  # if the worker is dead, the other pipe reports it
                worker.tasks.send(files)
        return any(each.left for each in self._workers)

    def done(self, chunks: Chunks) -> Iterator[ReadChunk]:
        """Wait until a worker answers, dies, or takes too long; yield the chunks that are complete.

        Raises:
            FleetError: workers can't be started.
        """
        ready = connection.wait([each.answers for each in self._workers], self._longest_wait_s())
        for worker in list(self._workers):
            if worker.answers in ready:
                self._take(worker)
            elif worker.left and self._timeout_s is not None:
                self._end_if_late(worker)
            if worker.read and not worker.left:
                yield self._chunk(worker, chunks)

    def _longest_wait_s(self) -> float | None:
        if self._timeout_s is None:
            return None
        begun_s = [each.since_s for each in self._workers if each.left and each.ready]
        return max(0.0, min(begun_s) + self._timeout_s - time.monotonic()) if begun_s else None

    def _take(self, worker: _Worker) -> None:
        try:
            said = worker.answers.recv()
        except (OSError, EOFError):
            self._died(worker)
            return
        worker.since_s = time.monotonic()
        if said is None:
            worker.ready, self._failed_starts = True, 0
            return
        answer, took_s = said
        worker.read.append((worker.left.pop(0), answer))
        worker.took_s += took_s

    def _died(self, worker: _Worker) -> None:
        """Queue the files that a dead worker has not read; give up a file if several workers died while reading it."""
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_DEATHS:
                raise FleetError("a process that reads traces ends as soon as it begins; leave out --jobs")
        elif worker.left:
            at = worker.left[0]
            self._deaths[at] = self._deaths.get(at, 0) + 1
            if self._deaths[at] >= _MOST_DEATHS:
                why = "every worker that read it died; it may not fit into their memory"
                self._give_up(worker, Unread(at.path, f"{at.path}: {why}"))
        self._end(worker)

    def _end_if_late(self, worker: _Worker) -> None:
        if self._timeout_s is not None and worker.ready and time.monotonic() >= worker.since_s + self._timeout_s:
            self._give_up(worker, too_long(worker.left[0].path, self._timeout_s))
            self._end(worker)

    def _give_up(self, worker: _Worker, unread: Unread) -> None:
        worker.read.append((worker.left.pop(0), unread))

    def _end(self, worker: _Worker) -> None:
        """End a worker, and queue the files that it has not read."""
        self._again += worker.left
        worker.left = []
        self._workers.remove(worker)
        _killed(worker)

    def _chunk(self, worker: _Worker, chunks: Chunks) -> ReadChunk:
        chunks.took([file for file, _ in worker.read], worker.took_s)
        read = ReadChunk(tuple(answer for _, answer in worker.read), worker.took_s, __version__)
        worker.read, worker.took_s = [], 0.0
        return read

    def _started(self) -> _Worker:
        spawned = multiprocessing.get_context("spawn")
        tasks, to_worker = spawned.Pipe(duplex=False)
        from_worker, answers = spawned.Pipe(duplex=False)
        arguments = (tasks, answers, self._question)
        process = spawned.Process(target=serve, args=arguments, name="htppower fleet", daemon=True)
        # A terminal sends Ctrl-C to the workers, too, maybe before they ignore it.
        with without_interrupts():
            process.start()
        tasks.close()
        answers.close()
        worker = _Worker(process, to_worker, from_worker, since_s=time.monotonic())
        self._workers.append(worker)
        return worker

    def close(self) -> None:
        """End all workers, even while they read."""
        for worker in self._workers:
            worker.tasks.close()
            worker.process.terminate()
        for worker in self._workers:
            _killed(worker)
        self._workers = []


def _killed(worker: _Worker) -> None:
    worker.tasks.close()
    worker.process.terminate()
    worker.process.join(_ENDING_S)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()
    worker.answers.close()
    worker.process.close()
