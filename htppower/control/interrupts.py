"""Interrupts: an exception from outside, such as Ctrl-C, may come between any two steps of a change.

A change of a gate, a claim or a plan is followed by settling its sessions. So it is made in a ``with`` block that notes
which they are: where an exception passes, they are settled on another thread. Settling compares what should be with
what is, so it does not matter how far the change had come. What an interrupted call has
done, ``NativeCalls`` notes.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from htppower.control.session_record import SessionRecord


class Watch:
    """The context manager of a change.

    Args:
        sessions: which to settle where an exception passes that is none of ours.
        call_soon: runs an action on another thread, as that of ``Time``.
        settle: settles a session.
    """

    __slots__ = ("_call_soon", "_sessions", "_settle")

    def __init__(
        self,
        sessions: Iterable[SessionRecord],
        call_soon: Callable[[Callable[[], object]], object],
        settle: Callable[[SessionRecord], object],
    ) -> None:
        self._sessions = sessions
        self._call_soon = call_soon
        self._settle = settle

    def __enter__(self) -> None:
        """Begin the change."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, HtpPowerError):
            for session in self._sessions:
                self._call_soon(functools.partial(self._settle, session))
