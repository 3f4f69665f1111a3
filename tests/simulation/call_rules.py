"""What must hold of single native calls: on which ids, how many at a time, how often to a dead DSP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.backend import PROCESS_WIDE
from simulation.situation import DEAD, RESTARTED
from simulation.troubles import LONGEST_BACKOFF_US

if TYPE_CHECKING:
    from simulation.backend import NativeCall
    from simulation.demand import Client
    from simulation.situation import Operation, Situation

    from htppower.votes.native import NativeConfig

# The number of the corner DISABLE.
DISABLE = 16
# DESIGN.md: "a dead DSP costs an inference no more than one failed call per second".
LEAST_BETWEEN_FAILURES_US = 1_000_000


class CallRules:
    """The calls of a run, and what must hold of them.

    Attributes:
        made: the calls, in the order in which they began.
        lost: the ids of which a KeyboardInterrupt kept the controller from hearing.
    """

    def __init__(self, situation: Situation) -> None:
        self.lost: set[int] = set()
        self.made: list[NativeCall] = []
        self._situation = situation
        self._scheduler = situation.scheduler
        self._destroyed: set[int] = set()
        # The ids that the library has answered not to know, and how often each was used since.
        self._unknown: dict[int, int] = {}
        # Whether every restart that a call was told of has been taken in, by every controller.
        self._restarts_known = True
        self._dead_us: int | None = None
        self._dead_known = False
        # Whether the host has told of a restart since it was dead, which the core may have known before.
        self._perhaps_alive = False

    def begins(self, call: NativeCall) -> None:
        """Take in that a call begins."""
        situation, power_config_id = self._situation, call.power_config_id
        if situation.controller_closed:
            self._situation.fail("a closed controller makes no call", f"{call}")
        if self._scheduler.collecting:
            self._situation.fail("nothing that the collector runs makes a call", f"{call}")
        highest = situation.promises.highest_rank_over_calls
        ranks = [getattr(lock, "rank", None) for lock in call.task.held]
        if highest is not None and any(rank is not None and rank > highest for rank in ranks):
            situation.fail("no native call under a lock that forbids it", f"{call} under {call.task.held}")
        if power_config_id is not None:
            self._begins_on(call, power_config_id)
        call.dead_known = self._dead_known
        if self._situation.under_way and not situation.promises.side_by_side:
            self._situation.fail("one call at a time", f"{call} beside {self._situation.under_way}")
        self._situation.under_way.append(call)
        if call.task.interrupt_in and call.task in situation.operations:
            situation.operations[call.task].last_call = call
        self.made.append(call)

    def _begins_on(self, call: NativeCall, power_config_id: int) -> None:
        # A call that is meant for the id which had the number before comes by chance.
        if not self._situation.numbers.may_be_shared(power_config_id):
            if power_config_id in self._destroyed:
                self._situation.fail("no call on a destroyed id", f"{call}")
            if any(other.power_config_id == power_config_id for other in self._situation.under_way):
                self._situation.fail("one call at a time on an id", f"{call} beside {self._situation.under_way}")
        if any(config.option not in PROCESS_WIDE and not _removes(config) for config in call.configs):
            self._situation.bare.discard(power_config_id)
        client = self.client_of(call)
        in_use = client is not None and not client.closing and power_config_id not in self._situation.orphans
        # Until a controller hears of a restart it does not doubt its ids.
        told = self._restarts_known and not self._situation.out_of_reach
        if in_use and told and power_config_id in self._unknown and call.function == "setPowerConfig":
            # Once more is allowed: a session that was being cast when the restart was told goes on to its other ids.
            self._unknown[power_config_id] += 1
            if self._unknown[power_config_id] > 1:
                self._situation.fail("an id that the library does not know is not used again", f"{call}")

    def interrupted(self, operation: Operation) -> None:
        """Take in that a KeyboardInterrupt is raised in an operation: nobody knows what its last call has done."""
        call = operation.last_call
        if call is None or call.power_config_id is None:
            return
        if call.function == "createPowerConfigId":
            self.lost.add(call.power_config_id)
        self._destroyed.discard(call.power_config_id)
        self._unknown.pop(call.power_config_id, None)

    def applied(self, call: NativeCall) -> Client | None:
        """Take in that a call has taken effect; return the session whose id it was made on."""
        client = self.client_of(call)
        if call.function == "createPowerConfigId" and not call.code:
            assert call.power_config_id is not None
            if client is not None and call.power_config_id not in self._situation.numbers.shared:
                client.power_config_ids.append(call.power_config_id)
            operation = self._situation.operations.get(call.task)
            if operation is None or operation.client is None or operation.client is not client:
                self._situation.bare.add(call.power_config_id)
        elif call.function == "destroyPowerConfigId" and not call.code:
            assert call.power_config_id is not None
            self._destroyed.add(call.power_config_id)
        elif call.unknown_id and call.power_config_id is not None:
            self._unknown.setdefault(call.power_config_id, 0)
        return client

    def ended(self, call: NativeCall) -> Client | None:
        """Take in that a call has returned; return the session whose id it was made on."""
        self._situation.under_way.remove(call)
        self._restarts_known = self._restarts_known and call.code != RESTARTED
        if call.code == DEAD:
            self._dead_answered(call)
            # What is left is tried again when the back-off that begins then is over.
            self._situation.orphans = dict.fromkeys(self._situation.orphans, self._scheduler.clock.idle_us)
        elif self._dead_us is None or call.begun_us > self._dead_us or call.code == RESTARTED:
            # One that began before the DSP was dead tells nothing of it.
            self._dead_us, self._dead_known, self._perhaps_alive = None, False, False
        client = self.client_of(call)
        if call.known_as is not None and call.power_config_id is not None:
            made = call.function == "createPowerConfigId"
            call.crosses |= self._situation.numbers.told(call.known_as, call.power_config_id, made=made)
        if call.crosses:
            self._note_shared()
        if call.function == "destroyPowerConfigId" and call.power_config_id is not None:
            if call.code == 0:
                self._situation.orphans.pop(call.power_config_id, None)
            elif call.code is not None or client is None:
                # Where the call of a session is interrupted, the id is the session's still.
                self._situation.orphans[call.power_config_id] = self._scheduler.clock.idle_us
            return None if client is None or client.closing else client
        return client

    def _note_shared(self) -> None:
        """Take in that nobody uses the ids any more that calls of another may reach: they are to be destroyed."""
        alive, orphans = self._situation.htp._clients, self._situation.orphans
        for power_config_id in self._situation.numbers.shared:
            if power_config_id in alive:
                orphans.setdefault(power_config_id, self._scheduler.clock.idle_us)

    def quiet(self) -> None:
        """Take in that nobody can go on: whoever was told that the DSP is dead, or has restarted, has taken it in."""
        self._dead_known = self._dead_us is not None
        self._restarts_known = True
        if not any(call.function == "createPowerConfigId" for call in self._situation.under_way):
            self._situation.numbers.quiet()

    def alive_again(self) -> None:
        """Take in that the host tells of a restart: a DSP that was dead is called again, unless that was known."""
        self._dead_us, self._dead_known, self._perhaps_alive = None, False, True

    def check_destroyed(self, client: Client) -> None:
        """Fail where an id of a closed session lives on, though destroying it has not failed."""
        alive = self._situation.htp._clients
        known = {*self._situation.orphans, *self._situation.bare, *self.lost, *self._situation.numbers.doubtful}
        left = [each for each in client.power_config_ids if each in alive and each not in known]
        if left:
            self._situation.fail("a closed session leaves no id", f"session {client.place}: {left}")

    def look_at_orphans(self) -> None:
        """Fail where an id that could not be destroyed is not tried again in time."""
        alive = self._situation.htp._clients
        if self._situation.out_of_reach:
            self._situation.orphans = dict.fromkeys(self._situation.orphans, self._scheduler.clock.idle_us)
        for power_config_id, failed_us in self._situation.orphans.items():
            late = self._scheduler.clock.idle_us - failed_us > LONGEST_BACKOFF_US
            tried = power_config_id in alive and power_config_id not in self._situation.left
            if late and tried and not self._situation.controller_closed:
                self._situation.fail("orphans are destroyed within the longest back-off", f"id {power_config_id}")

    def _dead_answered(self, call: NativeCall) -> None:
        if call.earlier or call.perhaps_earlier:
            return
        operation = self._situation.operations.get(call.task)
        now_us = self._scheduler.now_us
        # It may have been about to make its call when another was answered.
        late = operation is not None and self._dead_us is not None and operation.begun_us > self._dead_us
        gap_us = call.begun_us - (self._dead_us or 0) if late else LEAST_BETWEEN_FAILURES_US
        # Of two controllers each has a back-off of its own, and tries once in its time.
        asked = _is_free(operation) and not self._situation.shared
        if call.dead_known and gap_us < LEAST_BETWEEN_FAILURES_US and asked:
            details = f"{call}, {gap_us} us after the one before"
            self._situation.fail("1011 costs at most one failed call a second", details)
        # Closing makes its calls whatever was answered before, and delays no other.
        closes = operation is not None and (operation.kind == "close" or _is_closing(operation.client))
        # One that began before that was taken in is one of the several: its answer puts nothing off.
        on_time = operation is not None and now_us - (self._dead_us or 0) >= LEAST_BETWEEN_FAILURES_US
        on_time = on_time and call.dead_known
        first = self._dead_us is None and not (closes and self._perhaps_alive)
        if first or (on_time and not closes):
            # Of several that were under way the first counts; one of the controller's own may be late.
            self._dead_us, self._dead_known, self._perhaps_alive = now_us, False, False

    def client_of(self, call: NativeCall) -> Client | None:
        """Return the session whose id a call is made on, or on whose core an id is created."""
        for client in self._situation.clients:
            if call.power_config_id in client.power_config_ids:
                return client
        if call.function == "createPowerConfigId":
            operation = self._situation.operations.get(call.task)
            for client in self._situation.clients:
                # While a session is closed, others may make an id for the settings of the process on its core.
                its_own = operation is not None and operation.client is client
                if not client.closed and call.core in client.cores and (its_own or not client.closing):
                    return client
        return None


def _is_closing(client: Client | None) -> bool:
    return client is not None and client.closing


def _is_free(operation: Operation | None) -> bool:
    """Return whether a phase makes no call to a dead DSP.

    A session that is being closed is brought down at once, by whoever has its turn.
    """
    if operation is None or operation.client is None or operation.client.closing:
        return False
    return operation.kind in ("begin", "end")


def _removes(config: NativeConfig) -> bool:
    """Return whether a vote takes the clocks' vote back, as on an id that could not be destroyed."""
    return config.option == "DCVS_V3" and config.fields.get("coreVoltageCornerMax") == DISABLE
