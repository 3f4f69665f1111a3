"""What the controllers on one backend share: the settings of the process, the ids, and the line of its calls.

Two libraries of one host may each make a controller. Both act on one process: polling that one takes back is gone for
the other, too. So what is known of the settings of the process is known once for each backend, and cast by one at a
time. It decides nothing, takes no time and calls nobody: each controller casts through its own backend.

Backends are one where they are the same object, or say the same path: that of the vendor's library.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Protocol

from htppower.control.core.given_ids import GivenIds
from htppower.control.core.ledger import Ledger
from htppower.control.time.fair_lock import FairLock
from htppower.control.time.locks import Rank, make_lock
from htppower.votes.options import PROCESS_WIDE

if TYPE_CHECKING:
    from htppower.errors import VoteRejected
    from htppower.votes.vote_set import VoteSet


class Peer(Protocol):
    """What a controller hears from another one on its backend; no lock of that one's registry is held."""

    @property
    def owners(self) -> tuple[str, ...]:
        """What its open sessions are for, as far as they say so."""

    def lost_elsewhere(
        self, error: VoteRejected | None, restarts: int | None, *, earlier: bool, lasted_us: int
    ) -> None:
        """Take in that a call of the other has told that the link was lost; None for one that was interrupted.

        Args:
            error: the call.
            restarts: how many restarts had been told of when it began; None for one of a host's own.
            earlier: whether another one has been since, as far as the other knows.
            lasted_us: how long the call took.
        """

    def take_over(self) -> bool:
        """Take in that the other was closed, and has left settings of the process that are to be cast.

        Return whether this one sees to it: not while it leaves itself, nor once it has.
        """


class Member(Protocol):
    """What one controller asks of the process."""

    @property
    def number(self) -> int:
        """Which controller of the backend it is, from 1."""

    @property
    def peer(self) -> Peer | None:
        """Who hears of what others meet; None while the controller is made."""

    def wishes(self) -> list[VoteSet]:
        """Return what its sessions ask for and may get."""


class SharedBackend:
    """One backend, and the controllers on it.

    Args:
        backend: the one that answers.
        path: that of its library, or empty.

    Attributes:
        lock: protects the rest, and the wishes of every controller.
        turn: held over the call that changes the settings of the process.
        calls: the line of the calls, where the backend takes one at a time.
        ledger: what is known of the settings of the process.
        given: what the library has given each power config id for.
        changes: how often a wish has changed.
        joined: how many controllers there have been.
        restarts: how many calls have told of a restart.
    """

    def __init__(self, backend: object = None, path: str = "") -> None:
        self.lock = make_lock(Rank.SETTINGS)
        self.turn = make_lock(Rank.PROCESS)
        self.calls = FairLock(make_lock(Rank.CALL))
        self.ledger = Ledger(PROCESS_WIDE)
        self.given = GivenIds(self.lock)
        self.changes = self.restarts = 0
        self._backend = backend
        self._path = path
        # Replaced, and never changed. One that was collected shares no more.
        self._members: tuple[weakref.ref[Member], ...] = ()
        self.joined = 0
        self._warned = False

    def is_for(self, backend: object, path: str) -> bool:
        """Return whether this is the backend of that path, or, without one, that object."""
        return path == self._path if path else backend is self._backend

    @property
    def members(self) -> list[Member]:
        """What each controller asks of the process, in the order in which they came."""
        return [member for reference in self._members if (member := reference()) is not None]

    def join(self, member: Member) -> int:
        """Take in a controller; return its number. The first, also after the last has left, knows nothing."""
        with self.lock:
            others = tuple(reference for reference in self._members if reference() is not None)
            if not others:
                self.ledger = Ledger(PROCESS_WIDE)
            self._members = (*others, weakref.ref(member))
            self.joined += 1
            self.changes += 1
            return self.joined

    def restarted(self) -> None:
        """Take in that a call has told of a restart."""
        with self.lock:
            self.restarts += 1

    def leave(self, member: Member) -> None:
        """Let a controller go."""
        with self.lock:
            self._members = tuple(reference for reference in self._members if reference() not in (None, member))
            self.changes += 1

    def is_to_warn(self) -> bool:
        """Return whether nobody was told yet that controllers share it; to the first who asks."""
        with self.lock:
            first, self._warned = not self._warned, True
            return first
