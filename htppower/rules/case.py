"""What the rules look at."""

import enum
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors import KeyPath
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.rules.platforms import Platform

# No postponed annotations here: a named tuple would compile each of its types anew, which costs start-up.


class Stay(NamedTuple):
    """A time for which votes stay up, as a profile states it.

    Attributes:
        at: the field that states it.
        least_us, most_us: the shortest and the longest that it may be; of a fixed time both are that.
        break_even_us: the break-even time by which it is learnt, or None.
        is_learnt: it is learnt from the gaps of a session.
    """

    at: KeyPath
    least_us: int
    most_us: int
    break_even_us: int | None = None
    is_learnt: bool = False


class Case(NamedTuple):
    """A vote set about to be sent, and what is known around it.

    Attributes:
        votes: the vote set.
        platform: where it is sent, or None where that is not known.
        in_force: the votes in force on the id, or None for a fresh id.
        lineage: the profile's name and those it extends; empty for a power state, and where not all of them
            can be read.
        lowered: the votes of each power state that the profile relaxes to, by the field that names it; none where it
            names none.
        after_init: how long its votes stay up after INIT.
        after_inference: its sustain time.
        in_background: its votes are to be lowered off the caller's thread after an inference.
        then: the votes of the power state to which it relaxes further, or None.
        then_after: how long after it was relaxed.
        raise_ahead_us: how long before a predicted inference its votes are raised.
    """

    votes: VoteSet
    platform: "Platform | None" = None
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
    """What has become of a vote on an id."""

    APPLIED = "vote applied"
    NONE = "no vote"
    REMOVED = "vote removed"


class ValidityRow(NamedTuple):
    """One row of the vendor's table of HVX and HMX votes.

    Attributes:
        hvx, hmx: what has become of each vote.
        pick_default: whether the HMX vote is the default; None is the table's N/A.
        valid: whether the library takes it.
    """

    hvx: Applied
    hmx: Applied
    pick_default: bool | None
    valid: bool
