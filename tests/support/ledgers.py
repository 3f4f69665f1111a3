"""The ledgers of an id and of the process together, as a call on the id needs them."""

from __future__ import annotations

import attrs

from htppower.control.ledger.ledger import Ledger
from htppower.votes.options import PROCESS_WIDE
from htppower.votes.vote_set import VoteSet


def merged(own: VoteSet, settings: VoteSet) -> VoteSet:
    """Return the votes of an id and the settings of the process together."""
    return VoteSet.of({**dict(own.items()), **dict(settings.items())})


@attrs.frozen
class Known:
    """The ledger of one id, and the ledger of the process, which all ids share."""

    own: Ledger = attrs.field(factory=Ledger)
    process: Ledger = attrs.field(factory=lambda: Ledger(PROCESS_WIDE))

    @property
    def in_force(self) -> VoteSet:
        """The votes known to be in force on the id, and in the process."""
        return merged(self.own.now.known, self.process.now.known)

    def difference(self, wanted: VoteSet) -> VoteSet:
        """Return the votes that a call on the id must carry to bring the wanted votes into force."""
        return merged(self.own.difference(wanted), self.process.difference(wanted))

    def sending(self, votes: VoteSet) -> None:
        """Record that a call is about to carry these votes, each in its own ledger."""
        self.own.sending(votes)
        self.process.sending(votes)

    def sent(self, votes: VoteSet) -> None:
        """Record that the call returned 0."""
        self.own.sent(votes)
        self.process.sent(votes)

    def cast(self, wanted: VoteSet) -> VoteSet:
        """Record a successful call with the missing votes, and return these."""
        votes = self.difference(wanted)
        self.sending(votes)
        self.sent(votes)
        return votes

    def fail(self, wanted: VoteSet) -> None:
        """Record a failed call with the missing votes."""
        self.sending(self.difference(wanted))
