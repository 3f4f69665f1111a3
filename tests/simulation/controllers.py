"""The controllers of a host: one, or two on the same backend, of which the second is closed and made again."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from simulation.demand import Client, Use
from simulation.expectations import expected

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.closings import Closings
    from simulation.program import Op, Program
    from simulation.public_calls import PublicCalls
    from simulation.specification import Specification

LOOKS_US = 1_000


class Controllers:
    """Opens sessions on the controller that they are of, and closes controllers.

    Args:
        specification: is told; it knows the first controller.
        public: calls the public API.
        closings: closes.
        program: says which places are of the second controller.
        make: makes a controller.

    Attributes:
        places: the session that is open at each place.
    """

    def __init__(
        self,
        specification: Specification,
        public: PublicCalls,
        closings: Closings,
        program: Program,
        make: Callable[[], Any],
    ) -> None:
        self._specification = specification
        self._situation = specification.situation
        self._scheduler = specification.situation.scheduler
        self._public = public
        self._closings = closings
        self._program = program
        self._make = make
        self._other: Any = make() if program.others else None
        self._situation.shared = self._other is not None
        # Whether the second one is being closed.
        self._closes = False
        self.places: list[Client | None] = [None] * len(program.cores)

    def open(self, place: int, name: str) -> Client:
        """Open a session at a place, again where the create of an id fails."""
        while True:
            client = self._client(place, name)
            while client.other and self._closes:
                self._scheduler.sleep(LOOKS_US)
            self._specification.opens(client)
            error = self._public.call("open", client, functools.partial(self._open, client, name))
            if error is None and not client.closing:
                self.places[place] = client
                return client
            # What was created for it and could not be destroyed is an orphan now.
            client.closing = client.closed = True
            if isinstance(error, htppower.SessionClosed):
                # Nobody tries that again: its controller was closed meanwhile.
                self._situation.left.update(client.power_config_ids)

    def _client(self, place: int, name: str) -> Client:
        return Client(place, self._program.cores[place], [Use(name)], other=place in self._program.others)

    def _open(self, client: Client, name: str) -> None:
        controller = self._other if client.other else self._situation.controller
        session = controller.session(expected()[name].profile, core_ids=client.cores, owner=f"client {client.place}")
        client.session = session
        client.number = session.number

    def close_other(self, _client: Client, op: Op) -> None:
        """Close the second controller, with its sessions, and make another in its place."""
        if self._closes or self._other is None:
            return
        self._closes = True
        theirs = [each for each in self._situation.clients if each.other and not each.closing]
        for client in theirs:
            client.closing, client.must_until_us = True, 0
        opening = [self._scheduler.spawn("opens", self._open_late)] if op.how == "meanwhile" else []
        threads = 2 if op.how == "twice" else 1
        self._closings.close(None, self._other.close, threads=threads, interrupt=op.interrupt)
        self._closings.join(opening)
        for client in theirs:
            client.closed = True
            client.holds.clear()
            if client.session is not None:
                self._specification.check_closed(client)
        # What it could not destroy nobody tries again. It may have made an id for the settings of the process on a core
        # that is another's.
        self._situation.left |= self._situation.numbers.ids(self._other.status().orphans)
        self._other = self._make()
        self._closes = False
        for place, at in enumerate(self.places):
            if at in theirs:
                self.open(place, self._program.profiles[place])

    def _open_late(self) -> None:
        """Open a session on the second controller, which is being closed: it does not open, or is closed."""
        place = min(self._program.others)
        client = self._client(place, self._program.profiles[place])
        client.closing = True
        self._specification.opens(client)
        self._public.call("open", client, functools.partial(self._open, client, self._program.profiles[place]))
        client.closed = True

    def close(self) -> None:
        """Close them, and see that nothing of them stays behind."""
        situation = self._situation
        for client in situation.clients:
            client.closing = True
        controllers = [each for each in (situation.controller, self._other) if each is not None]
        for controller in controllers:
            self._closings.close(None, controller.close, threads=self._program.closers)
        situation.controller_closed = True
        orphans = [orphan for controller in controllers for orphan in controller.status().orphans]
        self._specification.check_all_closed(orphans)
