"""What the library has given each power config id for, over all controllers on a backend.

A number is free once its id was destroyed, or once the library has forgotten all ids, as a restart of the DSP may make
it. It may be given again then, to any controller, while a call of whoever had it before is under way, and reaches the
new one. This table says where that may be so. Whoever had a number has none from when it is given to another. Where no
loss of votes is known, a number that is given again counts as freed by the call that destroys it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.control.core.ledger import Ledger
from htppower.votes.native_codes import NULL_CLIENT

if TYPE_CHECKING:
    from htppower.control.time.locks import Lock

# How many hits are kept. A create during which there are more counts as crossed.
MOST_HITS = 256
# In the place of a count of losses, which it never equals.
_MAY_BE_FREE = -1


class Counts(NamedTuple):
    """How often votes had been lost, and how many hits there had been: calls that may have hit whoever has a number."""

    losses: int
    hits: int


@attrs.define(eq=False)
class Given:
    """What a number was given for: whose it is, or was.

    Attributes:
        losses: how often votes had been lost as its create began; or that a call may have freed it since.
        ending: whether a call that destroys it has begun.
        unused: whether it was made an orphan here, of any controller: nobody votes on it.
    """

    number: int
    ledger: Ledger
    losses: int
    ending: bool = False
    unused: bool = False


class GivenIds:
    """The table. The lock protects it, and the number of every ledger of an id."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self._given: dict[int, Given] = {}
        # By number, and losses of whoever destroyed it, how many hits there had been with the last; the oldest first.
        self._hit: dict[tuple[int, int], int] = {}
        self._hits = self._losses = 0

    def lost(self) -> None:
        """Take in that votes were lost, or may have been, by any cause: the library may have forgotten all ids."""
        with self._lock:
            self._losses += 1

    def begin_create(self) -> Counts:
        """Return what ``take`` compares with, as a create begins."""
        with self._lock:
            return Counts(self._losses, self._hits)

    def take(self, made: Ledger, begun: Counts, orphans: dict[Ledger, None], *, at_any_rate: bool = False) -> bool:
        """Take in that the library has given an id; return whether another has lost it by that, who may have votes.

        Whoever had its number has none from now on. Where a call meant for another id may hit it, or has, it is added
        to the controller's orphans, unless it is used at any rate.
        """
        number = made.power_config_id
        given = Given(number, made, begun.losses)
        with self._lock:
            before, loses = self._given.get(number), False
            # A call that ended before is no matter, nor one that has freed the number: no votes were lost since then.
            losses = {begun.losses, self._losses}
            hits = [-1, *(hits for (other, old), hits in self._hit.items() if other == number and losses != {old})]
            crosses = max(hits) > begun.hits or self._hits - begun.hits > MOST_HITS
            # No call from here on: an exception such as Ctrl-C comes before all of it, or after.
            if before is not None:
                crosses |= not before.ending or losses != {before.losses}
                # Where nobody was told that the library has forgotten ids, that is news.
                is_news = not before.ending and before.losses == self._losses
                loses = is_news or not (before.ending or before.unused or before.ledger in orphans)
                self._losses += is_news
                before.ledger.power_config_id = NULL_CLIENT
            if crosses and not at_any_rate:
                given.unused, given.losses = True, _MAY_BE_FREE
                orphans[made] = None
            self._given[number] = given
            return loses

    def begin_destroy(self, ledger: Ledger) -> Given | None:
        """Take in that an id is about to be destroyed; return None where the ledger has no number any more."""
        with self._lock:
            number = ledger.power_config_id
            given = self._given.get(number)
            if given is None and number != NULL_CLIENT:
                # An exception such as Ctrl-C has come before it was taken in.
                given = self._given[number] = Given(number, ledger, _MAY_BE_FREE)
            if given is None or given.ledger is not ledger:
                return None
            given.ending = True
            return given

    def destroyed(self, given: Given, orphans: dict[Ledger, None]) -> bool:
        """Take in that a call has destroyed a number; return whether another may have lost it by that.

        An orphan has it then, as in ``take_away``.
        """
        with self._lock:
            now = self._given.get(given.number)
            if now is given:
                del self._given[given.number]
                given.ledger.power_config_id = NULL_CLIENT
            if now is given or now is None:
                self._note_hit(given.number, given.losses)
            # Without a loss since it was given it has freed the number, which was given after that.
            elif given.losses != self._losses:
                return self._take_away(now, orphans)
            return False

    def not_destroyed(self, ledger: Ledger) -> bool:
        """Take in that a call that destroys an id has failed, or was interrupted; return whether that is there still.

        It may have been carried out nevertheless. Where the number was given to another the ledger has none any more.
        """
        with self._lock:
            given = self._given.get(ledger.power_config_id)
            if given is None or given.ledger is not ledger:
                return False
            given.ending, given.losses = False, _MAY_BE_FREE
            return True

    def take_away(self, number: int, orphans: dict[Ledger, None]) -> bool:
        """Take in that votes may have hit whoever has a number: from now on an orphan has it, unless one has.

        It is added to the controller's orphans. Return that votes are lost: at least these.
        """
        with self._lock:
            self._note_hit(number, _MAY_BE_FREE)
            given = self._given.get(number)
            if given is not None:
                self._take_away(given, orphans)
            return True

    def _take_away(self, given: Given, orphans: dict[Ledger, None]) -> bool:
        given.losses = _MAY_BE_FREE
        if given.unused or given.ledger in orphans:
            return False
        owner, given.unused, given.ledger = given.ledger, True, Ledger(power_config_id=given.number)
        # Likewise.
        orphans[given.ledger] = None
        owner.power_config_id = NULL_CLIENT
        return True

    def _note_hit(self, number: int, losses: int) -> None:
        self._hits += 1
        self._hit.pop((number, losses), None)
        self._hit[number, losses] = self._hits
        if len(self._hit) > MOST_HITS:
            del self._hit[next(iter(self._hit))]
