"""The record of a session: its state and its history. Changes need the line."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from htppower.control.gate.gate import Gate
from htppower.control.ledger.ledger import NOTHING
from htppower.control.plans.precedence import in_use
from htppower.errors import kept
from htppower.events import State

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from htppower.control.core.home import Home
    from htppower.control.ledger.ledger import Ledger
    from htppower.control.plans.plans import Plan
    from htppower.control.plans.precedence import Claim, Modes, Paces
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Cause
    from htppower.profiles.profile import Profile
    from htppower.sustain.base import Learner

_NO_TICKETS: frozenset[weakref.ref[Any]] = frozenset()
_NONE_LEFT: MappingProxyType[State, int] = MappingProxyType({})


class LastCall(NamedTuple):
    """A session's last native call.

    It is a tuple, since each call makes one and a tuple takes half the time (measured).

    Attributes:
        time_us: when it returned, by the controller's clock.
        function: the native function.
        power_config_id: the id; None for a failed create.
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
    """The last failed native call of a session; kept when later calls succeed.

    Attributes:
        time_us: when it failed.
        error: the error.
    """

    time_us: int
    error: VoteRejected


class Stay(NamedTuple):
    """How long a session has been in its state, and was in each state before.

    Attributes:
        state: the state.
        since_us: when the session entered the state.
        cause: the cause of the transition that led to the state; None before the first transition.
        lasted_us: the total time of all earlier stays, by state. The mapping is never changed.
    """

    state: State
    since_us: int
    cause: Cause | None
    lasted_us: dict[State, int] | MappingProxyType[State, int]


class Saves(NamedTuple):
    """How many inferences of a session made no call.

    Attributes:
        told: how many of them are already reported, or are not reported since no vote was up.
        all: how many of these made no call while votes were up, and so saved the calls of a raise and a lowering.
    """

    told: int
    all: int


_NO_SAVES = Saves(0, 0)


@attrs.define(weakref_slot=False, repr=False, eq=False)
class History:
    """The history of a session. Other threads may read it at any time, so values that belong together are in one tuple.

    Attributes:
        stay: the stay in the present state, with the times of earlier stays.
        calls: how many native calls were made.
        last_call, last_error: the last call, and the last failed call.
        saves: the inferences that made no call.
    """

    stay: Stay
    calls: int = 0
    last_call: LastCall | None = None
    last_error: LastError | None = None
    saves: Saves = _NO_SAVES

    def called(self, call: LastCall, error: VoteRejected | None) -> None:
        """Record a native call."""
        self.calls += 1
        self.last_call = call
        if error is not None:
            self.last_error = LastError(call.time_us, kept(error))

    def moved(self, source: State, dest: State, now_us: int, cause: Cause) -> int:
        """Record a transition; return how long the session was in the old state, or 0 if the state stays the same."""
        _, since_us, _, lasted_us = self.stay
        if source is dest:
            self.stay = Stay(dest, since_us, cause, lasted_us)
            return 0
        stayed_us = now_us - since_us
        self.stay = Stay(dest, now_us, cause, {**lasted_us, source: lasted_us.get(source, 0) + stayed_us})
        return stayed_us

    def saved(self, begun: int) -> None:
        """Record that the first ``begun`` inferences without a call are reported."""
        told, saves = self.saves
        self.saves = Saves(begun, saves + begun - told)

    def skip(self, begun: int) -> None:
        """Record that the inferences up to ``begun`` that are not reported yet saved no call, and need no report."""
        self.saves = Saves(begun, self.saves.all)


class SessionRecord:
    """One session. ``Session`` is its public face.

    Args:
        settle_soon, recall: as in ``Gate``.

    Attributes:
        home: the parts that the controller's sessions share.
        number, owner, device_id, core_ids: as in ``Session``.
        state: the state of the session; the state machine writes it.
        epoch: the epoch of the link when its votes were cast.
        inits: how many ended INIT phases the reconciler has handled.
        ledgers: the ledgers of its power config ids, by core id. The mapping is replaced as a whole, so any thread may
            read it.
        wish: its wish for the settings of the process; ``ProcessSettings`` sets it.
        failures: how often settling the session has failed in a row.
        retry_us: the time before which no call is made for the session; 0 for no limit.
        error: the last failed call; None after a success.
        own: the session's own profile: the one of ``VoteController.session``, or of the last ``Session.use``.
        holds: the holds on the session.
        pace: the pace that chooses its profile; None for most sessions.
        modes: a weak reference to its modes; None if it never had any.
        mode: the mode that decided last; None if its own profile did.
        decided_by: the hold, the cap, the pace or the mode that decides its profile; None if its own profile is used.
        history: its calls, stays and saved calls.
        gate: its plan, counts, deadline and alarm.
        handle: a weak reference to its phases; the session is closed when they are garbage collected.
        tickets: weak references to the tickets that have not ended. All sessions share one empty set until they have a
            ticket.
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
        "mode",
        "modes",
        "number",
        "own",
        "owner",
        "pace",
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
        settle_soon: Callable[[SessionRecord, Cause], None],
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
        self.pace: Paces | None = None
        self.modes: weakref.ref[Modes] | None = None
        self.mode: Claim | None = None
        self.decided_by: Claim | None = None
        self.history = History(Stay(State.UNVOTED, time.now_us, None, _NONE_LEFT))
        self.gate = Gate(self, time, settle_soon, plan, recall)
        self.handle: weakref.ref[Any] | None = None
        self.tickets: AbstractSet[weakref.ref[Any]] = _NO_TICKETS

    @property
    def plan(self) -> Plan:
        """The plan in use."""
        return self.gate.plan

    @property
    def gone(self) -> bool:
        """Whether the session is closed, and its ids are gone."""
        return self.state is State.DESTROYED

    @property
    def power_config_ids(self) -> dict[int, int]:
        """The power config ids, by core id."""
        return {core_id: ledger.power_config_id for core_id, ledger in self.ledgers.items()}

    @property
    def identity(self) -> dict[str, Any]:
        """The fields that name the session in each of its events."""
        return {"session": self.number, "owner": self.owner, "profile": self.plan.profile.name}

    def chosen(self, caps: tuple[Claim, ...]) -> Profile:
        """Return the profile that it should use, and note which claim decides that."""
        modes = None if self.modes is None else self.modes()
        self.mode = None if modes is None else modes.choose()
        pace = None if self.pace is None else self.pace.claim
        profile, decides = in_use(self.own, self.holds, caps, pace or self.mode)
        self.decided_by = None if decides is self.mode and profile == self.own else decides
        return profile

    def forget(self) -> None:
        """Put all votes on the ids in doubt, so that they are sent again."""
        for ledger in self.ledgers.values():
            ledger.forget()

    def disown(self) -> None:
        """In a forked child: forget the ids, which exist only in the parent."""
        self.state = State.DESTROYED
        self.holds = ()
        if self.pace is not None:
            self.pace.disown()
        self.gate.disown()

    def __repr__(self) -> str:
        """Return number, owner, profile and state."""
        owner = f" {self.owner!r}" if self.owner is not None else ""
        return f"<Session {self.number}{owner} {self.plan.profile.name} {self.state}>"
