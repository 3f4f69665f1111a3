"""Inferences that begin in one thread and end in another, in a runtime's callback."""

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


# How often a waiting close checks for callbacks that were garbage-collected: the runtime reports no such end.
_LOOK_S = 0.2


class _UnderWay:
    """A run that a close waits for."""

    __slots__ = ("__weakref__",)


class AsyncRuns:
    """The inferences of one session that end in a callback.

    Args:
        votes: the session; each inference counts as in flight on it.
        watch: receives the errors that end inferences.
    """

    def __init__(self, votes: Session, watch: LinkWatch) -> None:
        self._votes = votes
        self.watch = watch
        self._changed = threading.Condition()
        # This is a set, not a count, since some runs never end: their callback was garbage collected, or their begin
        # was interrupted.
        self._pending: weakref.WeakSet[_UnderWay] = weakref.WeakSet()

    def begin(self, callback: Callable[[Any, Any, str], object]) -> AsyncRun:
        """Begin an inference, and return a callback that ends it and then calls the given callback.

        Raises:
            VoteRejected, SessionClosed: for the same reasons as in ``Session.inference``; the inference has then not
                begun.
        """
        inference = self._votes.inference()
        run = AsyncRun(self, inference, callback)
        try:
            self._pending.add(run)
            inference.__enter__()
        except BaseException:
            # The caller may keep the exception, and its traceback would keep the run alive.
            self._forget(run)
            inference.end()
            raise
        return run

    @contextlib.contextmanager
    def under_way(self) -> Iterator[None]:
        """Return a context manager whose block ``wait`` waits for; for code on a thread that is never joined."""
        run = _UnderWay()
        try:
            self._pending.add(run)
            yield
        finally:
            self._forget(run)

    def wait(self) -> None:
        """Return when each inference has ended or can no longer end, and no block of ``under_way`` runs."""
        while self._pending:
            with self._changed:
                self._changed.wait_for(lambda: not self._pending, _LOOK_S)

    def end(self, run: AsyncRun, inference: Inference) -> None:
        """End one inference."""
        try:
            # This is the runtime's thread, where an exception would not be caught. The session's status and an event
            # report the failure.
            with contextlib.suppress(VoteRejected):
                inference.__exit__(None, None, None)
        finally:
            self._forget(run)

    def _forget(self, run: _UnderWay) -> None:
        self._pending.discard(run)
        with self._changed:
            self._changed.notify_all()


class AsyncRun(_UnderWay):
    """One run, and the callback that the runtime calls at its end."""

    __slots__ = ("_callback", "_inference", "_runs", "_unended")

    def __init__(self, runs: AsyncRuns, inference: Inference, callback: Callable[[Any, Any, str], object]) -> None:
        self._runs = runs
        self._inference = inference
        self._callback = callback
        self._unended = threading.Lock()

    def end(self) -> None:
        """End the inference at the first call; later calls do nothing."""
        if self._unended.acquire(blocking=False):
            self._runs.end(self, self._inference)

    def __call__(self, results: Any, user_data: Any, error: str) -> None:
        """Report a lost link, end the inference, then call the user's callback, all in the runtime's thread."""
        try:
            if error:
                self._runs.watch.failed(error)
            self.end()
        finally:
            self._callback(results, user_data, error)
