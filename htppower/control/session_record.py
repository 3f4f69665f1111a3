"""The record of a session: what the controller knows of it. The controller's lock protects it; its gate has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.gate import Gate
from htppower.control.history import History
from htppower.events import State
from htppower.profiles.profile import Lowering

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.plans import Plan
    from htppower.control.precedence import Claim
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected
    from htppower.events import Cause
    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoteSet


@attrs.define(init=False, eq=False, repr=False, weakref_slot=False)
class SessionRecord:
    """One session. Its public face is ``Session``.

    Args:
        time, ring: as for ``Gate``.

    Attributes:
        number, owner, device_id, core_ids: which session, what for, and where it votes.
        state: what is known of its votes; the state machine writes it.
        power_config_ids: by core id.
        ids_doubted: whether the library may know the ids no longer, since the DSP restarted.
        wish: the votes that it has in the process-wide settings.
        error: the call that failed last, None once one has succeeded since.
        plan: what it casts on this platform.
        own: the profile that it was opened with or that ``use`` gave it.
        holds: the holds on it.
        decided_by: the hold or the cap that takes the place of its own profile.
        history: what it has done.
        gate: its counts, deadline and alarm.
    """

    number: int
    owner: str | None
    device_id: int
    core_ids: tuple[int, ...]
    own: Profile
    history: History
    plan: Plan = attrs.field(init=False)
    gate: Gate = attrs.field(init=False)
    state: State = attrs.field(default=State.UNVOTED, init=False)
    power_config_ids: dict[int, int] = attrs.field(factory=dict, init=False)
    ids_doubted: bool = attrs.field(default=False, init=False)
    wish: VoteSet | None = attrs.field(default=None, init=False)
    error: VoteRejected | None = attrs.field(default=None, init=False)
    holds: tuple[Claim, ...] = attrs.field(default=(), init=False)
    decided_by: Claim | None = attrs.field(default=None, init=False)

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
    ) -> None:
        self.__attrs_init__(number, owner, device_id, core_ids, own, History(time.now_us))
        self.gate = Gate(self, time, ring)
        self.follow(plan)

    def follow(self, plan: Plan) -> None:
        """Cast by another plan from now on; the gate is shut until that is in force."""
        self.plan = plan
        self.gate.follow(
            voting=bool(plan.raised),
            after_init_us=plan.after_init_us,
            sustain_us=plan.after_inference_us,
            background=plan.lowering is Lowering.BACKGROUND,
        )

    @property
    def identity(self) -> dict[str, Any]:
        """What every event of the session says of it."""
        return {"session": self.number, "owner": self.owner, "profile": self.plan.profile.name}

    def disown(self) -> None:
        """In a forked child: the ids are the parent's."""
        self.state = State.DESTROYED
        self.holds = ()
        self.gate.disown()

    def __repr__(self) -> str:
        """Return number, owner, profile and state."""
        owner = f" {self.owner!r}" if self.owner is not None else ""
        return f"<Session {self.number}{owner} {self.plan.profile.name} {self.state}>"
