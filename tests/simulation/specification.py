"""The votes that must and may be in force, compared with the simulated HTP after every step that changes anything.

Written from the documentation (``DESIGN.md``, ``docs/state_machine.md``, ``docs/embedding.md``, ``docs/holds.md``). It
imports only the errors of the controller. It reads only what users can read: a session's state, profile and count, and
the link and the orphans of a status.

Two kinds of moments are judged. When a call has had its effect, and when a phase has begun, the votes of each session
that is surely in use must be in force. When no task can run (*quiet*), everything that is due must be done: if no
native call is under way then, no vote may be up that is not needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.backend import BAD_ID, CREATE, DESTROY, RENEW, SET
from simulation.binding import link_of, orphans_of
from simulation.call_rules import CallRules
from simulation.further_rules import FurtherRules
from simulation.process_rules import ProcessRules
from simulation.session_rules import SessionRules
from simulation.situation import DEAD, LOST, MOST_IN_A_ROW, Operation, Situation, Troubles
from support.inside import clients_of, settings_of

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.backend import NativeCall, SimulatedBackend
    from simulation.demand import Client
    from simulation.scheduler import Scheduler


class Specification:
    """Fails the run if a rule is broken; ``raises``: whether the controllers have ``on_error="raise"``."""

    def __init__(self, scheduler: Scheduler, backend: SimulatedBackend, *, raises: bool) -> None:
        self.situation = Situation(scheduler, backend)
        self.troubles = Troubles(self.situation)
        self.calls = CallRules(self.situation, self.troubles)
        self.sessions = SessionRules(self.situation, self.troubles)
        self.process = ProcessRules(self.situation, self.troubles)
        self._further = FurtherRules(self.situation, self.troubles)
        self._raises = raises
        backend.judge = self
        scheduler.quiet = self._quiet

    def call(self, kind: str, client: Client | None, call: Callable[[], object]) -> BaseException | None:
        """Call the public API for the host; return the error that it raised, which must be allowed."""
        operation = self._begins(kind, client)
        error: BaseException | None = None
        try:
            call()
        except (htppower.VoteRejected, htppower.SessionClosed, htppower.CloseTimedOut) as raised:
            error = raised.with_traceback(None)
        closing = client is None or client.closing
        if isinstance(error, htppower.SessionClosed) and not closing:
            self.situation.fail("SessionClosed is raised on what was closed", kind)
        elif isinstance(error, htppower.VoteRejected) and not self._raises and kind != "open":
            self.situation.fail("a vote that fails raises nothing", f"{kind}: {error!r}")
        self._ends(operation, error)
        return error

    def _begins(self, kind: str, client: Client | None) -> Operation:
        situation, scheduler = self.situation, self.situation.scheduler
        inside = client is not None and client.open_at == client.asked and not situation.operations
        if client is not None and inside:
            claims = (*client.holds, *situation.caps)
            inside = situation.must_be_up(client) and all(each.certain and each.until_us is None for each in claims)
        for each in situation.clients if client is None else (client,):
            each.asked += 1
            each.meet(situation.caps)
            for other in situation.operations.values():
                other.inside &= other.client is not each
        operation = Operation(kind, client, scheduler.steps, inside=inside)
        situation.operations[scheduler.current] = operation
        scheduler.note(kind, "" if client is None else f"session {client.place}")
        return operation

    def _ends(self, operation: Operation, error: BaseException | None) -> None:
        situation, scheduler = self.situation, self.situation.scheduler
        situation.operations.pop(scheduler.current, None)
        for client in situation.clients if operation.client is None else (operation.client,):
            client.meet(situation.caps)
        if error is not None:
            scheduler.note(f"{operation.kind} raised {error!r}")
        if scheduler.current.held:
            details = f"{scheduler.current} holds {scheduler.current.held} after {operation.kind}"
            situation.fail("no lock is held after a call", details)
        if operation.unknown is not None:
            situation.fail("an id that is answered 13001 is replaced", f"{operation} has left id {operation.unknown}")
        if operation.calls:
            self.sessions.overtaken(operation)

    def opens(self, client: Client) -> None:
        """Record that a session is being opened."""
        self.situation.clients.append(client)
        self.calls.new_session(client)
        if self.situation.out_of_reach or self.troubles.row:
            self.troubles.add(client)

    def opened_unknown(self, client: Client) -> None:
        """Record that a session has opened in the state UNKNOWN, which means that no call may be made."""
        if self.troubles.link == "WELL" and client not in self.troubles:
            self.situation.fail("a session opens as UNKNOWN on a lost link only", self.situation.tell(client))
        self.troubles.add(client, own=True)

    def begun(self, client: Client, *, untroubled: bool = False) -> None:
        """Judge a phase that has begun: its votes must be in force; ``untroubled``: no call had failed before."""
        self.sessions.check_in_use(client)
        if untroubled and self.troubles.row < MOST_IN_A_ROW:
            self.sessions.check_each_core(client)
        self.process.check()

    def restarted(self) -> None:
        """Record that the subsystem has restarted, so every vote is lost."""
        self.situation.scheduler.note("the subsystem restarts")
        self.process.restarted()
        self.troubles.told()

    def call_begins(self, call: NativeCall) -> None:
        """Judge a native call that begins."""
        self.situation.scheduler.note(call, "begins")
        client = self.situation.client_of(call)
        self.calls.begins(call, client)
        self.process.begins(call)
        self.sessions.check_order(call, client)

    def call_applied(self, call: NativeCall) -> None:
        """Judge a native call that has taken effect, with its code."""
        client = self.situation.client_of(call)
        self.calls.applied(call, client)
        if call.function == RENEW:
            self.process.refused.clear()
            self.process.left = False
            self.troubles.lost(renewed=True)
            self.sessions.lost(None)
        elif call.code in (LOST, DEAD):
            self.troubles.row += 1
            self.troubles.lost()
            self.sessions.lost(client)
            if call.function == CREATE and client is not None:
                self.troubles.add(client, call)
        elif not call.code and client is not None:
            self.sessions.check_in_use(client)
        if client is not None and call.power_config_id is not None:
            self._further.applied(client, call.power_config_id)

    def call_ended(self, call: NativeCall) -> None:
        """Judge a native call that has returned."""
        self.situation.scheduler.note(call, "returned", call.code)
        client = self.situation.client_of(call)
        self.calls.ended(call)
        if call.code and not call.injected:
            self.process.unnoticed_us = None
        if call.code in (LOST, DEAD):
            return
        if call.function == RENEW:
            if call.code:
                self.troubles.all_wait()
        elif call.settings and not call.votes:
            self.process.ended(call)
            if call.code:
                # After a refused setting the controller forgets its predictions.
                for each in self.situation.clients:
                    each.ahead = None
            else:
                self.process.check()
        else:
            self._count(call, client)

    def _count(self, call: NativeCall, client: Client | None) -> None:
        """Count the failures of calls that carry votes, or that create or destroy an id."""
        troubles = self.troubles
        if not call.code:
            # A successful destroy proves nothing: the library answers 0 even if it does not know the id.
            troubles.row = 0 if call.function == SET else troubles.row
            return
        if client is not None and not (call.function == DESTROY and client.closing):
            troubles.add(client, call)
        troubles.add(None)
        troubles.row += call.code != BAD_ID and (call.function != CREATE or call.code == 13003)
        if troubles.row >= MOST_IN_A_ROW:
            troubles.all_wait()

    def check_closed(self, client: Client) -> None:
        """Judge a closed session: only ids that will be destroyed by a retry may be left."""
        if str(client.session.state) != "DESTROYED":
            self.situation.fail("a closed session is DESTROYED", self.situation.tell(client))
        self.process.left |= self.troubles.row > 0 or not self.situation.backend.well
        self.calls.check_closed(client)

    def check_well(self) -> None:
        """Judge the end of a run: everything must be right, because nothing has failed for long enough."""
        situation, controller = self.situation, self.situation.controller
        with situation.scheduler.watching():
            status = controller.status()
        if (str(status.link), set(status.orphans)) != (link_of(controller), orphans_of(controller)):
            situation.fail("the status says the link and the orphans", f"{status.link}, {status.orphans}")
        link, open_ = self.troubles.link, [client for client in situation.clients if not client.closing]
        if situation.backend.well and all(str(client.session.state) == "UNVOTED" for client in open_):
            # No call was made since the link was lost, or the device created again.
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
        """Judge closed controllers: nothing may be in force."""
        situation, polling_us = self.situation, settings_of(self.situation.htp).rpc_polling_time_us
        if polling_us and None not in self.troubles and "RPC_POLLING_TIME" not in self.process.refused:
            situation.fail("nothing stays behind", self.process.tell())
        if clients_of(situation.htp):
            situation.fail("nothing stays behind", f"ids {sorted(clients_of(situation.htp))}")

    def _quiet(self) -> bool:
        """Judge everything, since no task can run; return whether no call is under way."""
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
        self.calls.take_in_orphans()
        for client in situation.clients:
            endings, client.endings = client.endings, []
            for ended in endings:
                ended()
            self.sessions.look(client)
            self._further.look(client)
        self.process.left = self.process.left and bool(orphans_of(situation.controller))
        self.process.look()
        self.process.look_at_caps()
        self.process.look_at_heartbeat()
        self.calls.look()
