"""What all sessions of a controller share: which are open, and how often the link to the DSP was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.time.locks import Rank, make_lock
from htppower.errors import SessionClosed
from htppower.votes.native_codes import NULL_CLIENT

if TYPE_CHECKING:
    from htppower.control.core.ledger import Ledger
    from htppower.control.core.precedence import Claim
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.learning.learnt import Learnt
    from htppower.control.learning.watch import Record


class Registry:
    """The open sessions.

    Attributes:
        lock: protects the rest, claims, plans, and the back-off.
        opening: the sessions that are being opened.
        sessions: the open sessions by number, each until its end was told.
        epoch: how often the link to the DSP was lost, or may have been where a call was interrupted. What was sent in
            an earlier epoch is unknown.
        orphans: the ids that no session has any more, and that are not destroyed yet, by what is known of them;
            who adds or removes one has no lock. They are used for nothing else, but for those that are borrowed. One
            without a number is none any more: the library has given that to another.
        doubtful: whether the link may have been lost, which an exception such as Ctrl-C has kept from being taken in;
            also while one is being taken in, under the lock.
        borrowed: the orphans that the controller has made for itself, and uses.
        left: what it made for itself last, by device and core; an orphan where it could not be destroyed.
        cores: the devices and cores on which ids were created, the one where that was done last at the end.
        caps: the caps that are set.
        record: is called with each inference of a session that is recorded, None where none are.
        inferences: how many inferences the sessions had that are not open any more.
        learnt: what the sessions begin to learn with, and what keeps it; None where nothing does.
        closed: whether the controller is closed: no session is opened and no cap is set any more.
        ending: whether phases that begin on a closed session are let pass: the process is ending, or is a forked child.
    """

    def __init__(self) -> None:
        self.lock = make_lock(Rank.REGISTRY)
        self.opening: set[SessionRecord] = set()
        self.sessions: dict[int, SessionRecord] = {}
        self.epoch = 0
        self.doubtful = False
        self.orphans: dict[Ledger, None] = {}
        self.borrowed: set[Ledger] = set()
        self.left: dict[tuple[int, int], Ledger] = {}
        self.cores: dict[tuple[int, int], None] = {}
        self.caps: tuple[Claim, ...] = ()
        self.record: Record | None = None
        self.inferences = 0
        self.learnt: Learnt | None = None
        self.closed = False
        self.ending = False
        self._opened = 0

    def all(self) -> tuple[SessionRecord, ...]:
        """Return the open sessions, in the order in which they were opened."""
        with self.lock:
            return tuple(self.sessions.values())

    def counted(self) -> tuple[tuple[SessionRecord, ...], int]:
        """Return the sessions, and how many inferences the ones that were removed had, at one time."""
        with self.lock:
            return tuple(self.sessions.values()), self.inferences

    def remove(self, session: SessionRecord) -> None:
        """Remove a session that is closed, and keep its count of inferences; removing it twice is fine."""
        with self.lock:
            if self.sessions.pop(session.number, None) is not None:
                self.inferences += session.gate.inferences

    def all_orphans(self) -> list[Ledger]:
        """Return the orphans, but for those that are borrowed."""
        # They come and go without the lock. Making a list is one step, also without the interpreter's lock.
        orphans = list(self.orphans)
        return [each for each in orphans if each not in self.borrowed]

    @property
    def orphan_ids(self) -> tuple[int, ...]:
        """The numbers of the orphans, but for those that are borrowed."""
        numbers = [each.power_config_id for each in self.all_orphans()]
        return tuple(number for number in numbers if number != NULL_CLIENT)

    def note_core(self, device_id: int, core_id: int) -> None:
        """Take in that an id was created on a core. Each step is one by itself, also without the interpreter's lock."""
        self.cores.pop((device_id, core_id), None)
        self.cores[device_id, core_id] = None

    def next_number(self) -> int:
        """Return the number of a new session: one more than that before it."""
        with self.lock:
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
        self.lock = make_lock(Rank.REGISTRY)
        self.closed = self.ending = True
        for session in self.sessions.values():
            session.disown()
        self.sessions, self.opening = {}, set()
        self.orphans = {}
        self.record = None
