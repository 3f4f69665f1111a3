"""The history of a session: what it has done and for how long, for its status. Its turn protects it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors import kept
from htppower.events import State

if TYPE_CHECKING:
    from htppower.errors import VoteRejected
    from htppower.events import Cause

_PLACES = {state: place for place, state in enumerate(State)}


@attrs.frozen(weakref_slot=False)
class LastCall:
    """A session's last native call.

    Attributes:
        time_us: when it returned, by the controller's clock.
        function: the native function.
        power_config_id: the id; None for a create that failed.
        code: the native code; 0 is success.
        duration_us: how long it took.
    """

    time_us: int
    function: str
    power_config_id: int | None
    code: int
    duration_us: int


@attrs.frozen
class LastError:
    """The last native call of a session that failed, kept also after others succeeded.

    Attributes:
        time_us: when it failed.
        error: how.
    """

    time_us: int
    error: VoteRejected


@attrs.define(weakref_slot=False)
class History:
    """What a session has done.

    Attributes:
        since_us: when it came into the state that it is in.
        cause: why it did; None for one that has not changed its state yet.
        lasted_us: how long it was in each state before, all stays together, in the order of the states; None for one
            that it has not left yet.
        calls: how many native calls were made for it.
        last_call, last_error: the latest of them, and the latest that failed.
        saves_told: how many of the session's inferences that made no call have been told of.
        saves: how many inferences made no call while votes were up.
    """

    since_us: int
    cause: Cause | None = None
    lasted_us: tuple[int | None, ...] = (None,) * len(State)
    calls: int = 0
    last_call: LastCall | None = None
    last_error: LastError | None = None
    saves_told: int = 0
    saves: int = 0

    def called(self, call: LastCall, error: VoteRejected | None) -> None:
        """Note a native call."""
        self.calls += 1
        self.last_call = call
        if error is not None:
            self.last_error = LastError(call.time_us, kept(error))

    def moved(self, source: State, dest: State, now_us: int, cause: Cause) -> int:
        """Note a transition, and return how long the session was in the state before; 0 where it stays in it."""
        self.cause = cause
        if source is dest:
            return 0
        stayed_us = now_us - self.since_us
        place, before = _PLACES[source], self.lasted_us
        self.lasted_us = (*before[:place], (before[place] or 0) + stayed_us, *before[place + 1 :])
        self.since_us = now_us
        return stayed_us

    def saved(self, begun: int) -> None:
        """Note that it was told how many inferences have made no call, out of all that have begun so."""
        self.saves += begun - self.saves_told
        self.saves_told = begun

    def time_in(self, state: State, now_us: int) -> dict[State, int]:
        """Return how long the session has been in each state up to now."""
        lasted = zip(_PLACES, self.lasted_us, strict=True)
        found = {each: before or 0 for each, before in lasted if before is not None or each is state}
        found[state] += now_us - self.since_us
        return found
