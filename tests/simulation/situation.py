"""The demand of the host and the votes in force, for all rules of the specification; and the troubles.

A *trouble* is a failure or a loss that explains wrong votes for a time. After 1007, and when the device was created
again, this time is zero. Otherwise it is the longest back-off. Only idle time counts, because a slow task or a long
call delays a retry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from simulation.backend import CREATE
from simulation.binding import link_of
from simulation.expectations import DOWN, in_force
from simulation.tasks import Violation
from support.inside import clients_of

if TYPE_CHECKING:
    from simulation.backend import NativeCall, SimulatedBackend
    from simulation.demand import Claim, Client
    from simulation.expectations import InForce
    from simulation.scheduler import Scheduler
    from simulation.tasks import Task

LOST, DEAD = 1007, 1011
# The longest back-off, and the first back-off, which counts if the link works again before the longest is over.
LONGEST_BACKOFF_US = 8_000_000 + 1_000_000
# The same times if another user of the library holds the link, or a call fails right after the device was created
# again.
HELD_US = 60_000_000
# The documentation: "After 3 failed calls in a row, htppower makes no call until the timer fires."
MOST_IN_A_ROW = 3
HEARTBEAT_US = 100_000


@attrs.define(eq=False)
class Operation:
    """A call of the public API that has not returned.

    Attributes:
        client: the session; None for a method of the controller.
        begun_at: its first step.
        inside: whether the session's votes were certainly up, and no other call concerns it, so that a begin must not
            wait.
        calls: how many native calls its task has made in it.
        lowered: how often another session was lowered while it waited; ``last_lowered`` is the last of these sessions.
        made: how many later calls of the public API have made native calls and ended while it waited.
        created: the ids that were created by it.
        unknown: an id whose votes were answered with 13001 in this call, so that the next native call must destroy it.
    """

    kind: str
    client: Client | None
    begun_at: int
    inside: bool = False
    calls: int = 0
    lowered: int = 0
    last_lowered: Client | None = None
    made: int = 0
    created: set[int | None] = attrs.field(factory=set)
    unknown: int | None = None


class Situation:
    """The demand of the host, and the votes in force.

    Attributes:
        operations: the calls of the public API that have not returned, by task.
        under_way: the native call that has not returned.
        failed_destroys: the ids that could not be destroyed.
        is_told: whether the host has reported a lost link, and the calls for this may not be made yet.
        closed: whether every controller is closed.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend) -> None:
        self.scheduler = scheduler
        self.backend = backend
        self.htp = backend.htp
        self.clients: list[Client] = []
        self.caps: list[Claim] = []
        self.operations: dict[Task, Operation] = {}
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
        """Return whether a session's votes must be in force if nothing fails."""
        if client.closing or not (client.busy or self.scheduler.now_us < client.must_until_us):
            return False
        return all(each.raised is not None for each in client.possible(self.caps))

    def may_be_up(self, client: Client) -> bool:
        """Return whether a session's votes may be in force if nothing fails."""
        return client.busy or bool(client.unsettled) or self.scheduler.now_us < client.may_until_us

    def lacking(self, client: Client) -> list[int]:
        """Return the cores without the votes of a profile that the session may be using."""
        raised = {each.raised for each in client.possible(self.caps)}
        # On a device the HMX must be asked to follow the core clock, or have a vote of its own.
        up = [each for each in clients_of(self.htp).values() if each.hmx_follows_core or each.explicit_hmx]
        return [
            core for core in client.cores if not any(each.core_id == core and in_force(each) in raised for each in up)
        ]

    def has(self, client: Client, votes: frozenset[InForce] = DOWN) -> bool:
        """Return whether one of these is in force on each of a session's ids; by default, a power state's votes."""
        alive = clients_of(self.htp)
        own = [each for each in client.ids if each in alive and each not in self.failed_destroys]
        return all(in_force(alive[each]) in votes for each in own)

    def is_asked(self, client: Client) -> bool:
        """Return whether a call of the public API that concerns a session has not returned."""
        return any(operation.client in (client, None) for operation in self.operations.values())

    def client_of(self, call: NativeCall) -> Client | None:
        """Return the session of a call's id; for a create, the session of its core."""
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
        alive = clients_of(self.htp)
        votes = {each: alive[each].core[1] for each in client.ids if each in alive}
        return (
            f"session {client.place} ({getattr(client.session, 'state', None)}, {'/'.join(names)}): "
            f"{client.inferences} inferences, {client.preparations} preparations, {client.unsettled} unsettled, "
            f"must be up until {client.must_until_us} us, may until {client.may_until_us} us, core targets {votes}, "
            f"now {self.scheduler.now_us} us"
        )


