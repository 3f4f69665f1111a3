"""The host: it does what a program says, and tells the specification what it asks for and what has returned."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from simulation.changes import Changes
from simulation.coroutines import Loop
from simulation.demand import Client, Use
from simulation.expectations import expected
from simulation.hints import Hints
from simulation.phases import Phases
from simulation.public_calls import PublicCalls

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.backend import SimulatedBackend
    from simulation.program import Op, Program
    from simulation.specification import Specification


class Host:
    """A host of one controller.

    Args:
        specification: is told; it knows the controller and the scheduler whose tasks the host's threads are.
        backend: has the subsystem that restarts.
        program: what to do.

    Attributes:
        places: the session that is open at each place.
    """

    def __init__(self, specification: Specification, backend: SimulatedBackend, program: Program) -> None:
        self._specification = specification
        self._scheduler = specification.situation.scheduler
        self._controller: Any = specification.situation.controller
        self._backend = backend
        self._program = program
        self._public = PublicCalls(specification, raises=program.raises)
        self._changes = Changes(specification, self._public, self.run)
        phases = Phases(specification, self._public, Loop(self._scheduler, specification), self.run)
        hints = Hints(specification, self._public, phases)
        self._acts: dict[str, Callable[[Client, Op], None]] = {
            "infer": phases.infer,
            "init": phases.prepare,
            "deinit": phases.prepare,
            "stream": phases.stream,
            "coroutine": phases.coroutine,
            "expect": hints.expect,
            "beat": hints.beat,
            "spite": hints.spite,
            "use": self._changes.use,
            "hold": self._changes.hold,
            "cap": self._changes.cap,
            "close": self._close,
            "status": self._status,
            "subscribe": self._subscribe,
            "rest": self._rest,
            "restart": self._restart,
            "forget": self._restart,
            "die": self._restart,
            "link_lost": self._link_lost,
        }
        self.places: list[Client | None] = [None] * len(program.cores)

    def open(self, place: int, name: str) -> Client:
        """Open a session at a place, again where the create of an id fails."""
        specification = self._specification
        while True:
            client = Client(place, self._program.cores[place], [Use(name)])
            specification.opens(client)
            error = self._public.call("open", client, functools.partial(self._open, client, name))
            if error is None:
                self.places[place] = client
                return client
            # What was created for it and could not be destroyed is an orphan now.
            client.closing = client.closed = True

    def run(self, ops: tuple[Op, ...]) -> None:
        """Do what a thread is to do."""
        for op in ops:
            self.act(op)

    def act(self, op: Op) -> None:
        """Do one thing."""
        try:
            client = self.places[op.place]
            assert client is not None
            self._acts[op.kind](client, op)
        finally:
            self._scheduler.current.interrupt_in = 0

    def _open(self, client: Client, name: str) -> None:
        session = self._controller.session(
            expected()[name].profile, core_ids=client.cores, owner=f"client {client.place}"
        )
        client.session = session
        client.number = session.number

    def close_controller(self) -> None:
        """Close the controller, and see that nothing of it stays behind."""
        situation = self._specification.situation
        for client in situation.clients:
            client.closing = True
        self._public.call("close", None, self._controller.close)
        situation.controller_closed = True
        self._specification.check_all_closed(self._controller.status().orphans)

    def _close(self, client: Client, op: Op) -> None:
        if client.closing:
            return
        client.closing = True
        self._changes.end_sustains(client)
        while isinstance(self._public.call("close", client, client.session.close), KeyboardInterrupt):
            pass
        client.closed = True
        client.holds.clear()
        self._specification.check_closed(client)
        self.open(op.place, op.name)

    def _status(self, client: Client, op: Op) -> None:
        self._public.call("status", None, self._controller.status, op.interrupt)

    def _subscribe(self, client: Client, op: Op) -> None:
        unsubscribe: Any = None

        def subscriber(_event: object) -> None:
            self._scheduler.sleep(op.us)

        def subscribe() -> None:
            nonlocal unsubscribe
            unsubscribe = self._controller.subscribe(subscriber)

        if self._public.call("subscribe", None, subscribe, op.interrupt) is None:
            self._scheduler.sleep(op.us)
            self._public.call("unsubscribe", None, unsubscribe)

    def _rest(self, client: Client, op: Op) -> None:
        self._scheduler.sleep(op.us)

    def _restart(self, client: Client, op: Op) -> None:
        self._scheduler.point()
        self._backend.restart(fatal=op.kind == "die", forget_ids=op.kind == "forget")
        self._specification.restarted()

    def _link_lost(self, client: Client, op: Op) -> None:
        """Tell that a call of the host's own was answered with a lost link, where the controller takes that."""
        tell = getattr(self._controller, "link_lost", None)
        if tell is None:
            return
        self._specification.troubles.add_to_all()
        self._specification.calls.alive_again()
        for call in self._specification.situation.under_way:
            call.perhaps_earlier = True
        self._public.call("link_lost", None, lambda: tell(1007), op.interrupt)
