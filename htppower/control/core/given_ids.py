"""What the library has given each power config id for, over all controllers on a backend.

A number is free once its id was destroyed, or once the library has forgotten all ids, as a restart of the DSP may make
it. It may be given again then, to any controller, while a call of whoever had it before is under way, and reaches the
new one. This table says where that may be so. Whoever had a number has none from when it is given to another.

Without a loss of votes a number that is given again was freed by the call that destroys it, and nothing crosses; but a
create that overlaps two of these on its number counts as crossed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.votes.native_codes import NULL_CLIENT

if TYPE_CHECKING:
    from htppower.control.core.ledger import Ledger
    from htppower.control.time.locks import Lock

# How many hits are kept. A create during which there are more counts as crossed.
MOST_HITS = 256
# In the place of a count of losses, which it never equals.
_CROSSED = -1


class Begun(NamedTuple):
    """How often votes had been lost when a create began, and how many hits there had been."""

    losses: int
    hits: int


class _Hit(NamedTuple):
    """A call that may have hit whoever has a number: that which destroys it, or a late one of whoever had it.

    Attributes:
        place: which it was, counted from 1.
        losses: how often votes had been lost as the create began that gave the destroyed id; or ``_CROSSED``.
    """

    place: int
    losses: int


@attrs.define(eq=False)
class _Given:
    """Who has a number, how often votes had been lost as its create began, and whether its destroy has begun."""

    ledger: Ledger
    losses: int
    ending: bool = False


class GivenIds:
    """The table. The lock protects it, and the number of every ledger of an id."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self._given: dict[int, _Given] = {}
        # By number the last hit, the oldest first.
        self._hit: dict[int, _Hit] = {}
        self._hits = self._losses = 0

    def lost(self) -> None:
        """Take in that votes were lost, or may have been, by any cause: the library may have forgotten all ids."""
        with self._lock:
            self._losses += 1

    def begin_create(self) -> Begun:
        """Return what ``take`` compares with, as a create begins."""
        with self._lock:
            return Begun(self._losses, self._hits)

    def take(self, made: Ledger, begun: Begun) -> bool:
        """Take in that the library has given an id; return whether a call meant for another id may hit it, or has.

        Whoever had its number has none from now on.
        """
        number = made.power_config_id
        given = _Given(made, begun.losses)
        with self._lock:
            before, hit = self._given.get(number), self._hit.get(number)
            crosses = self._hits - begun.hits > MOST_HITS
            if before is not None:
                # Unless it was freed by the call that destroys it.
                crosses |= not before.ending or before.losses != self._losses
            if hit is not None and hit.place > begun.hits:
                # Likewise.
                crosses |= hit.losses != self._losses
            self._given[number] = given
            if before is not None:
                before.ledger.power_config_id = NULL_CLIENT
            return crosses

    def begin_destroy(self, ledger: Ledger) -> int:
        """Take in that an id is about to be destroyed; return its number, 0 where it has none any more."""
        with self._lock:
            number = ledger.power_config_id
            given = self._given.get(number)
            if given is None or given.ledger is not ledger:
                return NULL_CLIENT
            if given.ending:
                # An exception such as Ctrl-C has come in the call before, which may have freed it.
                given.losses = _CROSSED
            given.ending = True
            return number

    def destroyed(self, ledger: Ledger, number: int) -> bool:
        """Take in that a call has destroyed a number; return whether that may have been the id of another."""
        with self._lock:
            given = self._given.get(number)
            if given is None:
                # That of another, who was destroyed, too.
                self._note_hit(number, _CROSSED)
            elif given.ledger is ledger:
                self._note_hit(number, given.losses)
                del self._given[number]
                ledger.power_config_id = NULL_CLIENT
            return given is not None and given.ledger is not ledger and given.losses != self._losses

    def not_destroyed(self, ledger: Ledger, number: int) -> bool:
        """Take in that a call that destroys a number has failed; return whether the ledger has it still."""
        with self._lock:
            given = self._given.get(number)
            if given is None or given.ledger is not ledger:
                return False
            given.ending = False
            return True

    def take_away(self, number: int, orphan: Ledger, orphans: dict[Ledger, None]) -> None:
        """Take in that a call may have hit whoever has a number: from now on an orphan has it, unless one has.

        It is added to the controller's orphans.
        """
        with self._lock:
            self._note_hit(number, _CROSSED)
            given = self._given.get(number)
            if given is not None and given.ledger not in orphans:
                # No call: an exception such as Ctrl-C comes before all of it, or after.
                orphans[orphan] = None
                owner, given.ledger = given.ledger, orphan
                owner.power_config_id = NULL_CLIENT

    def _note_hit(self, number: int, losses: int) -> None:
        self._hits += 1
        self._hit.pop(number, None)
        self._hit[number] = _Hit(self._hits, losses)
        if len(self._hit) > MOST_HITS:
            del self._hit[next(iter(self._hit))]
