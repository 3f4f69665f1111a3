"""The record of a session: what the controller knows of it, and what it has done. Its turn protects both."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.control.core.gate import Gate
from htppower.control.core.locks import Rank, make_lock
from htppower.control.history import History, Stay
from htppower.events import State
from htppower.votes.native_codes import NULL_CLIENT

if TYPE_CHECKING:
    import weakref
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from htppower.control.core.ledger import Ledger
    from htppower.control.core.plans import Plan
    from htppower.control.core.precedence import Claim
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Cause
    from htppower.profiles.profile import Profile
    from htppower.sustain.learner import Learner

# Most sessions doubt no id; an empty set for each weighs as much as the rest of the record.
_NO_CORES: frozenset[int] = frozenset()
_NO_TICKETS: frozenset[weakref.ref[Any]] = frozenset()
_NONE_LEFT: MappingProxyType[State, int] = MappingProxyType({})


class SessionRecord:
    """One session. Its public face is ``Session``.

    Args:
        time, ring, recall: as for ``Gate``.

    Attributes:
        number, owner, device_id, core_ids: which session, what for, and where it votes.
        turn: held by who makes its transitions; it protects the state, the ids, the ledgers, the history and the plan.
        state: what is known of its votes; the state machine writes it.
        epoch: that of the registry in which its votes were cast.
        inits: how many ends of INIT it has taken in.
        casting: whether a call is under way, or was interrupted, so that its result is unknown.
        again: why to look at it again when the turn is given back, or None: another thread, or a signal handler in the
            middle of the turn, asked for it.
        ledgers: its power config ids by core id, each with what is known to be in force on it. It is replaced, and
            never changed.
        doubted: the cores of which the library may know the id no longer, since the DSP restarted.
        refused: the cores on which the last vote was answered by 13001: it is invalid, or the id is not known.
        error: the call that failed last, None once one has succeeded since.
        own: the profile that it was opened with or that ``use`` gave it.
        holds: the holds on it.
        decided_by: the hold or the cap that takes the place of its own profile.
        history: what it has done.
        gate: its plan, counts, deadline and alarm.
        tickets: references to those that have not ended; from the first one on a set of its own.
    """

    __slots__ = (
        "again",
        "casting",
        "core_ids",
        "decided_by",
        "device_id",
        "doubted",
        "epoch",
        "error",
        "gate",
        "history",
        "holds",
        "inits",
        "ledgers",
        "number",
        "own",
        "owner",
        "refused",
        "state",
        "tickets",
        "turn",
    )

    def __init__(
        self,
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
        self.number = number
        self.owner = owner
        self.device_id = device_id
        self.core_ids = core_ids
        self.turn = make_lock(Rank.TURN)
        self.state = State.UNVOTED
        self.epoch = self.inits = 0
        self.casting = False
        self.again: Cause | None = None
        self.ledgers: Mapping[int, Ledger] = {}
        self.doubted = self.refused = _NO_CORES
        self.error: VoteRejected | None = None
        self.own = own
        self.holds: tuple[Claim, ...] = ()
        self.decided_by: Claim | None = None
        self.history = History(Stay(State.UNVOTED, time.now_us, None, _NONE_LEFT))
        self.gate = Gate(self, time, ring, plan, recall)
        self.tickets: AbstractSet[weakref.ref[Any]] = _NO_TICKETS

    @property
    def plan(self) -> Plan:
        """What it casts on this platform; the way of a raise reads it off the gate, which saves a call each time."""
        return self.gate.plan

    @property
    def gone(self) -> bool:
        """Whether its ids are gone."""
        return self.state is State.DESTROYED

    @property
    def power_config_ids(self) -> dict[int, int]:
        """Its power config ids, by core id."""
        ids = {core_id: ledger.power_config_id for core_id, ledger in self.ledgers.items()}
        return {core_id: each for core_id, each in ids.items() if each != NULL_CLIENT}

    @property
    def identity(self) -> dict[str, Any]:
        """What every event of the session says of it."""
        return {"session": self.number, "owner": self.owner, "profile": self.plan.profile.name}

    def take_id(self, core_id: int, made: Ledger) -> None:
        """Take in a power config id that was created for a core."""
        self.ledgers = {**self.ledgers, core_id: made}

    def give_up_id(self, core_id: int) -> None:
        """Take in that the id of a core is the session's no longer."""
        self.ledgers = {other: ledger for other, ledger in self.ledgers.items() if other != core_id}
        self.trust_id(core_id)

    def trust_id(self, core_id: int) -> None:
        """Take in that the library knows the id of a core."""
        if core_id in self.doubted or core_id in self.refused:
            self.doubted = self.doubted - {core_id} or _NO_CORES
            self.refused = self.refused - {core_id} or _NO_CORES

    def forget(self) -> None:
        """Know no longer what is in force on its ids."""
        for ledger in self.ledgers.values():
            ledger.forget()

    def disown(self) -> None:
        """In a forked child: the ids are the parent's."""
        self.turn = make_lock(Rank.TURN)
        self.state = State.DESTROYED
        self.holds = ()
        self.gate.disown()

    def __repr__(self) -> str:
        """Return number, owner, profile and state."""
        owner = f" {self.owner!r}" if self.owner is not None else ""
        return f"<Session {self.number}{owner} {self.plan.profile.name} {self.state}>"
