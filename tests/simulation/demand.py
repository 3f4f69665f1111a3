"""The demand of the host: phases, profiles, holds and caps. Each of these is certain, or only possible during its call.

Until a call of the public API returns, the change that it makes may be in force or not. So a session has a set of
possible profiles, and after all calls have returned there is one profile in this set.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
from simulation.expectations import DOWN, decided, expected, lowered_to

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.expectations import Expected, InForce

# If more changes than this are under way, every profile is taken to be possible.
MOST_OPEN_CHANGES = 5


@attrs.define(eq=False)
class Claim:
    """A hold or a cap of a profile.

    Attributes:
        certain: whether it is certainly in force; otherwise this is not known.
        until_us: the time at which a hold ends by itself.
    """

    name: str
    certain: bool = False
    until_us: int | None = None
    handle: Any = None


@attrs.define(eq=False)
class Use:
    """A profile that was requested as a session's own; ``returned_at``: the step at which that call returned."""

    name: str
    returned_at: int | None = None


@attrs.frozen
class Ended:
    """The last phase that ended, if the order of ends is certain; with ``Client.asked`` and the profile at its end."""

    deinit: bool
    asked: int
    name: str


@attrs.define(eq=False)
class Client:
    """A session, and what its host has requested of it.

    Attributes:
        cores: no other open session has any of these cores.
        uses, holds: the possible own profiles, and the holds that are, or may be, in force.
        session: the session of the controller; None while it is being opened.
        inferences, preparations: phases that have certainly begun, and whose end was not requested yet.
        asked: how many calls of the public API concerned the session.
        unsettled: calls about phases that have not returned, so that it is not known whether their change is in force.
        must_until_us, may_until_us: the times until which the votes must, and may, stay up after the last phase.
        open_at: the value of ``asked`` when a phase has begun with the votes certainly up, so that the next phase must
            not wait; -1 if the votes may be down.
        ended: the last phase that ended.
        met: the profiles that the session may have used since the end of that phase.
        closing, closed: whether its close was requested, and whether the close has returned.
        endings: functions to call when no task can run: phases that end by themselves have ended then.
        ahead: the times from which and until which votes must be up for a predicted begin, and ``asked`` at that
            moment.
        up_us: the time since when votes have been up ahead of a begin.
        troubles: how often the session was in trouble.
        other: whether the session is the second controller's, to which the caps of the first do not apply.
    """

    place: int
    cores: tuple[int, ...]
    uses: list[Use]
    session: Any = None
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
        """Whether a phase certainly runs."""
        return bool(self.inferences or self.preparations)

    def begins(self) -> None:
        """Record that a phase is about to begin."""
        self.unsettled += 1
        self.ended = self.ahead = self.up_us = None

    def possible(self, caps: list[Claim]) -> list[Expected]:
        """Return the profiles that the session may be using."""
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
        if sum(not claim.certain for claim in (*self.holds, *caps)) > MOST_OPEN_CHANGES:
            return list(table.values())
        names = {
            decided(own, holds, limits)
            for own in {use.name for use in self.uses}
            for holds in _subsets(self.holds)
            for limits in _subsets(caps)
        }
        return [each for name, each in table.items() if name in names]

    def rests(self, caps: list[Claim]) -> frozenset[InForce]:
        """Return the votes that may be in force on an id of a LOWERED session."""
        if self.ended is None:
            return DOWN
        possible = self.possible(caps)
        unchanged = self.ended.asked == self.asked and [each.profile.name for each in possible] == [self.ended.name]
        # Another profile that was requested since then may have lowered the votes.
        self.meet(caps)
        met = possible if unchanged else [expected()[name] for name in self.met]
        return lowered_to(met, after_deinit=self.ended.deinit)

    def meet(self, caps: list[Claim]) -> None:
        """Record the profiles that the session may be using now."""
        self.met.update(each.profile.name for each in self.possible(caps))

    def used(self, use: Use, step: int, begun_at: int) -> None:
        """Record that a change of the own profile has returned.

        It replaces all profiles whose calls returned before it began.
        """
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
