"""The settings of the process: one value out of the wishes of all sessions, and what is known to be in force.

RPC polling, adaptive polling and the control latency act on the whole process, whichever id they are set with. So what
is sent is never one session's wish, but what the wishes of all sessions that are voted come to, those of other
controllers on the same backend included; the last session to lower takes them back.

Whoever changes a wish sees to it that the settings follow: it takes the turn, looks what differs, and casts that. So
each change is cast by one, and who needs a setting that is just being cast waits for that call only.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

from htppower.control.core.ledger import NOTHING, OF_AN_ID, InForce
from htppower.control.core.shared_backend import SharedBackend
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet, first_equal

if TYPE_CHECKING:
    from collections.abc import Collection

    from htppower.control.core.ledger import Ledger
    from htppower.control.core.shared_backend import Member, Peer
    from htppower.control.time.locks import Lock
    from htppower.votes.native import Option


class ProcessSettings:
    """What the sessions of one controller ask of the settings of the process, and what is known of these.

    Args:
        missing: the options that the library has refused as not on this platform.
        shared: what it shares with other controllers; with none unless given.

    Attributes:
        turn: held over the call that changes the settings.
        shared: what it shares with other controllers.
        number: which controller of the backend it is, from 1.
        peer: who hears of what others meet.
    """

    turn: Lock
    peer: Peer | None = None
    shared: SharedBackend
    _lock: Lock
    _ledger: Ledger

    def __init__(self, missing: Collection[Option], shared: SharedBackend | None = None) -> None:
        self._missing = missing
        # By what is asked for, the numbers of the sessions that ask for just that. Adding and removing may be done
        # twice: what an exception has interrupted is put right by doing it again.
        self._wishes: dict[VoteSet, set[int]] = {}
        # The numbers of those that asked for what is still to be taken back.
        self._asked: set[int] = set()
        # The difference, with what was known, how often wishes had changed, and what was missing when it was found.
        self._found: tuple[InForce, int, int, VoteSet] | None = None
        self._share(SharedBackend() if shared is None else shared)

    def _share(self, shared: SharedBackend) -> None:
        self.shared = shared
        self._left = False
        self.number = shared.join(self)
        self.turn, self._lock, self._ledger = shared.turn, shared.lock, shared.ledger

    @property
    def others(self) -> list[Member]:
        """Those of the other controllers that share the settings; none once this one has left."""
        members = self.shared.members
        return [member for member in members if member is not self] if self in members else []

    @property
    def peers(self) -> list[Peer]:
        """The other controllers that share the settings, also once this one has left: it may still meet something."""
        others = (member for member in self.shared.members if member is not self)
        return [other.peer for other in others if other.peer is not None]

    @property
    def now(self) -> InForce:
        """What is known to be in force."""
        return self._ledger.now

    def ask(self, number: int, votes: VoteSet | None) -> bool:
        """Take a session's votes into the settings, in the place of those it had; with None, take it out of them.

        Return whether the session asks for any setting, or did and that may not have been taken back yet.
        """
        wish = NOTHING if votes is None else _of_the_process(votes)
        with self._lock:
            try:
                self._take_out(number, wish)
                if wish is not NOTHING:
                    self._wishes.setdefault(wish, set()).add(number)
            finally:
                self.shared.changes += 1
            asks = wish is not NOTHING or number in self._asked
            self._forget_taken_back()
        return asks

    def _forget_taken_back(self) -> None:
        """Forget who asked for something, unless that is still to be taken back. The lock is held."""
        if self._asked and not self.difference():
            self._asked.clear()

    def _take_out(self, number: int, wish: VoteSet) -> None:
        """Take a session out of the wishes but for one. The lock is held."""
        for other, numbers in list(self._wishes.items()):
            if other is not wish:
                if number in numbers:
                    # First: where an exception comes before it is out, it is found in here again.
                    self._asked.add(number)
                    numbers.discard(number)
                if not numbers:
                    del self._wishes[other]

    def asks_for(self, number: int, votes: VoteSet) -> bool:
        """Return whether a session asks for just what its votes say."""
        wish = _of_the_process(votes)
        with self._lock:
            asked = tuple(each for each, numbers in self._wishes.items() if number in numbers)
            return asked == (() if wish is NOTHING else (wish,))

    def holders(self, option: Option, value: int) -> tuple[int, ...]:
        """Return the numbers of the sessions that ask for a value."""
        with self._lock:
            asking = (numbers for wish, numbers in self._wishes.items() if wish.get(option) == value)
            return tuple(sorted(itertools.chain.from_iterable(asking)))

    def difference(self) -> VoteSet:
        """Return what must be sent, on any id, so that the settings that are wanted are in force: see ``Ledger``.

        That is nothing once this controller has left.
        """
        if self._found is not None:
            now, changes, missing, difference = self._found
            if now is self._ledger.now and changes == self.shared.changes and missing == len(self._missing):
                return difference
        with self._lock:
            now, changes, absent = self._ledger.now, self.shared.changes, list(self._missing)
            difference = self._ledger.difference(_aggregated(self._asked_by_all()))
            if absent:
                difference = difference.without(*absent) or NOTHING
            if self._left:
                # What is in force by now is the others'.
                difference = NOTHING
            self._found = (now, changes, len(absent), difference)
            return difference

    def _asked_by_all(self) -> tuple[VoteSet, ...]:
        # One that nobody has is left where an interrupt came.
        wishes = [wish for wish, numbers in self._wishes.items() if numbers]
        if self.shared.joined > 1:
            wishes.extend(wish for other in self.others for wish in other.wishes())
        return tuple(wishes)

    def wishes(self) -> list[VoteSet]:
        """Return what the sessions ask for and the platform was not found to lack. The lock is held."""
        return [wish.without(*list(self._missing)) for wish, numbers in self._wishes.items() if numbers]

    def take(self) -> VoteSet:
        """Return what must be sent, and note that a call is about to carry it.

        In one step: whoever asks meanwhile for what is in force until then must see that it is in doubt.
        """
        with self._lock:
            taken = self.difference()
            if taken:
                self._ledger.sending(taken)
            return taken

    def sending(self, votes: VoteSet) -> InForce:
        """Note that a call is about to carry these votes; return what was known then, for ``sent``."""
        with self._lock:
            self._ledger.sending(votes)
            return self._ledger.now

    def sent(self, votes: VoteSet, since: InForce) -> None:
        """Note that the call returned 0, unless what is known was changed meanwhile."""
        with self._lock:
            if self._ledger.now is since:
                self._ledger.sent(votes)
                self._forget_taken_back()

    def refused(self, option: Option) -> None:
        """Note that the platform does not have an option."""
        with self._lock:
            self._ledger.refused(option)
            self.shared.changes += 1

    def give_up(self, option: Option) -> bool:
        """Take back an option no more that was refused; return False where it was taken before, or is asked for.

        One that was never taken is not in force.
        """
        if option in self.now.accepted:
            return False
        self.refused(option)
        return option not in self.difference().options

    def forget(self) -> None:
        """Know no longer which settings are in force: they may have been lost, and are sent again."""
        with self._lock:
            self._ledger.forget()

    def lose(self) -> None:
        """Take in that they are lost, in a restart: whoever wants any votes them again, and nobody takes them back."""
        with self._lock:
            self._ledger.forget()
            self._asked.clear()

    def leave(self) -> bool:
        """Share no more where nothing is left to cast, or another controller sees to it; return whether that is so."""
        # First: an exception such as Ctrl-C may keep what is left from being said later.
        taken_over = [peer.take_over() for peer in self.peers if self.difference()]
        with self._lock:
            is_left = self in self.shared.members and bool(self.difference())
            if is_left and not any(taken_over):
                return False
            self._left = True
            self.shared.leave(self)
            return True

    def disown(self) -> None:
        """In a forked child: the settings are the parent's, and a thread of that may have held their locks."""
        self._wishes = {}
        self._share(SharedBackend())


@functools.lru_cache(maxsize=256)
def _of_the_process(votes: VoteSet) -> VoteSet:
    """Return what a vote set asks of the process: the same object for what is equal, ``NOTHING`` for nothing."""
    return first_equal(votes.without(*OF_AN_ID)) or NOTHING


@functools.lru_cache(maxsize=256)
def _aggregated(wishes: tuple[VoteSet, ...]) -> VoteSet:
    asked = {option: [wish.get(option) for wish in wishes if option in wish.options] for option in PROCESS_WIDE}
    found = {option: VOTE_OPTIONS[option].aggregate(values) for option, values in asked.items() if values}  # type: ignore[misc]
    return first_equal(VoteSet.of(found))


@functools.lru_cache(maxsize=256)
def merged(own: VoteSet, settings: VoteSet) -> VoteSet:
    """Return the votes of a call on an id that carries settings of the process besides."""
    return VoteSet.of({**dict(own.items()), **dict(settings.items())})
