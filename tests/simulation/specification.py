"""What must and may be in force, compared with the simulated HTP after every step that changes anything.

Written from the documentation (``DESIGN.md``, ``docs/state_machine.md``, ``docs/embedding.md``, ``docs/holds.md``). It
imports nothing of the controller, and reads of it only what its users can: a session's state, profile and count.

Two moments are looked at. When a call has taken effect and when a phase has begun, the votes of each session that is
surely in use must be in force. When no task can go on (*quiet*) everything that is due has been done, so that without a
native call under way nothing may be up that need not be, however short the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.backend import BAD_ID, CREATE, DESTROY, RENEW, SET
from simulation.call_rules import CallRules
from simulation.further_rules import FurtherRules
from simulation.process_rules import ProcessRules
from simulation.session_rules import SessionRules
from simulation.situation import DEAD, LOST, Operation, Situation
from simulation.troubles import MOST_IN_A_ROW, Troubles

if TYPE_CHECKING:
    from simulation.backend import NativeCall, SimulatedBackend
    from simulation.demand import Client
    from simulation.scheduler import Scheduler


class Specification:
    """Says what must hold, and fails the run if it does not.

    Args:
        scheduler: tells the steps and when it is quiet.
        backend: what is in force, and what tells of native calls.
    """

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend) -> None:
        self.situation = Situation(scheduler, backend)
        self.troubles = Troubles(self.situation)
        self.calls = CallRules(self.situation, self.troubles)
        self.sessions = SessionRules(self.situation, self.troubles)
        self.process = ProcessRules(self.situation, self.troubles)
        self._further = FurtherRules(self.situation, self.troubles)
        backend.watcher = self
        scheduler.quiet = self._quiet

    def begins(self, kind: str, client: Client | None = None) -> Operation:
        """Take in that the host calls the public API."""
        situation, scheduler = self.situation, self.situation.scheduler
        inside = client is not None and client.open_at == client.asked and not situation.operations
        if client is not None and inside:
            claims = (*client.holds, *situation.caps)
            inside = situation.must_be_up(client) and all(each.certain and each.until_us is None for each in claims)
        for each in situation.clients if client is None else (client,):
            each.asked += 1
            each.meet(situation.caps)
        operation = Operation(kind, client, scheduler.steps, inside=inside)
        situation.operations[scheduler.current] = operation
        scheduler.note(f"{kind} {'' if client is None else f'session {client.place}'}")
        return operation

    def ends(self, operation: Operation, error: BaseException | None = None) -> None:
        """Take in that it has returned, or raised."""
        situation, scheduler = self.situation, self.situation.scheduler
        situation.operations.pop(scheduler.current, None)
        for client in situation.clients if operation.client is None else (operation.client,):
            client.meet(situation.caps)
        if error is not None:
            scheduler.note(f"{operation.kind} raised {error!r}")
        if scheduler.current.held:
            details = f"{scheduler.current} holds {scheduler.current.held} after {operation.kind}"
            situation.fail("no lock is held after a call", details)
        if operation.calls:
            self.sessions.overtaken(operation)

    def opens(self, client: Client) -> None:
        """Take in that a session is being opened."""
        self.situation.clients.append(client)
        self.calls.new_session(client)
        if self.situation.out_of_reach or self.troubles.row:
            self.troubles.add(client)

    def opened_unknown(self, client: Client) -> None:
        """Take in that a session has opened with nothing known of its votes: no call may be made then."""
        if self.troubles.link == "WELL" and client not in self.troubles:
            self.situation.fail("a session opens as UNKNOWN on a lost link only", self.situation.tell(client))
        self.troubles.add(client, own=True)

    def begun(self, client: Client, *, untroubled: bool = False) -> None:
        """Take in that a phase has begun: its votes must be in force now; ``untroubled``: it was well before."""
        self.sessions.check_in_use(client)
        if untroubled and self.troubles.row < MOST_IN_A_ROW:
            self.sessions.check_each_core(client)
        self.process.check()

    def restarted(self) -> None:
        """Take in that the subsystem was restarted: every vote is lost."""
        self.situation.scheduler.note("the subsystem restarts")
        self.process.restarted()
        self.troubles.told()

    def call_begins(self, call: NativeCall) -> None:
        """Take in that a native call begins."""
        self.situation.scheduler.note(f"{call} begins")
        client = self.situation.client_of(call)
        self.calls.begins(call, client)
        self.process.begins(call)
        self.sessions.check_order(call, client)
        self.sessions.check_known()

    def call_applied(self, call: NativeCall) -> None:
        """Take in that a native call has taken effect."""
        client = self.situation.client_of(call)
        self.calls.applied(call, client)
        if call.function == RENEW:
            self._renewed()
        elif call.code in (LOST, DEAD):
            self._lost(call, client)
        elif not call.code and client is not None:
            self.sessions.check_in_use(client)
        if client is not None and call.power_config_id is not None:
            self._further.applied(client, call.power_config_id)

    def call_ended(self, call: NativeCall) -> None:
        """Take in that a native call has returned."""
        self.situation.scheduler.note(f"{call} returned {call.code}")
        client = self.situation.client_of(call)
        self.calls.ended(call)
        if call.code and not call.injected:
            self.process.noticed()
        if call.code in (LOST, DEAD):
            return
        if call.function == RENEW:
            if call.code:
                self.troubles.all_wait()
            return
        if call.settings and not call.votes:
            self.process.ended(call)
            if call.code:
                # A degradation takes predictions back.
                for each in self.situation.clients:
                    each.ahead = None
            if not call.code:
                self.process.check()
            return
        self._count(call, client)

    def _count(self, call: NativeCall, client: Client | None) -> None:
        """Take in how a call has ended that carries votes, or creates or destroys an id."""
        troubles = self.troubles
        if not call.code:
            # The destruction of an id that the library does not know proves nothing.
            troubles.row = 0 if call.function == SET else troubles.row
            return
        if client is not None and not (call.function == DESTROY and client.closing):
            troubles.add(client, call)
        troubles.add(None)
        is_counted = call.code != BAD_ID and (call.function != CREATE or call.code == 13003)
        troubles.row += is_counted
        if troubles.row >= MOST_IN_A_ROW:
            troubles.all_wait()

    def _lost(self, call: NativeCall, client: Client | None) -> None:
        self.troubles.row += 1
        self.troubles.lost()
        self.sessions.lost(client)
        if call.function == CREATE and client is not None:
            self.troubles.add(client, call)

    def _renewed(self) -> None:
        self.process.refused.clear()
        self.process.left = False
        self.troubles.lost(renewed=True)
        self.sessions.lost(None)

    def check_closed(self, client: Client) -> None:
        """Fail if a session that was closed has left anything but what is tried again."""
        if str(client.session.state) != "DESTROYED":
            self.situation.fail("a closed session is DESTROYED", self.situation.tell(client))
        self.process.left |= self.troubles.row > 0 or not self.situation.backend.well
        self.calls.check_closed(client)

    def check_well(self) -> None:
        """Fail if anything is still not as it should be once nothing has failed for long."""
        situation = self.situation
        link, open_ = self.troubles.link, [client for client in situation.clients if not client.closing]
        if situation.backend.well and all(str(client.session.state) == "UNVOTED" for client in open_):
            # Nothing was called since the link was lost, or made anew.
            return
        if link != "WELL" or not situation.backend.well:
            votes = any(each.raised is not None for client in open_ for each in client.possible(situation.caps))
            if votes:
                situation.fail("the link is well once nothing fails", f"{link}, backend well: {situation.backend.well}")
            return
        for client in self.troubles.open:
            tell = self.process.tell() if client is None else situation.tell(client)
            situation.fail("all is well once nothing fails", tell)

    def check_all_closed(self) -> None:
        """Fail if closed controllers have left anything in force."""
        situation = self.situation
        settings = situation.htp._process
        if (
            settings.rpc_polling_time_us
            and None not in self.troubles
            and "RPC_POLLING_TIME" not in self.process.refused
        ):
            situation.fail("nothing stays behind", self.process.tell())
        if situation.htp._clients:
            situation.fail("nothing stays behind", f"ids {sorted(situation.htp._clients)}")

    def _quiet(self) -> bool:
        """Look at everything: no task can go on. Return whether no call is under way."""
        situation = self.situation
        if situation.controller is not None and not situation.closed:
            with situation.scheduler.watching():
                self._look()
        return situation.under_way is None

    def _look(self) -> None:
        situation = self.situation
        self.troubles.quiet()
        self.sessions.check_operations()
        if situation.under_way is not None:
            for client in situation.clients:
                self.sessions.check_in_use(client)
            return
        situation.is_told = False
        if self.troubles.any_yet:
            self.calls.take_in_orphans()
        for client in situation.clients:
            endings, client.endings = client.endings, []
            for ended in endings:
                ended()
            self.sessions.look(client)
            self._further.look(client)
        self.process.left = self.process.left and bool(self.calls.told_orphans())
        self.process.look()
        self.process.look_at_caps()
        self.process.look_at_heartbeat()
        self.calls.look()
