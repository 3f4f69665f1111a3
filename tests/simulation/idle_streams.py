"""Streams whose reader stops at times: with an idle timeout their inference ends meanwhile, and begins again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.phases import Collected

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.phases import Phases
    from simulation.program import Op
    from simulation.public_calls import PublicCalls
    from simulation.scheduler import Scheduler
    from simulation.specification import Specification
    from simulation.timers import Timer

TOKENS = 4


class IdleStreams:
    """Reads streams, and stops.

    Args:
        specification: is told.
        public: calls the public API.
        phases: what begins and ends.
        run: does what is done while the reader stops.
    """

    def __init__(
        self, specification: Specification, public: PublicCalls, phases: Phases, run: Callable[[tuple[Op, ...]], None]
    ) -> None:
        self._scheduler = specification.situation.scheduler
        self._specification = specification
        self._public = public
        self._phases = phases
        self._run = run

    def idle(self, client: Client, op: Op) -> None:
        """Read a stream with an idle timeout; the reader stops after every second token, and then goes on or leaves."""
        stream: Any = client.session.stream(iter(range(TOKENS)), idle_timeout_us=op.steps)
        reader = _Reader(self._scheduler, self._phases, client, op.steps)
        if not self._phases.begin(client, lambda: next(stream), op.interrupt, lasts=reader.begun):
            return
        for number in range(1, TOKENS + 1):
            reader.has_token()
            if number % 2:
                self._scheduler.sleep(op.us)
                self._run(op.inner)
            if op.how == "drop" and number == TOKENS - 1:
                ended = Collected(reader.asks())
                # A tuple lets go of its last element first: the generator is closed, then what waits for it is told.
                self._scheduler.collect((ended, stream), op.us % 7 + 1)
                return
            asked = reader.asks()
            # It may end a gap, where it begins again.
            ends = client.costs.may_end_gap()
            error = self._public.call("begin", client, lambda: next(stream, None))
            client.costs.has_begun(ends)
            if number == TOKENS or error is not None:
                asked()
                return
            client.unsettled -= 1
            client.inferences += 1
            if reader.begun():
                self._specification.begun(client)


class _Reader:
    """What the reader of a stream asks for, and whether the inference may have ended by itself.

    Args:
        scheduler: tells the time.
        phases: is told.
        client: whose stream it is.
        timeout_us: its idle timeout.
    """

    def __init__(self, scheduler: Scheduler, phases: Phases, client: Client, timeout_us: int) -> None:
        self._scheduler = scheduler
        self._phases = phases
        self._client = client
        self._timeout_us = timeout_us
        # The token was given between these two.
        self._asked_us = self._given_us = scheduler.now_us
        self._alarm: Timer | None = None
        self._over = False

    def begun(self) -> bool:
        """Return whether the inference that has begun can't have ended by itself since."""
        return self._scheduler.now_us < self._asked_us + self._timeout_us

    def has_token(self) -> None:
        """Take in that the reader has a token, and asks for nothing."""
        self._given_us, self._over = self._scheduler.now_us, False
        if self.begun():
            self._alarm = self._scheduler.call_at(self._asked_us + self._timeout_us, self._ends)
        else:
            self._ends()

    def _ends(self) -> None:
        """Take in that the inference may be ending from now on; a timeout after the token was given at the latest."""
        self._over, ended, latest_us = True, self._phases.loses(self._client), self._given_us + self._timeout_us
        if latest_us > self._scheduler.now_us:
            self._scheduler.call_at(latest_us, ended)
        else:
            ended()

    def asks(self) -> Callable[[], None]:
        """Take in that the reader asks for a token, or leaves; call what is returned where the stream ends by that."""
        self._asked_us = self._scheduler.now_us
        if self._alarm is not None:
            self._alarm.clear()
        # Where it has not ended it may do so before that is heard, and begin again.
        return self._phases.ends_unseen(self._client) if self._over else self._phases.loses(self._client)
