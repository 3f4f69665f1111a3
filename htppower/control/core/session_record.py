"""The record of a session: what the controller knows of it, and what it has done. Who changes either has the line."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from htppower.control.gate.gate import Gate
from htppower.control.ledger.ledger import NOTHING
from htppower.errors import kept
from htppower.events import State
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from htppower.control.core.home import Home
    from htppower.control.ledger.ledger import Ledger
    from htppower.control.plans.plans import Plan
    from htppower.control.plans.precedence import Claim
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Cause
    from htppower.profiles.profile import Profile
    from htppower.sustain.base import Learner

_NO_TICKETS: frozenset[weakref.ref[Any]] = frozenset()
_NONE_LEFT: MappingProxyType[State, int] = MappingProxyType({})


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


class SessionRecord:
    """One session. Its public face is ``Session``.

    Args:
        ring, recall: as for ``Gate``.

    Attributes:
        home: the parts that the controller's sessions share.
        number, owner, device_id, core_ids: which session, what for, and where it votes.
        state: what is known of its votes; the state machine writes it.
        epoch: that of the link in which its votes were cast.
        inits: how many ends of INIT it has taken in.
        ledgers: its power config ids by core id, each with what is known to be in force on it. It is replaced, and
            never changed.
        wish: what it asks of the settings of the process; ``ProcessSettings`` writes it.
        failures: how often it could not be settled in a row.
        retry_us: no call is made for it before; 0 for none.
        error: the call that failed last, None once one has succeeded since.
        own: the profile that it was opened with or that ``use`` gave it.
        holds: the holds on it.
        decided_by: the hold or the cap that decides its profile instead of its own.
        history: what it has done.
        gate: its plan, counts, deadline and alarm.
        handle: a reference to its phases, by which it is closed when they are collected.
        tickets: references to those that have not ended; from the first one on a set of its own.
    """

    __slots__ = (
        "core_ids",
        "decided_by",
        "device_id",
        "epoch",
        "error",
        "failures",
        "gate",
        "handle",
        "history",
        "holds",
        "home",
        "inits",
        "ledgers",
        "number",
        "own",
        "owner",
        "retry_us",
        "state",
        "tickets",
        "wish",
    )

    def __init__(
        self,
        home: Home,
        number: int,
        owner: str | None,
        device_id: int,
        core_ids: tuple[int, ...],
        own: Profile,
        plan: Plan,
        time: Time,
        ring: Callable[[SessionRecord, Cause], None],
        recall: Callable[..., Learner] | None = None,
    ) -> None:
        self.home = home
        self.number = number
        self.owner = owner
        self.device_id = device_id
        self.core_ids = core_ids
        self.state = State.UNVOTED
        self.epoch = self.inits = self.failures = self.retry_us = 0
        self.ledgers: Mapping[int, Ledger] = {}
        self.wish = NOTHING
        self.error: VoteRejected | None = None
        self.own = own
        self.holds: tuple[Claim, ...] = ()
        self.decided_by: Claim | None = None
        self.history = History(Stay(State.UNVOTED, time.now_us, None, _NONE_LEFT))
        self.gate = Gate(self, time, ring, plan, recall)
        self.handle: weakref.ref[Any] | None = None
        self.tickets: AbstractSet[weakref.ref[Any]] = _NO_TICKETS

    @property
    def plan(self) -> Plan:
        """What it casts on this platform."""
        return self.gate.plan

    @property
    def gone(self) -> bool:
        """Whether its ids are gone."""
        return self.state is State.DESTROYED

    @property
    def power_config_ids(self) -> dict[int, int]:
        """Its power config ids, by core id."""
        return {core_id: ledger.power_config_id for core_id, ledger in self.ledgers.items()}

    @property
    def identity(self) -> dict[str, Any]:
        """What every event of the session says of it."""
        return {"session": self.number, "owner": self.owner, "profile": self.plan.profile.name}

    def forget(self) -> None:
        """Know no longer what is in force on its ids."""
        for ledger in self.ledgers.values():
            ledger.forget()

    def disown(self) -> None:
        """In a forked child: the ids are the parent's."""
        self.state = State.DESTROYED
        self.holds = ()
        self.gate.disown()

    def __repr__(self) -> str:
        """Return number, owner, profile and state."""
        owner = f" {self.owner!r}" if self.owner is not None else ""
        return f"<Session {self.number}{owner} {self.plan.profile.name} {self.state}>"
