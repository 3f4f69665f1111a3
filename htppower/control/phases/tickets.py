"""Tickets: inferences that begin in one place and end in another, such as a runtime's callback."""

from __future__ import annotations

import contextlib
import logging
import weakref
from typing import TYPE_CHECKING, Any

from htppower.control.context_manager import in_closed_generator
from htppower.control.own_work import in_own_work
from htppower.control.phases.blocks import Inference
from htppower.errors import PhaseMisuse

if TYPE_CHECKING:
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.phases.blocks import Phases

_LOGGER = logging.getLogger("htppower")


class Ticket:
    """One inference, until ``end``. Made by ``Session.begin``.

    The inference ends by ``end``, after its timeout, or when the ticket is garbage collected.

    Attributes:
        since_us: when it began, by the controller's clock.
        until_us: when its timeout ends it; None without a timeout.
    """

    __slots__ = ("__weakref__", "_alarm", "_inference", "_phases", "since_us", "until_us")

    def __init__(self, phases: Phases, timeout_us: int | None) -> None:
        self._phases = phases
        self._alarm: Any = None
        self._inference = Inference(phases)
        try:
            self._inference.__enter__()
            self.since_us = phases.gate.time.now_us
            self.until_us = None if timeout_us is None else self.since_us + timeout_us
            _show(phases.session, self)
            if self.until_us is not None:
                self._alarm = phases.arm(self.until_us, self._expire, "the timeout of a ticket")
        except BaseException:
            # The caller gets an exception instead of a ticket, so nothing else could end the inference.
            self._end_soon()
            raise

    @property
    def active(self) -> bool:
        """Whether the inference has not ended."""
        return self._inference.running

    def end(self) -> None:
        """End the inference, from any thread.

        It may be called again, by two threads at once, and after the timeout: only the first end counts.

        If a generator that is being closed calls this, or a finalizer or signal handler that interrupts the
        controller's own work, another thread ends the inference soon after. Such a caller may hold a lock that the end
        needs.

        Raises:
            VoteRejected: lowering failed and the controller has ``on_error="raise"``; the inference has still ended.
        """
        if in_closed_generator() or in_own_work():
            self._phases.gate.time.call_soon(self._end_soon)
            return
        # If the inference has ended already, its token is gone, and nothing changes.
        with contextlib.suppress(PhaseMisuse):
            try:
                self._inference.__exit__(None, None, None)
            finally:
                self._forget()

    def _end_soon(self) -> None:
        self._inference.end()
        self._forget()

    def _expire(self) -> None:
        session = self._phases.session
        _hide(session, self)
        age_us = session.gate.time.now_us - self.since_us
        if self._inference.end():
            _LOGGER.warning("%r: a ticket was not ended within its timeout, and is now, after %d us", session, age_us)

    def _forget(self) -> None:
        _hide(self._phases.session, self)
        alarm, self._alarm = self._alarm, None
        if alarm is not None:
            self._phases.gate.time.cancel(alarm)

    def __repr__(self) -> str:
        """Return the session, and whether it has ended."""
        return f"<Ticket of {self._phases.session!r}{'' if self.active else ', ended'}>"


def open_tickets(session: SessionRecord) -> list[Ticket]:
    """Return the tickets of a session that have not ended, oldest first."""
    # ``tuple`` copies in one step, which matters since other threads may add tickets and the garbage collector may
    # remove some.
    references = session.tickets | frozenset()
    shown = [ticket for reference in references if (ticket := reference()) is not None]
    return sorted(shown, key=lambda ticket: ticket.since_us)


def _show(session: SessionRecord, ticket: Ticket) -> None:
    with session.gate.lock:
        if not isinstance(session.tickets, set):
            session.tickets = set()
        # ``discard`` is a C function, so no exception can interrupt this callback, and it takes no lock.
        session.tickets.add(weakref.ref(ticket, session.tickets.discard))


def _hide(session: SessionRecord, ticket: Ticket) -> None:
    if isinstance(session.tickets, set):
        # Weak references to the same object are equal, so this finds the reference that has the callback.
        session.tickets.discard(weakref.ref(ticket))
