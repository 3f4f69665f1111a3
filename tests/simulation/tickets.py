"""Inferences that end elsewhere than where they began: by another thread, by two, in time, or with their ticket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from simulation.phases import Collected

if TYPE_CHECKING:
    from simulation.demand import Client
    from simulation.phases import Phases
    from simulation.program import Op
    from simulation.public_calls import PublicCalls
    from simulation.specification import Specification
    from simulation.tasks import Task


@attrs.define(eq=False)
class _Running:
    """A ticket.

    Attributes:
        client: of which session.
        ticket: what the controller returned.
        ended: whether its end was asked for, or has come by itself.
    """

    client: Client
    ticket: Any = None
    ended: bool = False


class Tickets:
    """Begins inferences by tickets, and has them end.

    Args:
        specification: is told.
        public: calls the public API.
        phases: what begins and ends.

    Attributes:
        tasks: the threads of the host that end tickets.
    """

    def __init__(self, specification: Specification, public: PublicCalls, phases: Phases) -> None:
        self._scheduler = specification.situation.scheduler
        self._situation = specification.situation
        self._public = public
        self._phases = phases
        self.tasks: list[Task] = []

    def ticket(self, client: Client, op: Op) -> None:
        """Begin one; it ends as the operation says, while this thread goes on."""
        running, timeout_us = _Running(client), op.steps or None
        asked_us = self._scheduler.now_us

        def begin() -> None:
            running.ticket = client.session.begin(timeout_us=timeout_us)

        interrupt = op.interrupt if op.interrupt % 2 else 0
        if not self._phases.begin(client, begin, interrupt, lasts=lambda: not self._is_over(running)):
            # Where an interrupt came once it had begun nobody has the ticket: it ends soon, as any inference.
            self._phases.ends_unseen(client)()
            return
        until_us = running.ticket.until_us
        if timeout_us is not None and not asked_us <= until_us - timeout_us <= self._scheduler.now_us:
            self._situation.fail("a ticket ends after its timeout", f"at {until_us} us; {self._situation.tell(client)}")
        if self._is_over(running):
            self._expire(running)
        elif timeout_us is not None:
            self._scheduler.call_at(until_us, lambda: self._expire(running))
        if op.how == "drop":
            self._drop(running, op)
        elif op.how in ("other", "both"):
            self._later(running, op)
            if op.how == "both":
                self._later(running, op)
        elif op.how == "end":
            self._scheduler.sleep(op.us)
            self._end(running, op)

    def _later(self, running: _Running, op: Op) -> None:
        def end() -> None:
            self._scheduler.sleep(op.us)
            self._end(running, op)

        self.tasks.append(self._scheduler.spawn(f"ends {len(self.tasks)}", end))

    def _is_over(self, running: _Running) -> bool:
        until_us = running.ticket.until_us
        return until_us is not None and until_us <= self._scheduler.now_us

    def _end(self, running: _Running, op: Op) -> None:
        if running.ended:
            # "Ending it again changes nothing."
            self._public.call("end", running.client, running.ticket.end)
            return
        running.ended = True
        self._phases.end(running.client, op, running.ticket.end)
        if running.ticket.active:
            # "It has ended, once nothing refers to its token any more": this thread does, where it was interrupted.
            self._public.call("end", running.client, running.ticket.end)
        if self._is_over(running):
            # The alarm may have been first, on a thread that has not come to the end of it yet.
            self._phases.vague(running.client)
            self._phases.ends_unseen(running.client)()

    def _expire(self, running: _Running) -> None:
        if not running.ended:
            running.ended = True
            self._phases.loses(running.client)()

    def _drop(self, running: _Running, op: Op) -> None:
        if running.ended:
            return
        running.ended = True
        ticket, running.ticket = running.ticket, None
        ended = Collected(self._phases.loses(running.client))
        # A tuple lets go of its last element first: the ticket ends, then what waits for that is told.
        self._scheduler.collect((ended, ticket), op.us % 7 + 1)
