"""What a session has done: its stays in states, its native calls, and what its inferences did without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.errors import kept
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from types import MappingProxyType

    from htppower.errors import VoteRejected
    from htppower.events import Cause, State


class LastCall(NamedTuple):
    """A session's last native call. A tuple, since each call makes one: it takes half the time (measured).

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

    __repr__ = field_repr


class Stay(NamedTuple):
    """A session's stay in a state.

    Attributes:
        state: in which it is.
        since_us: when it came into it.
        cause: why it did, or was voted last in it; None for one that has not changed its state yet.
        lasted_us: how long it was in each state that it has left, all stays together; never changed.
    """

    state: State
    since_us: int
    cause: Cause | None
    lasted_us: dict[State, int] | MappingProxyType[State, int]


class Saves(NamedTuple):
    """What a session's inferences did without calls.

    Attributes:
        told: how many of those that made no call have been told of, or are none that save any.
        all: how many made no call while votes were up, of those.
    """

    told: int
    all: int


_NO_SAVES = Saves(0, 0)


@attrs.define(weakref_slot=False, repr=False, eq=False)
class History:
    """What a session has done. Other threads read it at any time: what belongs together is replaced as one.

    Attributes:
        stay: the state that it is in, as far as that was noted, and those before.
        calls: how many native calls were made for it.
        last_call, last_error: the latest of them, and the latest that failed.
        saves: what its inferences did without calls.
    """

    stay: Stay
    calls: int = 0
    last_call: LastCall | None = None
    last_error: LastError | None = None
    saves: Saves = _NO_SAVES

    def called(self, call: LastCall, error: VoteRejected | None) -> None:
        """Note a native call."""
        self.calls += 1
        self.last_call = call
        if error is not None:
            self.last_error = LastError(call.time_us, kept(error))

    def moved(self, source: State, dest: State, now_us: int, cause: Cause) -> int:
        """Note a transition, and return how long the session was in the state before; 0 where it stays in it."""
        _, since_us, _, lasted_us = self.stay
        if source is dest:
            self.stay = Stay(dest, since_us, cause, lasted_us)
            return 0
        stayed_us = now_us - since_us
        self.stay = Stay(dest, now_us, cause, {**lasted_us, source: lasted_us.get(source, 0) + stayed_us})
        return stayed_us

    def saved(self, begun: int) -> None:
        """Note that it was told how many inferences have made no call, out of all that have begun so."""
        told, saves = self.saves
        self.saves = Saves(begun, saves + begun - told)

    def skip(self, begun: int) -> None:
        """Note that no inference has saved a call of those that have begun and were not told of."""
        self.saves = Saves(begun, self.saves.all)
