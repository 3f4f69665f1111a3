"""What the host has asked for: phases, profiles, holds and caps, each certain, or possible while it is being asked for.

Until a call of the public API has returned, what it changes may have changed or not. So the profile that a session uses
is a set of possible ones, which has one element again when the calls have returned.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
from simulation.expectations import DOWN, decided, expected, lowered_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.expectations import Expected, InForce

# More changes at a time than this, and every profile is taken to be possible.
MOST_OPEN_CHANGES = 5


@attrs.define(eq=False)
class Claim:
    """A hold or a cap.

    Attributes:
        name: its profile's.
        certain: whether it is known to stand; otherwise it may stand or not.
        until_us: when a hold ends by itself.
        handle: what the controller returned.
    """

    name: str
    certain: bool = False
    until_us: int | None = None
    handle: Any = None


@attrs.define(eq=False)
class Use:
    """A profile that was asked for as a session's own; ``returned_at``: the step at which that returned, if it has."""

    name: str
    returned_at: int | None = None


@attrs.frozen
class Ended:
    """The phase of a session that ended last, if that is certain.

    Attributes:
        deinit: whether it was a DE-INIT.
        asked: how many calls of the public API there were until then that concern the session.
        name: the profile that was in use.
    """

    deinit: bool
    asked: int
    name: str


@attrs.define(eq=False)
class Client:
    """A session and what is asked of it.

    Attributes:
        place: which of the simulation's clients it is.
        other: whether it is of the second controller, which the caps of the first do not concern.
        cores: its cores; no other open session has any of them.
        session: what the controller returned; None while it is being opened.
        number: its number in events.
        uses: which own profiles are possible.
        holds: those that stand or may stand.
        inferences, preparations: phases that have begun for certain, and whose end was not asked for.
        asked: how many calls of the public API there were that concern it.
        unsettled: calls about phases that have not returned: what they change may have changed or not.
        must_until_us: until when its votes must stay up after the last phase.
        may_until_us: until when they may.
        open_at: what ``asked`` was when a phase that has begun found the votes up for certain, so that the next one may
            not wait; -1 if that is not known any more.
        ended: the phase that ended last.
        met: the profiles that it may have been using since.
        closing, closed: whether closing it was asked for, and has returned.
        ids: the power config ids that were created for it.
        endings: what to call of phases that end by themselves, once they have: when no task can go on.
        hints: how many hints it was given.
        ahead: from when to when votes must be up for a predicted begin, with ``asked`` then.
        up_us: since when votes have been up ahead of a begin.
        troubles: how often it was in trouble.
    """

    place: int
    cores: tuple[int, ...]
    uses: list[Use]
    session: Any = None
    number: int = 0
    holds: list[Claim] = attrs.field(factory=list)
    inferences: int = 0
    preparations: int = 0
    asked: int = 0
    unsettled: int = 0
    must_until_us: int = 0
    may_until_us: int = 0
    open_at: int = -1
    ended: Ended | None = None
    met: set[str] = attrs.field(factory=set)
    closing: bool = False
    closed: bool = False
    ids: list[int] = attrs.field(factory=list)
    endings: list[Callable[[], None]] = attrs.field(factory=list)
    hints: int = 0
    ahead: tuple[int, int, int] | None = None
    up_us: int | None = None
    troubles: int = 0
    other: bool = False
    _possible: tuple[object, list[Expected]] | None = None

    @property
    def busy(self) -> bool:
        """Whether a phase runs for certain."""
        return bool(self.inferences or self.preparations)

    def possible(self, caps: list[Claim]) -> list[Expected]:
        """Return the profiles that it may be using."""
        if self.other:
            caps = []
        key = (
            tuple([use.name for use in self.uses]),
            tuple([(hold.name, hold.certain) for hold in self.holds]) if self.holds else (),
            tuple([(cap.name, cap.certain) for cap in caps]) if caps else (),
        )
        if self._possible is None or self._possible[0] != key:
            self._possible = key, self._all_possible(caps)
        return self._possible[1]

    def _all_possible(self, caps: list[Claim]) -> list[Expected]:
        table = expected()
        open_changes = sum(not claim.certain for claim in (*self.holds, *caps))
        if open_changes > MOST_OPEN_CHANGES:
            return list(table.values())
        names = {
            decided(own, holds, limits)
            for own in {use.name for use in self.uses}
            for holds in _subsets(self.holds)
            for limits in _subsets(caps)
        }
        return [each for name, each in table.items() if name in names]

    def rests(self, caps: list[Claim]) -> frozenset[InForce]:
        """Return what may be in force on an id of a session that is LOWERED."""
        if self.ended is None:
            return DOWN
        possible = self.possible(caps)
        unchanged = self.ended.asked == self.asked and [each.profile.name for each in possible] == [self.ended.name]
        # Another profile that it was to use since may have lowered it, or not.
        self.meet(caps)
        met = possible if unchanged else [expected()[name] for name in self.met]
        return lowered_to(met, after_deinit=self.ended.deinit)

    def meet(self, caps: list[Claim]) -> None:
        """Take in that it may be using what it may be using now."""
        self.met.update(each.profile.name for each in self.possible(caps))

    def used(self, use: Use, step: int, begun_at: int) -> None:
        """Take in that a change of its own profile has returned: what was settled before it began is gone."""
        use.returned_at = step
        self.uses = [
            other for other in self.uses if other is use or other.returned_at is None or other.returned_at >= begun_at
        ]


def _subsets(claims: list[Claim]) -> list[list[str]]:
    certain = [claim.name for claim in claims if claim.certain]
    uncertain = [claim.name for claim in claims if not claim.certain]
    return [
        [*certain, *some] for count in range(len(uncertain) + 1) for some in itertools.combinations(uncertain, count)
    ]
