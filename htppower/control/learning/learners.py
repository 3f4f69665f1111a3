"""What learns a time of one session: one learner for each profile that it has used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.profiles.sustain import Adaptive
    from htppower.sustain.learner import Learner


class Learners:
    """The learners of a session, by profile: a hold that ends finds what was learnt before it."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[tuple[str, Adaptive], Learner] = {}

    def find(self, profile: str, sustain: Adaptive, make: Callable[[Adaptive], Learner]) -> Learner:
        """Return the one of a profile; ``make`` returns a new one where the session has not used that before."""
        known = self._kept.get((profile, sustain))
        if known is None:
            known = self._kept[profile, sustain] = make(sustain)
        return known

    def states(self) -> list[tuple[str, Adaptive, dict[str, int | list[int]]]]:
        """Return the profiles, how their time is learnt, and what is known of it."""
        return [(profile, sustain, learner.state()) for (profile, sustain), learner in self._kept.items()]
