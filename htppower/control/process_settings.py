"""The settings of the process: one value out of the wishes of all sessions, and what is known to be in force.

RPC polling, adaptive polling and the control latency act on the whole process, whichever id they are set with. So what
is sent is never one session's wish, but what the wishes of all sessions that are voted come to; the last session to
lower takes them back.

Whoever changes a wish sees to it that the settings follow: it takes the turn, looks what differs, and casts that. So
each change is cast by one, and who needs a setting that is just being cast waits for that call only.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.control.ledger import NOTHING, OF_AN_ID, InForce, Ledger
from htppower.control.locks import Rank, make_lock
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Collection

    from htppower.control.locks import Lock
    from htppower.votes.native import Option


class ProcessSettings:
    """What sessions ask of the settings of the process, and what is known of these.

    Args:
        lock: the registry's, which protects all but ``turn``.
        missing: the options that the library has refused as not on this platform.

    Attributes:
        turn: held over the call that changes the settings.
    """

    def __init__(self, lock: Lock, missing: Collection[Option]) -> None:
        self.turn = make_lock(Rank.PROCESS)
        self._lock = lock
        self._missing = missing
        # By what is asked for, the numbers of the sessions that ask for just that. Adding and removing may be done
        # twice: what an exception has interrupted is put right by doing it again.
        self._wishes: dict[VoteSet, set[int]] = {}
        self._ledger = Ledger(PROCESS_WIDE)
        # The difference, with what was known and what was missing when it was found; None once a wish has changed.
        self._found: tuple[InForce, int, VoteSet] | None = None

    @property
    def now(self) -> InForce:
        """What is known to be in force."""
        return self._ledger.now

    def ask(self, number: int, votes: VoteSet | None) -> bool:
        """Take a session's votes into the settings, in the place of those it had; with None, take it out of them.

        Return whether the session asks for any setting, or did.
        """
        wish = NOTHING if votes is None else _of_the_process(votes)
        asks = bool(wish)
        with self._lock:
            try:
                for other, numbers in list(self._wishes.items()):
                    asks |= number in numbers
                    if other is not wish:
                        numbers.discard(number)
                        if not numbers:
                            del self._wishes[other]
                if wish:
                    self._wishes.setdefault(wish, set()).add(number)
            finally:
                self._found = None
        return asks

    def asks_for(self, number: int, votes: VoteSet) -> bool:
        """Return whether a session asks for just what its votes say."""
        wish = _of_the_process(votes)
        with self._lock:
            return [other for other, numbers in self._wishes.items() if number in numbers] == ([wish] if wish else [])

    def holders(self, option: Option, value: int) -> tuple[int, ...]:
        """Return the numbers of the sessions that ask for a value."""
        with self._lock:
            asking = (numbers for wish, numbers in self._wishes.items() if wish.get(option) == value)
            return tuple(sorted(number for numbers in asking for number in numbers))

    def difference(self) -> VoteSet:
        """Return what must be sent, on any id, so that the settings that are wanted are in force."""
        found = self._found
        if found is None or found[0] is not self._ledger.now or found[1] != len(self._missing):
            with self._lock:
                missing, now = list(self._missing), self._ledger.now
                # One that nobody has is left where an interrupt came.
                wishes = tuple([wish for wish, numbers in self._wishes.items() if numbers])
                difference = self._ledger.difference(_aggregated(wishes)).without(*missing)
                self._found = found = (now, len(missing), difference)
        return found[2]

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

    def refused(self, option: Option) -> None:
        """Note that the platform does not have an option."""
        with self._lock:
            self._ledger.refused(option)

    def forget(self) -> None:
        """Know no longer which settings are in force."""
        with self._lock:
            self._ledger.forget()


@functools.lru_cache(maxsize=256)
def _of_the_process(votes: VoteSet) -> VoteSet:
    """Return what a vote set asks of the process: the same object for what is equal."""
    return _first_equal(votes.without(*OF_AN_ID))


@functools.lru_cache(maxsize=256)
def _first_equal(votes: VoteSet) -> VoteSet:
    return votes


@functools.lru_cache(maxsize=256)
def _aggregated(wishes: tuple[VoteSet, ...]) -> VoteSet:
    asked = {option: [wish.get(option) for wish in wishes if option in wish.options] for option in PROCESS_WIDE}
    return VoteSet.of({option: VOTE_OPTIONS[option].aggregate(values) for option, values in asked.items() if values})  # type: ignore[misc]


@functools.lru_cache(maxsize=256)
def merged(own: VoteSet, settings: VoteSet) -> VoteSet:
    """Return the votes of a call on an id that carries settings of the process besides."""
    return VoteSet.of({**dict(own.items()), **dict(settings.items())})
