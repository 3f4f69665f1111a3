"""What the rules look at."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from htppower.errors import KeyPath
    from htppower.rules.platforms import Platform
    from htppower.votes.vote_set import VoteSet


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
        after_inference_us: the profile's sustain time.
        after_init_us: how long its votes stay up after INIT.
        in_background: its votes are to be lowered off the caller's thread after an inference.
    """

    votes: VoteSet
    platform: Platform | None = None
    in_force: VoteSet | None = None
    lineage: tuple[str, ...] = ()
    lowered: tuple[tuple[KeyPath, VoteSet], ...] = ()
    after_inference_us: int = 0
    after_init_us: int = 0
    in_background: bool = False


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
