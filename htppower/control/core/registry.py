"""What the sessions of one controller share: which are open, their caps, and how many inferences there were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.errors import SessionClosed

if TYPE_CHECKING:
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.learning.gap_timer import Record
    from htppower.control.learning.learnt import Learnt
    from htppower.control.plans.precedence import Claim


class Registry:
    """The open sessions. Who changes it has the line; any thread may read it.

    Attributes:
        sessions: the open sessions by number, each until its end was told.
        caps: the caps that are set.
        record: called with each inference of a session that is recorded; None if none is.
        learnt: what the sessions begin to learn with, and what keeps it; None if nothing does.
        closed: whether the controller is closed: no session is opened and no cap is set any more.
        ending: whether phases that begin on a closed session are let pass: the process is ending, or is a forked child.
    """

    def __init__(self) -> None:
        self.sessions: dict[int, SessionRecord] = {}
        self.caps: tuple[Claim, ...] = ()
        self.record: Record | None = None
        self.learnt: Learnt | None = None
        self.closed = False
        self.ending = False
        self._opened = 0
        # How many inferences those had that were removed.
        self._inferences = 0
        # Held for moments: what belongs together is read and changed at one time.
        self._lock = whole_lock()

    def all(self) -> tuple[SessionRecord, ...]:
        """Return the open sessions, in the order in which they were opened."""
        return tuple(self.sessions.values())

    def counted(self) -> tuple[tuple[SessionRecord, ...], int]:
        """Return the sessions, and how many inferences the ones that were removed had, at one time."""
        with self._lock:
            return self.all(), self._inferences

    def add(self, session: SessionRecord) -> None:
        """Add a session that is open; it is recorded, if the others are."""
        with self._lock:
            self.sessions[session.number] = session
            if self.record is not None:
                session.gate.record(self.record)

    def record_to(self, record: Record | None) -> None:
        """Record all sessions from now on, those that are opened later included; with None, none."""
        with self._lock:
            self.record = record
            for session in self.sessions.values():
                session.gate.record(record)

    def remove(self, session: SessionRecord) -> None:
        """Remove a session that is closed, and keep its count of inferences; removing it twice is fine."""
        inferences = session.gate.inferences
        with self._lock:
            if self.sessions.pop(session.number, None) is not None:
                self._inferences += inferences

    def next_number(self) -> int:
        """Return the number of a new session: one more than that before it."""
        self._opened += 1
        return self._opened

    def require_open(self) -> None:
        """Refuse a controller that is closed.

        Raises:
            SessionClosed: it is.
        """
        if self.closed:
            raise SessionClosed("the controller is closed: make a new one")

    def require_live(self, session: SessionRecord) -> None:
        """Refuse a session that is closed, or is being closed: its votes will never be in force.

        Raises:
            SessionClosed: it is, and the process is not being ended.
        """
        if (session.gate.closing or session.gone) and not self.ending:
            raise SessionClosed(f"{session!r} is closed: open a new session")

    def disown(self) -> None:
        """In a forked child: the ids are the parent's, and nothing is cast here."""
        self.closed = self.ending = True
        for session in self.sessions.values():
            session.disown()
        self.sessions = {}
        self._lock = whole_lock()
        self.record = None
