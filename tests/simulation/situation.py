"""What the host has asked for and what is in force, side by side, for all rules of the specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from simulation.backend import CREATE
from simulation.expectations import DOWN, in_force
from simulation.tasks import Violation

if TYPE_CHECKING:
    from simulation.backend import NativeCall, SimulatedBackend
    from simulation.demand import Claim, Client
    from simulation.expectations import InForce
    from simulation.scheduler import Scheduler

LOST, DEAD = 1007, 1011
HEARTBEAT_US = 100_000


@attrs.define(eq=False)
class Operation:
    """A call of the public API that has not returned.

    Attributes:
        kind: the method, such as ``begin``.
        client: the session; None for a method of the controller.
        begun_at: the step at which it began.
        inside: whether the session's votes were up for certain, so that a begin does not wait.
        calls: how many native calls its task has made in it.
        lowered: how often another session was lowered while it waited; ``last_lowered`` was the last of them.
        made: how many later calls of the public API have made native calls and ended while it waited.
    """

    kind: str
    client: Client | None
    begun_at: int
    inside: bool = False
    calls: int = 0
    lowered: int = 0
    last_lowered: Client | None = None
    made: int = 0


class Situation:
    """What is asked for, and what is in force.

    Attributes:
        clients: all sessions that were opened.
        operations: the calls of the public API that have not returned, by task.
        under_way: the native call that has not returned.
        failed_destroys: the ids that could not be destroyed.
        controller: the first controller; None until it is made.
        is_told: whether the host has told of a lost link, and the calls for that may not be made yet.
        closed: whether every controller is closed.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend) -> None:
        self.scheduler = scheduler
        self.backend = backend
        self.htp = backend.htp
        self.clients: list[Client] = []
        self.caps: list[Claim] = []
        self.operations: dict[object, Operation] = {}
        self.under_way: NativeCall | None = None
        self.failed_destroys: set[int] = set()
        self.controller: Any = None
        self.is_told = self.closed = False

    @property
    def out_of_reach(self) -> bool:
        """Whether the link is dead, or lost without the core's knowledge, so that no vote can be expected to be up."""
        call = self.under_way
        return not self.backend.well or (call is not None and (call.code in (LOST, DEAD) or call.function == "renew"))

    def must_be_up(self, client: Client) -> bool:
        """Return whether a session's votes must be in force, failures aside."""
        if client.closing or not (client.busy or self.scheduler.now_us < client.must_until_us):
            return False
        return all(each.raised is not None for each in client.possible(self.caps))

    def may_be_up(self, client: Client) -> bool:
        """Return whether a session's votes may be in force, failures aside."""
        return client.busy or bool(client.unsettled) or self.scheduler.now_us < client.may_until_us

    def lacking(self, client: Client) -> list[int]:
        """Return the cores on which no profile that a session may be using is in force."""
        raised = {each.raised for each in client.possible(self.caps)}
        # On a device the HMX must be asked to follow the core clock, or have a vote of its own.
        up = [each for each in self.htp._clients.values() if each.hmx_follows_core or each.explicit_hmx]
        return [
            core for core in client.cores if not any(each.core_id == core and in_force(each) in raised for each in up)
        ]

    def has(self, client: Client, votes: frozenset[InForce]) -> bool:
        """Return whether one of these is in force on each of a session's ids."""
        alive = self.htp._clients
        own = [each for each in client.ids if each in alive and each not in self.failed_destroys]
        return all(in_force(alive[each]) in votes for each in own)

    def is_down(self, client: Client) -> bool:
        """Return whether each of a session's ids has the votes of a power state."""
        return self.has(client, DOWN)

    def is_asked(self, client: Client) -> bool:
        """Return whether a call of the public API that concerns a session has not returned."""
        return any(operation.client in (client, None) for operation in self.operations.values())

    def client_of(self, call: NativeCall) -> Client | None:
        """Return the session whose id a call is for, or for whose core a call creates an id."""
        for client in self.clients:
            if call.power_config_id in client.ids:
                return client
        if call.function == CREATE:
            for client in self.clients:
                if not client.closed and call.core in client.cores:
                    return client
        return None

    def fail(self, rule: str, details: str) -> None:
        """End the run, because a rule is broken."""
        self.scheduler.fail(Violation(rule, details))

    def tell(self, client: Client) -> str:
        """Describe a session in a line."""
        names = [each.profile.name for each in client.possible(self.caps)]
        alive = self.htp._clients
        votes = {each: alive[each].core[1] for each in client.ids if each in alive}
        return (
            f"session {client.place} ({getattr(client.session, 'state', None)}, {'/'.join(names)}): "
            f"{client.inferences} inferences, {client.preparations} preparations, {client.unsettled} unsettled, "
            f"must be up until {client.must_until_us} us, may until {client.may_until_us} us, core targets {votes}, "
            f"now {self.scheduler.now_us} us"
        )
