"""Actions that are run side by side, and waited for."""

from __future__ import annotations

import threading
import time as clock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.control.time.base import Time


class _Running:
    """One action, what it raised, and whether it is done. Whoever claims it first runs it."""

    def __init__(self, action: Callable[[], object]) -> None:
        # A list, since popping is one step: of two threads that try, one gets it.
        self._unclaimed = [action]
        self.error: BaseException | None = None
        self.done = threading.Event()

    def __call__(self) -> None:
        """Run the action, unless another thread does."""
        try:
            action = self._unclaimed.pop()
        except IndexError:
            return
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self.error = error
        finally:
            self.done.set()


def run_side_by_side(
    time: Time, actions: Sequence[Callable[[], object]], timeout_s: float | None = None
) -> tuple[int, ...]:
    """Run actions on the threads of a time, and wait for them.

    Without a timeout the calling thread runs what no other thread has begun. So actions may run others in this way, and
    need no free thread.

    Returns:
        The places of those that had not ended when the timeout, in real seconds, was over.

    Raises:
        BaseException: what the first of them that raised did, when all have ended or the time is over.
    """
    helps = timeout_s is None
    running = [_Running(action) for action in actions]
    if not helps or len(actions) > 1:
        for each in running:
            time.spawn(each)
    end_s = None if timeout_s is None else clock.monotonic() + timeout_s
    for each in running:
        if helps:
            each()
        each.done.wait(None if end_s is None else max(0.0, end_s - clock.monotonic()))
    errors = [each.error for each in running if each.error is not None]
    if errors:
        for each in running:
            each.error = None
        try:
            raise errors[0]
        finally:
            # Its traceback holds this frame.
            del errors
    return tuple(place for place, each in enumerate(running) if not each.done.is_set())
