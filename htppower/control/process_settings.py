"""Process-wide settings: one value out of the wishes of all sessions.

RPC polling, adaptive polling and the control latency act on the whole process, whichever id they are set with. So what
is sent is never one session's wish, but the largest polling time and the smallest non-zero latency that any session's
votes ask for; the last session to lower takes them back.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.native import Option
from htppower.votes.vote_set import PROCESS_WIDE, SEND_ORDER, VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _smallest_wish(latencies_us: list[int]) -> int:
    """Return the smallest latency that is a vote at all: 0 is none (rule RPC-5)."""
    return min((latency_us for latency_us in latencies_us if latency_us), default=0)


# Of several thresholds for adaptive polling the largest touches the fewest inferences of the others.
_CHOICE: Mapping[Option, Callable[[list[int]], int]] = {
    Option.RPC_CONTROL_LATENCY: _smallest_wish,
    Option.RPC_POLLING_TIME: max,
    Option.ADAPTIVE_POLLING_TIME: max,
}


class Arbiter:
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
        settings: dict[str, Any] = {
            SEND_ORDER[option]: _CHOICE[option](list(wishes)) if wishes else None
            for option, wishes in self._wishes.items()
        }
        return attrs.evolve(votes, **settings)
