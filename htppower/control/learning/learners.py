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
        key = profile, sustain
        known = self._kept.get(key)
        if known is None:
            known = make(sustain)
        # In one step: what was learnt is not lost where an exception such as Ctrl-C comes.
        self._kept = {**{other: each for other, each in self._kept.items() if other != key}, key: known}
        return known

    def states(self) -> list[tuple[str, Adaptive, dict[str, int | list[int]]]]:
        """Return the profiles, how their time is learnt, and what is known of it; the one that was used last is last.

        Of a profile that was changed, such as in its file, there are several.
        """
        return [(profile, sustain, learner.state()) for (profile, sustain), learner in self._kept.items()]