@attrs.define
class Trouble:
    """The reason why a session's votes may be wrong.

    Attributes:
        cores: the cores with failed calls; None if everything may be lost.
        own: whether a call for the session itself has failed, so that it may wait for the back-off.
        at_once: whether the trouble must be over as soon as no task can run.
        quiet_us: the idle time when no task could run for the first time; None before that.
    """

    cores: frozenset[int | None] | None = None
    own: bool = False
    at_once: bool = False
    quiet_us: int | None = None


class Troubles:
    """The trouble of each session; the trouble of the process settings has the key None.

    Attributes:
        row: how many calls have failed since the DSP answered a call.
    """

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._by_client: dict[Client | None, Trouble] = {}
        self.row = 0

    def __contains__(self, client: Client | None) -> bool:
        return client in self._by_client

    @property
    def open(self) -> list[Client | None]:
        """Return the open sessions in trouble."""
        return [client for client in self._by_client if client is None or not client.closing]

    def of(self, client: Client | None) -> Trouble | None:
        """Return the trouble of a session; None for a session without trouble."""
        return self._by_client.get(client)

    def add(self, client: Client | None, call: NativeCall | None = None, *, own: bool = False) -> None:
        """Record that a session's votes, or the process's settings, may be wrong.

        ``call``: the failed call; None if everything may be lost. ``own``: whether the session may wait for the
        back-off.
        """
        cores = None if call is None else frozenset({call.core})
        before = self._by_client.get(client)
        if before is not None:
            cores = None if cores is None or before.cores is None else cores | before.cores
        own = own or call is not None or (before is not None and before.own)
        self._by_client[client] = Trouble(cores, own)
        if client is not None:
            client.troubles += 1
            client.must_until_us, client.open_at, client.ahead = 0, -1, None

    def lost(self, *, renewed: bool = False) -> None:
        """Record that everything is lost, or ``renewed``. Everything must be right again at once, with two exceptions.

        A session whose own call has failed waits for the back-off. All sessions wait after some failures in a row,
        until the device is created again.
        """
        for client in (*self._situation.clients, None):
            before = self._by_client.get(client)
            self.add(client)
            own = before is not None and before.own
            self._by_client[client].at_once = not own and (renewed or self.row < MOST_IN_A_ROW)

    def told(self) -> None:
        """Record that everything is lost before a call has shown this to the core."""
        for client in (*self._situation.clients, None):
            if client not in self._by_client:
                self.add(client)
                self._by_client[client].at_once = True

    def all_wait(self) -> None:
        """Record that everything may wait for the back-off."""
        for client in (*self._situation.clients, None):
            self.add(client)

    def over(self, client: Client | None) -> None:
        """Record that a session, or the process, is right; while no call may be made, the trouble continues."""
        if self.row < MOST_IN_A_ROW and self.link not in ("DEAD", "HELD"):
            self._by_client.pop(client, None)

    def quiet(self) -> None:
        """Record that no task can run."""
        for trouble in self._by_client.values():
            if trouble.quiet_us is None:
                trouble.quiet_us = self._situation.scheduler.idle_us

    @property
    def link(self) -> str:
        """The state of the link, by the controller's status."""
        return link_of(self._situation.controller)

    @property
    def longest_us(self) -> int:
        """The longest time until a retry."""
        return HELD_US if self.link == "HELD" else LONGEST_BACKOFF_US

    def explain(self, client: Client | None, rule: str, details: str) -> None:
        """Fail, unless a trouble explains the broken rule and the time of the retry is not over yet."""
        situation, trouble = self._situation, self._by_client.get(client)
        if trouble is None:
            situation.fail(rule, details)
            return
        if situation.out_of_reach:
            return
        longest_us = self.longest_us
        if trouble.at_once and longest_us != HELD_US:
            situation.fail(f"after a loss at once: {rule}", details)
            return
        waited_us = 0 if trouble.quiet_us is None else situation.scheduler.idle_us - trouble.quiet_us
        if waited_us > longest_us:
            situation.fail(f"within the back-off: {rule}", f"{waited_us / 1e6:.1f} s after the failure; {details}")
