"""What must and may be in force, compared with the simulated HTP after every step that changes anything.

Written from the documentation (``DESIGN.md``, ``docs/state_machine.md``, ``docs/embedding.md``, ``docs/holds.md``); it
imports nothing of the controller, and reads of it only what its users can: a session's state, profile and count.

Two moments are looked at. When a call has taken effect and when a phase has begun, the votes of whoever is surely in
use must be in force. When nobody can go on (*quiet*) everything that is due has been done, so that without a native
call under way nothing may be up that need not be, however short the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.call_rules import CallRules
from simulation.expectations import LEARNS
from simulation.further_rules import FurtherRules
from simulation.process_rules import ProcessRules
from simulation.session_rules import SessionRules
from simulation.situation import DEAD, RESTARTED, Operation, Promises, Situation
from simulation.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulation.backend import NativeCall, SimulatedBackend
    from simulation.demand import Client
    from simulation.scheduler import Scheduler
    from simulation.tasks import Task


class Specification:
    """Says what must hold, and fails the run where it does not.

    Args:
        scheduler: tells the steps and when it is quiet.
        backend: what is in force, and who tells of native calls.
        promises: what is asked of the core under test beyond the rest.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend, promises: Promises) -> None:
        self.situation = Situation(scheduler, backend, promises)
        self.troubles = Troubles(self.situation)
        self.calls = CallRules(self.situation)
        self._sessions = SessionRules(self.situation, self.troubles)
        self._further = FurtherRules(self.situation, self.troubles)
        self._process = ProcessRules(self.situation, self.troubles)
        backend.watcher = self
        scheduler.quiet = self._quiet
        scheduler.interrupts = self._interrupts

    def begins(self, kind: str, client: Client | None = None) -> Operation:
        """Take in that the host calls the public API."""
        situation = self.situation
        for each in situation.clients if client is None else (client,):
            each.asked += 1
            each.meet(situation.caps)
        operation = Operation(kind, client, self.situation.scheduler.now_us)
        situation.operations[situation.scheduler.current] = operation
        situation.scheduler.note(f"{kind} {'' if client is None else f'session {client.place}'}")
        return operation

    def ends(self, operation: Operation, error: BaseException | None = None) -> None:
        """Take in that it has returned, or raised."""
        situation, scheduler = self.situation, self.situation.scheduler
        situation.operations.pop(scheduler.current, None)
        for client in situation.clients if operation.client is None else (operation.client,):
            client.meet(situation.caps)
        if error is not None:
            scheduler.note(f"{operation.kind} raised {error!r}")
        if isinstance(error, KeyboardInterrupt):
            # Nobody knows what became of the calls that it went through.
            situation.interrupted = True
            self.troubles.add_to_all()
        if scheduler.current.held:
            details = f"{scheduler.current} holds {scheduler.current.held} after {operation.kind}"
            situation.fail("no lock is held after a call", details)

    def _interrupts(self, task: Task) -> None:
        """Take in that a KeyboardInterrupt is raised; others may act on it before the operation that it is in ends."""
        self.troubles.any_yet = True
        operation = self.situation.operations.get(task)
        if operation is not None:
            self.calls.interrupted(operation)

    def opens(self, client: Client) -> None:
        """Take in that a session is being opened; a DSP that is out of reach is its trouble, too.

        So is one that is in reach again, of which an interrupt may have kept the controller from hearing.
        """
        self.situation.clients.append(client)
        if self.situation.out_of_reach or (self.situation.interrupted and self.troubles.open):
            self.troubles.add(client)

    def begun(self, client: Client) -> None:
        """Take in that a phase has begun: its votes must be in force now."""
        self._sessions.check_begun(client)
        self._process.check()

    def restarted(self) -> None:
        """Take in that the subsystem was restarted: every vote is lost."""
        self.situation.scheduler.note("the subsystem restarts")
        self._process.restarted()
        self.troubles.add_to_all()

    def call_begins(self, call: NativeCall) -> None:
        """Take in that a native call begins."""
        self.situation.scheduler.note(f"{call} begins")
        self.calls.begins(call)
        client = self.calls.client_of(call)
        self._sessions.check_order(call, client)
        self._sessions.check_known()
        if client is not None:
            client.costs.call_begins(self.situation.scheduler.clock.idle_us)

    def call_applied(self, call: NativeCall) -> None:
        """Take in that a native call has taken effect."""
        client = self.calls.applied(call)
        if call.crosses:
            self.troubles.crossed(call)
        if call.code:
            self._failed(call, client)
            if call.code == RESTARTED:
                self._sessions.told()
        elif client is not None:
            self._sessions.check_in_use(client)
        if client is not None and call.power_config_id is not None:
            self._further.applied(client, call.power_config_id)
            if self.situation.is_down(client):
                client.costs.down = True
                client.foresight.up_us = None
        if call.process_wide:
            self._process.check()

    def call_ended(self, call: NativeCall, *, interrupted: bool) -> None:
        """Take in that a native call has returned."""
        self.situation.scheduler.note(f"{call} {'is interrupted' if interrupted else f'returned {call.code}'}")
        client = self.calls.ended(call)
        if call.code or interrupted:
            self._failed(call, client)
        if call.crosses:
            self.troubles.crossed(call)
        if call.code == RESTARTED or (call.code == DEAD and call.earlier):
            self.troubles.told(call)
            if call.code == RESTARTED:
                for other in self.situation.under_way:
                    other.earlier = True

    def check_closed(self, client: Client) -> None:
        """Fail where a session that was closed has left anything but what is tried again."""
        if str(client.session.state) != "DESTROYED":
            self.situation.fail("a closed session is DESTROYED", self.situation.tell(client))
        self.calls.check_destroyed(client)

    def check_well(self) -> None:
        """Fail where a session, or the process, is still not as it should be once nothing has failed for long."""
        if self.situation.htp._unnoticed:
            return
        for client in self.troubles.open:
            tell = self._process.tell() if client is None else self.situation.tell(client)
            self.situation.fail("all is well once nothing fails", tell)

    def check_learnt(self) -> None:
        """Fail where a session has learnt from more gaps than there were, or from fewer."""
        clients = {client.number: client for client in self.situation.clients if not client.other}
        for session in self.situation.controller.status().sessions:
            client, learnt = clients[session.number], session.learnt
            if learnt is None or session.profile != LEARNS:
                continue
            least = 0 if client.troubles else client.costs.learnt
            if not least <= learnt.gaps <= client.costs.gaps:
                details = f"{learnt.gaps} gaps, of {least} to {client.costs.gaps}; {self.situation.tell(client)}"
                self.situation.fail("each gap is learnt from once", details)

    def check_all_closed(self, orphans: Iterable[int]) -> None:
        """Fail where a closed controller has left anything in force, but for what it tells of, by its number."""
        situation = self.situation
        if situation.htp._process.rpc_polling_time_us and None not in self.troubles:
            situation.fail("nothing stays behind", self._process.tell())
        left = set(situation.htp._clients) - situation.numbers.ids(orphans) - situation.left - self.calls.lost
        if left:
            situation.fail("nothing stays behind", f"ids {sorted(left)}; orphans {orphans}")

    def _failed(self, call: NativeCall, client: Client | None) -> None:
        if call.code in (RESTARTED, DEAD):
            self.troubles.add_to_all()
            return
        self.troubles.any_yet = True
        if call.unknown_id and self.troubles.is_told(client):
            # The session has another id made at once.
            return
        if client is not None:
            self.troubles.add(client, None if call.code is None else call)
        # What fails for the process is seen to with the same back-off; without an id nothing can be set.
        if call.process_wide or call.function == "createPowerConfigId":
            self.troubles.add(None)

    def _quiet(self) -> bool:
        """Look at everything: nobody can go on. Return whether nothing is under way."""
        situation = self.situation
        if situation.controller is not None:
            with situation.scheduler.watching():
                self._look()
        return not situation.under_way

    def _look(self) -> None:
        situation, calls = self.situation, self.situation.under_way
        self.troubles.quiet()
        self._sessions.check_operations()
        for client in situation.clients:
            if any(situation.waits_for(call, client) for call in calls):
                continue
            endings, client.endings = client.endings, []
            for ended in endings:
                ended()
            self._sessions.look(client)
            self._further.look(client)
        if not any(call.process_wide or not situation.promises.side_by_side for call in calls):
            self._process.look()
        if not calls:
            self._process.look_at_caps()
            self._process.look_at_heartbeat()
            self.calls.look_at_orphans()
        self.calls.quiet()
