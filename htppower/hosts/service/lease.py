"""One lease: a session on behalf of a client, and the inferences that run in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import attrs

from htppower.errors import HtpPowerError
from htppower.hosts.service.messages import Wrong

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from htppower.control.phases.async_blocks import AsyncInference
    from htppower.control.session import Session

# Each inference in flight takes about 500 bytes.
MOST_IN_FLIGHT = 256


@attrs.define(eq=False)
class _Running:
    """An inference of a lease, and the timer that ends it; None without a window."""

    inference: AsyncInference
    timer: asyncio.TimerHandle | None = None


class Lease:
    """A session of one client, and its inferences by their numbers.

    Args:
        number: the number that the client knows it by.
        session: the session.
        owner: the task that it is for.
        reason: why it was requested.
    """

    def __init__(self, number: int, session: Session, owner: str, reason: str) -> None:
        self.number = number
        self.session = session
        self.owner = owner
        self.reason = reason
        self.timer: asyncio.TimerHandle | None = None
        self._running: dict[int, _Running] = {}

    def begin(self, number: int, window_us: int | None) -> Coroutine[None, None, None] | None:
        """Begin an inference, or begin its window anew; return what to await until the votes are in force, or None.

        Raises:
            Wrong: an inference of this number runs and no window is given, or too many run.
        """
        running = self._running.get(number)
        if running is not None and window_us is not None:
            self._limit(number, running, window_us)
            return None
        if running is not None:
            raise Wrong("inference runs", f"inference {number} runs already", "end it, or use another number")
        if len(self._running) >= MOST_IN_FLIGHT:
            raise Wrong("too many", f"{MOST_IN_FLIGHT} inferences run in the lease", "end some of them")
        running = self._running[number] = _Running(self.session.ainference())
        try:
            up = running.inference.begin()
        except HtpPowerError as error:
            del self._running[number]
            raise Wrong("lease ended", str(error), "request a new lease with hold") from None
        if not up:
            return self._raised(number, running, window_us)
        if window_us is not None:
            self._limit(number, running, window_us)
        return None

    async def _raised(self, number: int, running: _Running, window_us: int | None) -> None:
        try:
            await running.inference.raised()
        except BaseException as error:
            if self._running.get(number) is running:
                del self._running[number]
            if isinstance(error, HtpPowerError):
                raise Wrong("lease ended", str(error), "request a new lease with hold") from None
            raise
        if self._running.get(number) is not running:
            raise Wrong("lease ended", "the lease has ended during the begin", "request a new lease with hold")
        if window_us is not None:
            self._limit(number, running, window_us)

    def end(self, number: int) -> bool:
        """End an inference, without waiting for a call; return whether it ran."""
        running = self._running.pop(number, None)
        if running is None:
            return False
        if running.timer is not None:
            running.timer.cancel()
        running.inference.end()
        return True

    def end_all(self) -> None:
        """End every inference and timer of the lease, without waiting for a call."""
        if self.timer is not None:
            self.timer.cancel()
        for number in tuple(self._running):
            self.end(number)

    @property
    def in_flight(self) -> int:
        """How many inferences run."""
        return len(self._running)

    def _limit(self, number: int, running: _Running, window_us: int) -> None:
        if running.timer is not None:
            running.timer.cancel()
        running.timer = asyncio.get_running_loop().call_later(window_us / 1e6, self.end, number)
