"""Interrupts: an exception from outside, such as Ctrl-C, may come between any two steps of a change.

A change of a gate, a claim or a plan is followed by settling its sessions. So it is made in a ``with`` block that notes
which they are: where an exception passes, they are settled on another thread. Settling compares what should be with
what is, so it does not matter how far the change had come. What an interrupted call has done, ``NativeCalls`` notes.
"""

from __future__ import annotations

import functools
import signal
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType


def is_from_outside(error: BaseException) -> bool:
    """Return whether a signal handler of the host's, such as a time limit, has raised an error.

    So has ``PyThreadState_SetAsyncExc``, where the error has passed no function below the one that handles it.
    """
    below = error.__traceback__ and error.__traceback__.tb_next
    if below is None:
        return True
    handlers = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()}
    while below is not None:
        if below.tb_frame.f_code in handlers:
            return True
        below = below.tb_next
    return False


@attrs.define(eq=False, repr=False, weakref_slot=False)
class Watch:
    """The context manager of a change.

    Args:
        sessions: which to settle where an exception passes that is none of ours.
        call_soon: runs an action on another thread, as that of ``Time``.
        settle: settles a session.
    """

    _sessions: Iterable[Any]
    _call_soon: Callable[[Callable[[], object]], object]
    _settle: Callable[[Any], object]

    def __enter__(self) -> None:
        """Begin the change."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, HtpPowerError):
            for session in self._sessions:
                self._call_soon(functools.partial(self._settle, session))
