"""What a host does with sessions that learn: hints, even inferences, and inferences that come at the worst time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.predictions import Hint, Span
from simulation.program import Op

if TYPE_CHECKING:
    from simulation.demand import Client
    from simulation.phases import Phases
    from simulation.public_calls import PublicCalls
    from simulation.specification import Specification

# How often an inference that is to come just after the votes came down looks, and how long it waits for that.
LOOKS_US = 1_000
WAITS_US = 500_000


class Hints:
    """Gives hints, and infers in patterns.

    Args:
        specification: is told.
        public: calls the public API.
        phases: runs the inferences.
    """

    def __init__(self, specification: Specification, public: PublicCalls, phases: Phases) -> None:
        self._situation = specification.situation
        self._troubles = specification.troubles
        self._scheduler = specification.situation.scheduler
        self._public = public
        self._phases = phases

    def expect(self, client: Client, op: Op) -> None:
        """Give a hint."""
        scheduler, us = self._scheduler, max(1, op.us)
        asked_us, asked = scheduler.now_us, client.asked
        alone = self._phases.is_alone(client)
        arguments = {"in": {"in_us": us}, "every": {"every_us": us}, "none": {}}[op.how]
        error = self._public.call("expect", client, lambda: client.session.expect(**arguments), op.interrupt)
        now_us = scheduler.now_us
        certain = alone and error is None and client.asked == asked + 1 and self._phases.is_alone(client)
        hint = {
            "in": Hint(at=Span(asked_us + us, now_us + us), since_us=now_us + client.busy),
            "every": Hint(every_us=us),
            "none": None,
        }[op.how]
        client.foresight.expect(hint, certain=certain)
        if not client.busy:
            self._phases.idle(client, asked_us, certain=certain)

    def beat(self, client: Client, op: Op) -> None:
        """Run inferences at an even rate."""
        for _ in range(op.steps):
            begun_us = self._scheduler.now_us
            self._phases.infer(client, Op("infer", op.place, op.us // 8))
            self._scheduler.sleep(max(0, begun_us + op.us - self._scheduler.now_us))

    def spite(self, client: Client, op: Op) -> None:
        """Run inferences each of which comes just after the votes came down."""
        for _ in range(op.steps):
            self._phases.infer(client, Op("infer", op.place, op.us))
            for _ in range(WAITS_US // LOOKS_US):
                if self._situation.is_down(client):
                    break
                self._scheduler.sleep(LOOKS_US)
