"""The host: it runs a program, and reports to the specification what it requests and which calls have returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.changes import Changes
from simulation.demand import Client, Use
from simulation.expectations import expected
from simulation.phases import Loop, Phases
from simulation.program import FATES, Op
from support.inside import record_of

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.program import Program
    from simulation.simulate import Window
    from simulation.specification import Specification

# How often the host checks whether the second controller, or a session that closes later, is closed.
LOOKS_US, CLOSING_LOOKS_US = 1_000, 50_000
# The longest time until a session is closed that was dropped or closed without waiting: it waits for all calls under
# way.
CLOSED_WITHIN_US = 120_000_000


class Host:
    """A host of one controller, or of two on one backend. The second controller is closed and made again."""

    def __init__(self, specification: Specification, program: Program, make: Callable[[], Any], window: Window) -> None:
        self._specification = specification
        self._situation = specification.situation
        self._scheduler = specification.situation.scheduler
        self._call = specification.call
        self._backend = specification.situation.backend
        self._program = program
        self._make = make
        self._window = window
        self._other: Any = make() if program.others else None
        # Whether the second controller is being closed now.
        self._closes = False
        self._places: list[Client | None] = [None] * len(program.cores)
        self._changes = Changes(specification, self.run)
        self._phases = phases = Phases(specification, self.run)
        self._acts: dict[str, Callable[[Client, Op], object]] = {
            **dict.fromkeys(("infer", "init", "deinit"), phases.infer),
            "stream": phases.stream,
            "coroutine": Loop(specification, phases).infer,
            "ticket": phases.ticket,
            "expect": self._expect,
            "use": self._changes.use,
            "hold": self._changes.hold,
            "cap": self._changes.cap,
            "close": self._close,
            "close controller": self._close_other,
            "status": lambda _client, _op: self._call("status", None, self._situation.controller.status),
            "subscribe": self._subscribe,
            "rest": lambda _client, op: self._scheduler.sleep(op.us),
            "link_lost": self._link_lost,
            "enter": lambda _client, _op: window.enter(),
            "leave": lambda _client, _op: window.leave(),
            **dict.fromkeys(FATES, self._fate),
        }

    def open(self, place: int, name: str) -> None:
        """Open a session for a client; repeat this if the create of an id fails."""
        while True:
            client = Client(place, self._program.cores[place], [Use(name)], other=place in self._program.others)
            while client.other and self._closes:
                self._scheduler.sleep(LOOKS_US)
            self._specification.opens(client)
            controller = self._other if client.other else self._situation.controller

            def session(client: Client = client, controller: Any = controller) -> None:
                profile, owner = expected()[name].profile, f"client {place}"
                client.session = controller.session(profile, core_ids=client.cores, owner=owner)
                if str(client.session.state) == "UNKNOWN":
                    self._specification.opened_unknown(client)

            if self._call("open", client, session) is None:
                self._places[place] = client
                return
            # Ids that were created and then could not be destroyed are orphans now.
            client.closing = client.closed = True

    def run(self, ops: tuple[Op, ...]) -> None:
        """Run the operations of a thread."""
        for op in ops:
            client = self._places[op.place]
            assert client is not None
            if isinstance(client.session, htppower.Session):
                self._acts[op.kind](client, op)

    def join(self) -> None:
        """Wait for the threads that the host's own threads have left behind."""
        for task in self._phases.tasks:
            self._scheduler.join(task)

    def make_well(self) -> None:
        """End all faults, and use each session once more."""
        backend = self._backend
        backend.spared = self._scheduler.prompt = True
        self._fate(None, Op("come back"))
        if backend.device:
            backend.htp.refuse_settings()
        for client in self._places:
            assert client is not None
            self._phases.infer(client, Op("infer"))

    def close(self) -> None:
        """Close the controllers."""
        situation = self._situation
        for client in situation.clients:
            client.closing = True
        for controller in (situation.controller, self._other):
            if controller is not None:
                self._call("close", None, controller.close)
        situation.closed = True
        self._specification.check_all_closed()

    def _close(self, client: Client, op: Op) -> None:
        if client.closing:
            return
        client.closing = True
        self._changes.end_sustains(client)
        used = client.busy or client.unsettled or client.holds or self._situation.is_asked(client)
        if op.how == "drop" and not used:
            # A session is closed when nothing refers to it. Its record still has its state.
            session, client.session = client.session, record_of(client.session)
            self._scheduler.collect(session, op.us % 7 + 1, [session])
            del session
            self._wait_until_closed(client)
        else:
            error = self._call("close", client, lambda: client.session.close(0 if op.how == "haste" else None))
            if isinstance(error, htppower.CloseTimedOut):
                self._wait_until_closed(client)
        self._closed(client)
        # A small case has nothing after the close.
        self._window.leave()
        self.open(op.place, op.name)

    def _closed(self, client: Client) -> None:
        client.closed = True
        client.holds.clear()
        if client.session is not None:
            self._specification.check_closed(client)

    def _wait_until_closed(self, client: Client) -> None:
        until_us = self._scheduler.now_us + CLOSED_WITHIN_US
        while str(client.session.state) != "DESTROYED":
            if self._scheduler.now_us > until_us:
                self._situation.fail("a session is closed when its turn comes", self._situation.tell(client))
            self._scheduler.sleep(CLOSING_LOOKS_US)

    def _close_other(self, _client: Client, _op: Op) -> None:
        """Close the second controller with its sessions, and replace it."""
        if self._closes or self._other is None:
            return
        self._closes = True
        theirs = [each for each in self._situation.clients if each.other and not each.closing]
        for client in theirs:
            client.closing, client.must_until_us = True, 0
        self._call("close", None, self._other.close)
        for client in theirs:
            self._closed(client)
        self._other = self._make()
        self._closes = False
        for place, at in enumerate(self._places):
            if at in theirs:
                self.open(place, self._program.profiles[place])

    def _expect(self, client: Client, op: Op) -> None:
        """Give a hint.

        After the first hint for a session that one thread uses alone, its votes must be up at the begin.
        """
        scheduler, situation = self._scheduler, self._situation
        us, now_us, asked = max(1, op.us), scheduler.now_us, client.asked
        alone = not (client.busy or client.unsettled or client.endings or client.closing or situation.operations)
        arguments = {"in": {"in_us": us}, "every": {"every_us": us}, "none": {}}[op.how]
        error = self._call("expect", client, lambda: client.session.expect(**arguments))
        client.hints += 1
        possible = client.possible(situation.caps)
        lead_us, due_us = possible[0].raise_ahead_us, now_us + us
        alone = alone and error is None and client.asked == asked + 1 and len(possible) == 1 and client.hints == 1
        untroubled = (
            client.troubles == 0
            and not self._specification.process.refused
            and client.up_us is None
            and scheduler.now_us == now_us
        )
        later = due_us - lead_us > max(client.may_until_us, now_us + possible[0].most_us)
        if op.how == "in" and alone and untroubled and lead_us and later:
            client.ahead = (due_us - lead_us, due_us, client.asked)
            scheduler.call_at(due_us - lead_us, lambda: None)

    def _subscribe(self, _client: Client, op: Op) -> None:
        unsubscribe: Any = None

        def subscribe() -> None:
            nonlocal unsubscribe
            unsubscribe = self._situation.controller.subscribe(lambda _event: self._scheduler.sleep(op.us))

        self._call("subscribe", None, subscribe)
        self._scheduler.sleep(op.us)
        self._call("unsubscribe", None, unsubscribe)

    def _fate(self, _client: Client | None, op: Op) -> None:
        """Make something happen to the subsystem."""
        htp, kind, answer = self._backend.htp, op.kind, op.how or "reset"
        self._scheduler.note(f"{kind} {answer}")
        if kind in ("refuse", "allow"):
            htp.refuse_settings(*(("RPC_POLLING_TIME",) if kind == "refuse" else ()))
            return
        if kind == "come back" and self._backend.dsp_is_up:
            htp.second_user = False
            return
        htp.second_user = kind == "held"
        if kind in ("spoil", "held"):
            htp.spoil_rebuild()
        fatal = kind == "die"
        if self._backend.device:
            htp.restart_subsystem(fatal=fatal, fastrpc=answer if kind != "held" else "reset")  # type: ignore[arg-type]
        else:
            htp.restart_subsystem(fatal=fatal)
        self._specification.restarted()

    def _link_lost(self, _client: Client, op: Op) -> None:
        """Report that a call of the host was answered with a lost link, if that is possible at this time."""
        if not self._specification.process.may_be_told:
            return
        code = 1011 if op.us % 1_000 else 1007
        self._specification.sessions.link_is_told_of()
        if code == 1011:
            # No call is made until the device is created again.
            self._specification.troubles.told()
        self._call("link_lost", None, lambda: self._situation.controller.link_lost(code))
