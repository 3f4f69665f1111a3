"""The open sessions of one controller, with the controller's caps and its count of inferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.control.gate.counts import count_inferences
from htppower.errors import SessionClosed

if TYPE_CHECKING:
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.learning.gap_timer import Record
    from htppower.control.learning.learnt import Learnt
    from htppower.control.plans.precedence import Claim


class Registry:
    """The open sessions. Changes need the line; any thread may read.

    Attributes:
        sessions: the open sessions by number; a session is removed once its end is reported.
        caps: the caps of the controller that are set.
        record: called with each inference; None without a recording.
        learnt: keeps the learnt times over a restart; None without a file for them.
        closed: whether the controller is closed, so that no session is opened and no cap is set.
        ending: whether phases on a closed session run without votes, since the process is ending or is a forked child.
    """

    def __init__(self) -> None:
        self.sessions: dict[int, SessionRecord] = {}
        self.caps: tuple[Claim, ...] = ()
        self.record: Record | None = None
        self.learnt: Learnt | None = None
        self.closed = False
        self.ending = False
        self._opened = 0
        # How many inferences the removed sessions had.
        self._inferences = 0
        # Held for moments, so that ``sessions``, ``record`` and the count of inferences fit together.
        self._lock = whole_lock()

    def all(self) -> tuple[SessionRecord, ...]:
        """Return the open sessions, oldest first."""
        return tuple(self.sessions.values())

    def counted(self) -> tuple[tuple[SessionRecord, ...], int]:
        """Return the open sessions and the number of inferences of the removed ones, at one time."""
        with self._lock:
            return self.all(), self._inferences

    def add(self, session: SessionRecord) -> None:
        """Add an open session, and record it if there is a recording."""
        with self._lock:
            self.sessions[session.number] = session
            if self.record is not None:
                session.gate.record(self.record)

    def record_to(self, record: Record | None) -> None:
        """Record all sessions from now on, including those opened later; with None, record no session."""
        with self._lock:
            self._record(record)

    def end_record(self, record: Record) -> None:
        """End the recording of all sessions, unless another recording has begun."""
        with self._lock:
            # The session is not there if an earlier call was interrupted.
            if self.record in (record, None):
                self._record(None)

    def _record(self, record: Record | None) -> None:
        self.record = record
        for session in self.sessions.values():
            session.gate.record(record)

    def remove(self, session: SessionRecord) -> None:
        """Remove a closed session, and keep its count of inferences. Removing it twice is fine."""
        inferences = count_inferences(session.gate)
        with self._lock:
            if self.sessions.pop(session.number, None) is not None:
                self._inferences += inferences

    def next_number(self) -> int:
        """Return the number of a new session; sessions are numbered from 1."""
        self._opened += 1
        return self._opened

    def require_open(self) -> None:
        """Raise an error if the controller is closed.

        Raises:
            SessionClosed: the controller is closed.
        """
        if self.closed:
            raise SessionClosed("the controller is closed: make a new one")

    def require_live(self, session: SessionRecord) -> None:
        """Raise an error if a session is closed or being closed, since its votes will never be in force.

        Raises:
            SessionClosed: the session is closed or being closed, and the process is not ending.
        """
        if (session.gate.closing or session.gone) and not self.ending:
            raise SessionClosed(f"{session!r} is closed: open a new session")

    def disown(self) -> None:
        """In a forked child: forget the ids, which exist only in the parent, and send no votes."""
        self.closed = self.ending = True
        for session in self.sessions.values():
            session.disown()
        self.sessions = {}
        self._lock = whole_lock()
        self.record = None
