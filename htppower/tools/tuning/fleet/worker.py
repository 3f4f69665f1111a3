"""The code of a process that reads traces for another process."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from htppower.tools.tuning.fleet.reading import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

    from htppower.tools.tuning.fleet.records import Question


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Block Ctrl-C in the body, and in a process that is started there."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # if it started in the body, it would unblock signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(tasks: Connection, answers: Connection, question: Question) -> None:
    """Read the files of each received list, and send the answer and the time of each file, until the pipe is closed.

    The first answer is None, which reports that the process runs.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError, EOFError):
        answers.send(None)
        while True:
            for file in tasks.recv():
                began_s = time.perf_counter()
                answer = read_file(file, question)
                answers.send((answer, time.perf_counter() - began_s))


def _end_with_parent() -> None:
    """End this process as soon as its parent has ended, even if the parent was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
