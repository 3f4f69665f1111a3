"""What the host has asked for and what is in force, side by side: what every rule of the specification looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from simulation.expectations import DOWN, in_force
from simulation.tasks import Violation

if TYPE_CHECKING:
    from simulation.backend import NativeCall, SimulatedBackend
    from simulation.demand import Claim, Client
    from simulation.expectations import InForce
    from simulation.scheduler import Scheduler
    from simulation.tasks import Task


RESTARTED, DEAD = 1007, 1011
HEARTBEAT_US = 100_000


@attrs.frozen
class Promises:
    """What the core under test promises beyond the rest.

    Attributes:
        side_by_side: calls of different sessions run at the same time; one that hangs keeps nobody else waiting.
        in_flight_first: after 1007, no call of an idle session begins before one of each with an inference in flight.
        told_to_anybody: 1007 restores all, whoever was told, and whatever back-off is running.
        highest_rank_over_calls: of the locks that may be held over a native call; None where locks have no ranks.
        heartbeat_us: how long a restart may stay unnoticed while a session is up; None where no call need notice it.
    """

    side_by_side: bool = True
    in_flight_first: bool = False
    told_to_anybody: bool = True
    highest_rank_over_calls: int | None = 3
    # Two beats, and the longest back-off besides.
    heartbeat_us: int | None = 2 * HEARTBEAT_US + 9_000_000


@attrs.define(eq=False)
class Operation:
    """A call of the public API that has not returned.

    Attributes:
        kind: which, such as ``begin``.
        client: on which session; None for what is the controller's.
        begun_us: when it began.
        last_call: the native call that its task has begun last before it was interrupted.
    """

    kind: str
    client: Client | None
    begun_us: int
    last_call: NativeCall | None = None


class Situation:
    """What is asked for, and what is in force.

    Args:
        scheduler: tells the time.
        backend: what is in force, and which id each number is of.
        promises: what is asked of the core under test beyond the rest.

    Attributes:
        clients, caps: every session that was opened, and the caps.
        operations: the calls of the public API that have not returned, by task.
        under_way: the native calls that have not returned.
        bare: the ids that no operation on the session of their core has created, and that have had no votes but for
            the process: they may be made for those alone.
        orphans: the ids that could not be destroyed, and the idle time when that failed.
        left: those of them that a controller which was closed has left.
        controller: what is under test, the first where there are two; None until it is made.
        shared: whether there is another controller on the backend.
        controller_closed, interrupted: whether closing it has returned, and whether a KeyboardInterrupt was raised.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend, promises: Promises) -> None:
        self.scheduler = scheduler
        self.htp = backend.htp
        self.numbers = backend.numbers
        self.promises = promises
        self.clients: list[Client] = []
        self.caps: list[Claim] = []
        self.operations: dict[object, Operation] = {}
        self.under_way: list[NativeCall] = []
        self.bare: set[int] = set()
        self.orphans: dict[int, int] = {}
        self.left: set[int] = set()
        self.controller: Any = None
        self.shared = False
        self.controller_closed = False
        self.interrupted = False

    @property
    def out_of_reach(self) -> bool:
        """Whether the DSP is dead, or has restarted and nobody was told: nothing can be expected of any vote.

        So where a call has reached the id of another, and its task was not told yet.
        """
        answered = any(call.code in (RESTARTED, DEAD) or call.crosses for call in self.under_way)
        return self.htp._dead or self.htp._unnoticed or answered

    def must_be_up(self, client: Client) -> bool:
        """Return whether a session's votes must be in force, failures aside."""
        if client.closing or not (client.busy or self.scheduler.now_us < client.must_until_us):
            return False
        return all(each.raised is not None for each in client.possible(self.caps))

    def may_be_up(self, client: Client) -> bool:
        """Return whether a session's votes may be in force, failures aside."""
        now_us = self.scheduler.now_us
        in_use = client.busy or bool(client.unsettled) or now_us < client.may_until_us
        return in_use or client.foresight.may_be_up(now_us)

    def lacking(self, client: Client) -> list[int]:
        """Return the cores on which the votes of none of the profiles that a session may be using are in force."""
        raised = {each.raised for each in client.possible(self.caps)}
        found = self.htp._clients.values()
        return [
            core
            for core in client.cores
            if not any(each.core_id == core and in_force(each) in raised for each in found)
        ]

    def is_down(self, client: Client) -> bool:
        """Return whether nothing but the votes of a power state is in force on a session's ids."""
        return self.has(client, DOWN)

    def has(self, client: Client, votes: frozenset[InForce]) -> bool:
        """Return whether nothing but one of these is in force on each of a session's ids."""
        alive = self.htp._clients
        left = {*self.orphans, *self.numbers.doubtful}
        own = [each for each in client.power_config_ids if each in alive and each not in left]
        return all(in_force(alive[each]) in votes for each in own)

    def rests(self, client: Client) -> bool:
        """Return whether a session that is LOWERED has the votes of the power state that it must have."""
        return self.has(client, client.rests(self.caps))

    def waits_for(self, call: NativeCall, client: Client) -> bool:
        """Return whether a session may have to wait for a native call."""
        if not self.promises.side_by_side or call.process_wide or call.core in client.cores:
            return True
        if self.numbers.may_be_shared(call.power_config_id):
            # It may be meant for an id that this session had.
            return True
        # Whoever has changed a session may make an id for the settings of the process, on another's core.
        operation = self.operations.get(call.task)
        if operation is None or operation.client is None:
            return call.function == "createPowerConfigId" or call.power_config_id in self.bare
        return operation.client is client

    def brings_down_what_is_left(self, task: Task) -> bool:
        """Return whether a task is closing a controller, or may be trying again what could not be brought down."""
        operation = self.operations.get(task)
        return operation is None or (operation.kind == "close" and operation.client is None)

    def fail(self, rule: str, details: str) -> None:
        """End the run: a rule is broken."""
        self.scheduler.fail(Violation(rule, details))

    def tell(self, client: Client) -> str:
        """Return how a session is, in a line."""
        names = [each.profile.name for each in client.possible(self.caps)]
        alive = self.htp._clients
        votes = {each: alive[each].core[1] for each in client.power_config_ids if each in alive}
        return (
            f"session {client.place} ({getattr(client.session, 'state', None)}, {'/'.join(names)}): "
            f"{client.inferences} inferences, {client.preparations} preparations, {client.unsettled} unsettled, "
            f"must be up until {client.must_until_us} us, may until {client.may_until_us} us, core targets {votes}, "
            f"now {self.scheduler.now_us} us"
        )
