"""The settings of the process: one value for the wishes of all sessions, and the values known to be in force.

RPC polling, adaptive polling and the control latency act on the whole process, whichever id they are set with. So the
wishes of all sessions with votes, on every controller of the backend, are combined into one value. The last session
that lowers its votes takes the settings back. The line is held.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

from htppower.control.ledger.ledger import NOTHING, OF_AN_ID, InForce, Ledger
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet, first_equal

if TYPE_CHECKING:
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.plans import Missing
    from htppower.votes.native import Option


class ProcessSettings:
    """The wishes, and the ledger of the process.

    Args:
        missing: the options that calls have shown to be missing on the platform.
    """

    def __init__(self, missing: Missing) -> None:
        self._missing = missing
        self._ledger = Ledger(PROCESS_WIDE)
        # The sessions by their wish.
        self._wishes: dict[VoteSet, set[SessionRecord]] = {}
        self._changes = 0
        # The last difference, and its key: the content of the ledger, and how often wishes and missing options had
        # changed.
        self._found: tuple[InForce, int, int, VoteSet] | None = None

    @property
    def now(self) -> InForce:
        """The content of the ledger. It is replaced as a whole, so any thread may read it."""
        return self._ledger.now

    def ask(self, session: SessionRecord, votes: VoteSet | None) -> None:
        """Replace the wish of a session by the settings in its votes; with None, forget the wish."""
        wish = NOTHING if votes is None else _of_the_process(votes)
        if wish is session.wish:
            return
        if session.wish is not NOTHING:
            others = self._wishes[session.wish]
            others.discard(session)
            if not others:
                del self._wishes[session.wish]
        if wish is not NOTHING:
            self._wishes.setdefault(wish, set()).add(session)
        session.wish = wish
        self._changes += 1

    def asks_for(self, session: SessionRecord, votes: VoteSet) -> bool:
        """Return whether the wish of a session equals the settings in its votes."""
        return session.wish is _of_the_process(votes)

    def holders(self, option: Option, value: int) -> tuple[SessionRecord, ...]:
        """Return the sessions that wish for a value of an option."""
        asking = (sessions for wish, sessions in list(self._wishes.items()) if wish.get(option) == value)
        return tuple(itertools.chain.from_iterable(map(tuple, asking)))

    def difference(self) -> VoteSet:
        """Return the settings to send, on any id, so that the wishes are in force."""
        key = (self._ledger.now, self._changes, self._missing.changes)
        if self._found is not None and self._found[:3] == key:
            return self._found[3]
        difference = self._ledger.difference(_aggregated(tuple(self._wishes)))
        absent = tuple(self._missing.options)
        if absent:
            difference = difference.without(*absent) or NOTHING
        self._found = (*key, difference)
        return difference

    def sending(self, votes: VoteSet) -> None:
        """Note that a call with these settings begins."""
        self._ledger.sending(votes)

    def sent(self, votes: VoteSet) -> None:
        """Note that the call returned 0."""
        self._ledger.sent(votes)

    def refused(self, option: Option) -> None:
        """Note that an option is not in force, since it was refused."""
        self._ledger.refused(option)

    def doubt(self, option: Option) -> None:
        """Note that an option is refused which was accepted before: it is sent again with the next votes."""
        self._ledger.doubt(option)

    def forget(self) -> None:
        """Put every setting in doubt, so that it is sent again."""
        self._ledger.forget()

    def lose(self) -> None:
        """Note that the settings are gone with the link: wishes are sent again, and no setting is taken back."""
        self._ledger = Ledger(PROCESS_WIDE)

    def renew(self) -> None:
        """Note that the link is made anew: refused settings are tried again."""
        self.lose()
        self._missing.forget_refused()


@functools.lru_cache(maxsize=256)
def _of_the_process(votes: VoteSet) -> VoteSet:
    """Return the settings of the process in a vote set: one object for all equal sets, ``NOTHING`` if empty."""
    return first_equal(votes.without(*OF_AN_ID)) or NOTHING


@functools.lru_cache(maxsize=256)
def _aggregated(wishes: tuple[VoteSet, ...]) -> VoteSet:
    asked = {option: [wish.get(option) for wish in wishes if option in wish.options] for option in PROCESS_WIDE}
    found = {option: VOTE_OPTIONS[option].aggregate(values) for option, values in asked.items() if values}  # type: ignore[misc]
    return first_equal(VoteSet.of(found))
