"""Which number the library gives for which power config id.

In a run every id is told from all others, by ``SimulatedHtp``. The library may give the number of one that is no more
for the next: of one that was destroyed, and, where a restart has forgotten all ids, of one that somebody still has.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.backends import SimulatedHtp


@attrs.define
class _Given:
    """What a number was given for last.

    Attributes:
        power_config_id: the id.
        ending: whether a call that destroys it is under way, or has taken effect.
        ended: whether that has returned.
    """

    power_config_id: int
    ending: bool = False
    ended: bool = False


class Numbers:
    """The numbers of ids.

    Args:
        htp: knows which ids are alive.
        lowest: whether the lowest free number is given, and not one that nobody had.

    Attributes:
        given_again: the numbers that were given more than once.
        shared: the ids that calls of another may reach: they were given a number that somebody had still.
        doubtful: those that may be taken for such: who had the number was just giving it back.
    """

    def __init__(self, htp: SimulatedHtp, *, lowest: bool) -> None:
        self._htp = htp
        self._lowest = lowest
        # By number, until everybody knows that it is destroyed.
        self._given: dict[int, _Given] = {}
        self._ids: dict[int, int] = {}
        # The ids that were created, and nobody was told.
        self._untold: set[int] = set()
        self.given_again: set[int] = set()
        self.shared: set[int] = set()
        self.doubtful: set[int] = set()

    def give(self, power_config_id: int) -> tuple[int, bool]:
        """Return the number of an id that was created, and whether another may have it still."""
        alive = self._htp._clients
        number = power_config_id
        if self._lowest:
            number = next(each for each in itertools.count(1) if self._ids.get(each) not in alive)
        if number in self._ids:
            self.given_again.add(number)
        before = self._given.get(number)
        if before is not None:
            # A number of which that is said already may be used in the end: the library may have no other.
            doubtful = before.ending or self.may_be_shared(before.power_config_id)
            (self.doubtful if doubtful else self.shared).add(power_config_id)
        self._untold.add(power_config_id)
        self._given[number] = _Given(power_config_id)
        self._ids[number] = power_config_id
        return number, before is not None

    def may_be_shared(self, power_config_id: int | None) -> bool:
        """Return whether calls of another may reach an id, or it may be taken for such."""
        return power_config_id in self.shared or power_config_id in self.doubtful

    def told(self, number: int, power_config_id: int, *, made: bool) -> bool:
        """Take in that a call on an id has returned, or has made it; return whether it is known to be another's by now.

        That is so for one that was made. Of another the controller may know or not that it was another's.
        """
        reached = self.id_of(number)
        self._untold.discard(power_config_id)
        if reached == power_config_id:
            return False
        (self.shared if made else self.doubtful).add(reached)
        return made

    def reach(self, number: int, meant: int) -> tuple[int, bool]:
        """Return the id that a call on a number reaches, and whether it is another than the one that is meant."""
        reached = self.id_of(number)
        crosses = reached != meant and reached in self._htp._clients
        if crosses:
            self.shared.add(reached)
        return reached, crosses

    def id_of(self, number: int) -> int:
        """Return the id that a call on a number reaches."""
        return self._ids.get(number, number)

    def ids(self, numbers: Iterable[int]) -> set[int]:
        """Return the ids that calls on numbers reach."""
        return {self.id_of(number) for number in numbers}

    def ending(self, number: int, power_config_id: int, *, ending: bool) -> None:
        """Take in that a call begins that destroys an id, or that it has failed."""
        given = self._given.get(number)
        if given is not None and given.power_config_id == power_config_id:
            given.ending = ending

    def destroyed(self, number: int, power_config_id: int) -> None:
        """Take in that a call that destroys an id has taken effect; it may be the id of another that it has reached."""
        given = self._given.get(number)
        if given is not None and given.power_config_id == power_config_id:
            given.ending = True
            if power_config_id in self._untold:
                self.doubtful.add(power_config_id)

    def told_destroyed(self, number: int, power_config_id: int) -> None:
        """Take in that it has returned."""
        given = self._given.get(number)
        # Whoever has one that calls of another may have destroyed has the number still.
        if given is not None and given.power_config_id == power_config_id and not self.may_be_shared(power_config_id):
            given.ended = True

    def quiet(self) -> None:
        """Take in that nobody can go on, and nobody is given any: who was told that it has none has taken that in."""
        for number in [each for each, given in self._given.items() if given.ended]:
            del self._given[number]
