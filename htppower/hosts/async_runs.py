"""Inferences that begin in one thread and end in another, when a runtime calls back."""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import TYPE_CHECKING, Any

from htppower.errors import VoteRejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.phases.blocks import Inference
    from htppower.control.session import Session
    from htppower.hosts.qnn_errors import LinkWatch


# How often a close that waits looks whether a callback is gone: no one tells of that.
_LOOK_S = 0.2


class _UnderWay:
    """Stands for a run that a close waits for."""

    __slots__ = ("__weakref__",)


class AsyncRuns:
    """The inferences of one session that are to be ended by a callback.

    Args:
        votes: the session; each inference is one in flight on it.
        watch: is told of the errors with which they end.
    """

    def __init__(self, votes: Session, watch: LinkWatch) -> None:
        self._votes = votes
        self.watch = watch
        self._changed = threading.Condition()
        # No count: of a run whose callback is gone, or whose begin was interrupted, nobody would tell the end.
        self._pending: weakref.WeakSet[_UnderWay] = weakref.WeakSet()

    def begin(self, callback: Callable[[Any, Any, str], object]) -> AsyncRun:
        """Begin an inference, and return the callback that ends it and calls the given one.

        Raises:
            VoteRejected, SessionClosed: as ``Session.inference`` does; the inference has then not begun.
        """
        inference = self._votes.inference()
        run = AsyncRun(self, inference, callback)
        try:
            self._pending.add(run)
            inference.__enter__()
        except BaseException:
            # Somebody may keep the exception, and by its traceback the run.
            self._forget(run)
            inference.end()
            raise
        return run

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """Let ``wait`` wait for what runs on a thread that nobody joins."""
        run = _UnderWay()
        try:
            self._pending.add(run)
            yield
        finally:
            self._forget(run)

    def wait(self) -> None:
        """Return when every inference that has begun is ended, or can't be ended any more, and nothing is under way."""
        while self._pending:
            with self._changed:
                self._changed.wait_for(lambda: not self._pending, _LOOK_S)

    def end(self, run: AsyncRun, inference: Inference) -> None:
        """End one inference."""
        try:
            # The session's status and an event tell of it. Here is nobody to catch it: the thread is the runtime's.
            with contextlib.suppress(VoteRejected):
                inference.__exit__(None, None, None)
        finally:
            self._forget(run)

    def _forget(self, run: _UnderWay) -> None:
        self._pending.discard(run)
        with self._changed:
            self._changed.notify_all()


class AsyncRun(_UnderWay):
    """One of them: the callback for the runtime."""

    __slots__ = ("_callback", "_inference", "_runs", "_unended")

    def __init__(self, runs: AsyncRuns, inference: Inference, callback: Callable[[Any, Any, str], object]) -> None:
        self._runs = runs
        self._inference = inference
        self._callback = callback
        self._unended = threading.Lock()

    def end(self) -> None:
        """End the inference, the first time that this is called."""
        if self._unended.acquire(blocking=False):
            self._runs.end(self, self._inference)

    def __call__(self, results: Any, user_data: Any, error: str) -> None:
        """Tell of a lost link, end the inference, then call the user's callback, in the runtime's thread."""
        try:
            if error:
                self._runs.watch.failed(error)
            self.end()
        finally:
            self._callback(results, user_data, error)
