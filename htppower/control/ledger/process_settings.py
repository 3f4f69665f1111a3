"""The settings of the process: one value that satisfies all sessions, and the values that are known to be in force.

RPC polling, adaptive polling and the control latency act on the whole process, whichever id they are set with. So each
session has a *wish*, the settings in its present votes, and the wishes of all sessions of all controllers on the
backend are combined into one value. When the last session with a wish lowers its votes, the settings are reset. The
line is held.
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
    """The wishes of all sessions, and the ledger of the settings that were sent.

    Args:
        missing: the options that the platform lacks, as far as calls have shown.
    """

    def __init__(self, missing: Missing) -> None:
        self._missing = missing
        self._ledger = Ledger(PROCESS_WIDE)
        # The sessions that have each wish.
        self._wishes: dict[VoteSet, set[SessionRecord]] = {}
        self._changes = 0
        # The last result of ``difference``, after its key: the content of the ledger, and how often the wishes and
        # the missing options had changed.
        self._found: tuple[InForce, int, int, VoteSet] | None = None

    @property
    def now(self) -> InForce:
        """The content of the ledger. It is replaced as a whole, so any thread may read it."""
        return self._ledger.now

    def ask(self, session: SessionRecord, votes: VoteSet | None) -> None:
        """Set the wish of a session to the settings in its votes; None removes the wish."""
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
        """Return the sessions that wish for this value of an option."""
        asking = (sessions for wish, sessions in list(self._wishes.items()) if wish.get(option) == value)
        return tuple(itertools.chain.from_iterable(map(tuple, asking)))

    def difference(self) -> VoteSet:
        """Return the settings to send, on any id, so that the combined wishes are in force."""
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
        """Record that a call with these settings begins."""
        self._ledger.sending(votes)

    def sent(self, votes: VoteSet) -> None:
        """Record that the call returned 0, so its settings are in force."""
        self._ledger.sent(votes)

    def refused(self, option: Option) -> None:
        """Record that an option is not in force, since it was refused."""
        self._ledger.refused(option)

    def doubt(self, option: Option) -> None:
        """Record that an option was refused that was accepted before: it is sent again with the next votes."""
        self._ledger.doubt(option)

    def forget(self) -> None:
        """Put every setting in doubt, so that it is sent again."""
        self._ledger.forget()

    def lose(self) -> None:
        """Record that the settings are gone with the link: wishes are sent again, and no other setting is reset."""
        self._ledger = Ledger(PROCESS_WIDE)

    def renew(self) -> None:
        """Record that the device was created again: refused settings are tried again."""
        self.lose()
        self._missing.forget_refused()


@functools.lru_cache(maxsize=256)
def _of_the_process(votes: VoteSet) -> VoteSet:
    """Return only the settings of the process in a vote set.

    Equal sets give the same object, and an empty one ``NOTHING``.
    """
    return first_equal(votes.without(*OF_AN_ID)) or NOTHING


@functools.lru_cache(maxsize=256)
def _aggregated(wishes: tuple[VoteSet, ...]) -> VoteSet:
    asked = {option: [wish.get(option) for wish in wishes if option in wish.options] for option in PROCESS_WIDE}
    found = {option: VOTE_OPTIONS[option].aggregate(values) for option, values in asked.items() if values}  # type: ignore[misc]
    return first_equal(VoteSet.of(found))
