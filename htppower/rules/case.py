"""The input of the rules."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from htppower.errors import KeyPath
    from htppower.rules.platforms import Platform
    from htppower.votes.vote_set import VoteSet


@attrs.frozen
class Stay:
    """How long votes stay up, as a profile states it.

    Attributes:
        at: the keys of the field that states it.
        least_us, most_us: the shortest and the longest possible time; equal if the time is fixed.
        break_even_us: the break-even time from which the time is learnt, or None.
        is_learnt: the time is learnt from the gaps of a session.
    """

    at: KeyPath
    least_us: int
    most_us: int
    break_even_us: int | None = None
    is_learnt: bool = False


@attrs.frozen
class Case:
    """A vote set that is about to be sent, and its context.

    Attributes:
        votes: the vote set.
        platform: the platform that receives it, or None if unknown.
        in_force: the votes in force on the id, or None for a fresh id.
        lineage: the names of the profile and of all profiles that it extends; empty for a power state, or if one of
            these profiles can't be read.
        lowered: the votes of each power state that the profile relaxes to, by the name of the field; empty without a
            power state.
        after_init: how long the votes stay up after INIT.
        after_inference: the sustain time.
        in_background: after an inference, the votes are lowered outside the caller's thread.
        then: the votes of the second power state, or None.
        then_after: how long the first power state lasts before the second.
        raise_ahead_us: how long before a predicted inference the votes are raised.
    """

    votes: VoteSet
    platform: Platform | None = None
    in_force: VoteSet | None = None
    lineage: tuple[str, ...] = ()
    lowered: tuple[tuple[KeyPath, VoteSet], ...] = ()
    after_init: Stay | None = None
    after_inference: Stay | None = None
    in_background: bool = False
    then: VoteSet | None = None
    then_after: Stay | None = None
    raise_ahead_us: int = 0


class Applied(enum.Enum):
    """The state of a vote on an id."""

    APPLIED = "vote applied"
    NONE = "no vote"
    REMOVED = "vote removed"


@attrs.frozen
class ValidityRow:
    """One row of the vendor's table of HVX and HMX votes.

    Attributes:
        hvx, hmx: the state of each vote.
        pick_default: whether the HMX vote is the default; None stands for N/A in the table.
        valid: whether the library accepts the combination.
    """

    hvx: Applied
    hmx: Applied
    pick_default: bool | None
    valid: bool
