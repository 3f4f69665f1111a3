"""Process-wide settings: one value out of the wishes of all sessions.

RPC polling, adaptive polling and the control latency act on the whole process, whichever id they are set with. So what
is sent is never one session's wish, but the largest polling time and the smallest non-zero latency that any session's
votes ask for (``VoteOption.aggregate``); the last session to lower takes them back.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.votes.native import Option
    from htppower.votes.vote_set import VoteSet


class ProcessSettings:
    """The wishes of all sessions, counted by value: a change costs the same for one session and for thousands."""

    def __init__(self) -> None:
        self._wishes: dict[Option, Counter[int]] = {option: Counter() for option in PROCESS_WIDE}

    def replace(self, earlier: VoteSet | None, later: VoteSet | None) -> None:
        """Put one session's votes in the place of those it had."""
        if earlier is later:
            return
        for option, wishes in self._wishes.items():
            before = None if earlier is None else earlier.get(option)
            after = None if later is None else later.get(option)
            if before is not None:
                wishes[before] -= 1
                if not wishes[before]:
                    del wishes[before]
            if after is not None:
                wishes[after] += 1

    def arbitrate(self, votes: VoteSet) -> VoteSet:
        """Return a session's votes with the process's settings in the place of its wishes."""
        settings: dict[str, Any] = {}
        for option, wishes in self._wishes.items():
            about = VOTE_OPTIONS[option]
            settings[about.field] = about.aggregate(wishes) if wishes and about.aggregate else None
        return attrs.evolve(votes, **settings)
