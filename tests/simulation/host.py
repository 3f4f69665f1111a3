"""The host: it does what a program says, and tells the specification what it asks for and what has returned."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from simulation.abandoned import abandon
from simulation.changes import Changes
from simulation.closings import Closings
from simulation.controllers import Controllers
from simulation.coroutines import Loop
from simulation.hints import Hints
from simulation.idle_streams import IdleStreams
from simulation.overlaps import overlap
from simulation.phases import Phases
from simulation.public_calls import PublicCalls
from simulation.tickets import Tickets

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.backend import SimulatedBackend
    from simulation.demand import Client
    from simulation.program import Op, Program
    from simulation.specification import Specification
    from simulation.window import Window


class Host:
    """A host of one controller.

    Args:
        specification: is told; it knows the controller and the scheduler whose tasks the host's threads are.
        backend: has the subsystem that restarts.
        program: what to do.
        make: makes a controller.
        window: what a small case runs in every order.

    Attributes:
        controllers: where sessions are opened.
    """

    def __init__(
        self,
        specification: Specification,
        backend: SimulatedBackend,
        program: Program,
        make: Callable[[], Any],
        window: Window,
    ) -> None:
        self._specification = specification
        self._scheduler = specification.situation.scheduler
        self._controller: Any = specification.situation.controller
        self._backend = backend
        self._public = PublicCalls(specification, raises=program.raises)
        self._closings = Closings(self._scheduler, self._public)
        self.controllers = Controllers(specification, self._public, self._closings, program, make)
        self._changes = Changes(specification, self._public, self.run)
        loop = Loop(self._scheduler, specification)
        phases = Phases(specification, self._public, loop, self.run)
        self._tickets = Tickets(specification, self._public, phases)
        streams = IdleStreams(specification, self._public, phases, self.run)
        hints = Hints(specification, self._public, phases)
        self._acts: dict[str, Callable[[Client, Op], None]] = {
            "infer": phases.infer,
            "init": phases.prepare,
            "deinit": phases.prepare,
            "stream": phases.stream,
            "coroutine": phases.coroutine,
            "ticket": self._tickets.ticket,
            "idle": streams.idle,
            "overlap": functools.partial(overlap, phases, self._scheduler),
            "abandon": functools.partial(abandon, phases, loop, self._scheduler),
            "expect": hints.expect,
            "beat": hints.beat,
            "spite": hints.spite,
            "use": self._changes.use,
            "hold": self._changes.hold,
            "cap": self._changes.cap,
            "close": self._close,
            "close controller": self.controllers.close_other,
            "status": self._status,
            "subscribe": self._subscribe,
            "rest": self._rest,
            "restart": self._restart,
            "forget": self._restart,
            "die": self._restart,
            "link_lost": self._link_lost,
            "enter": lambda _client, _op: window.enter(),
            "leave": lambda _client, _op: window.leave(),
        }

    def join(self) -> None:
        """Wait for the threads that the host's own threads have left behind."""
        self._closings.join(self._tickets.tasks)

    def run(self, ops: tuple[Op, ...]) -> None:
        """Do what a thread is to do."""
        for op in ops:
            self.act(op)

    def act(self, op: Op) -> None:
        """Do one thing."""
        try:
            client = self.controllers.places[op.place]
            assert client is not None
            self._acts[op.kind](client, op)
        finally:
            self._scheduler.current.interrupt_in = 0

    def _close(self, client: Client, op: Op) -> None:
        if client.closing:
            return
        client.closing = True
        self._changes.end_sustains(client)
        self._closings.close(client, client.session.close, threads=2 if op.how == "twice" else 1)
        client.closed = True
        client.holds.clear()
        self._specification.check_closed(client)
        self.controllers.open(op.place, op.name)

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
