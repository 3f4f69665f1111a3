"""The idle timeout of a stream: its inference ends while its reader asks for nothing."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

from htppower.control.time.alarms import armed_or_none

if TYPE_CHECKING:
    from htppower.control.phases.async_blocks import AsyncInference
    from htppower.control.phases.blocks import Inference, Phases


class IdleTimeout:
    """Ends the inference of a stream while its reader asks for nothing.

    Args:
        phases: those of the session.
        inference: that of the stream.
        timeout_us: for how long the reader may ask for nothing.
    """

    __slots__ = ("__weakref__", "_alarm", "_inference", "_phases", "_since_us", "_timeout_us")

    def __init__(self, phases: Phases, inference: Inference | AsyncInference, timeout_us: int) -> None:
        self._phases = phases
        self._inference = inference
        self._timeout_us = timeout_us
        # Both protected by the lock of the gate: since when the reader has asked for nothing, and the alarm, if one is
        # armed.
        self._since_us: int | None = None
        self._alarm: Any = None

    def token_given(self) -> None:
        """Take in that the reader has a token, and has not asked for the next."""
        gate = self._phases.gate
        with gate.lock:
            self._since_us = gate.time.now_us
            if self._alarm is None and not self._phases.gone:
                self._arm(self._since_us + self._timeout_us)

    def token_wanted(self) -> bool:
        """Take in that the reader asks for the next token; return whether the inference is to be begun again."""
        with self._phases.gate.lock:
            self._since_us = None
            return not self._inference.running

    def over(self) -> None:
        """Take in that the stream has come to its end."""
        with self._phases.gate.lock:
            alarm, self._alarm = self._alarm, None
            if alarm is not None:
                self._phases.gate.time.cancel(alarm)

    def _arm(self, at_us: int) -> None:
        # A stream that is collected leaves no more than the alarm.
        ring = functools.partial(_ring, weakref.ref(self))
        self._alarm = armed_or_none(self._phases.gate.time, at_us, ring, "the idle timeout of a stream")

    def rang(self) -> None:
        """End the inference where its reader has asked for nothing for as long; else see to the next alarm."""
        gate = self._phases.gate
        with gate.lock:
            self._alarm = None
            if self._since_us is None:
                return
            due_us = self._since_us + self._timeout_us
            if gate.time.now_us < due_us:
                self._arm(due_us)
                return
            token = self._inference.take()
            # Last: where an exception such as Ctrl-C comes before, the alarm rings again.
            self._since_us = None
        if token is not None:
            self._phases.end_inference(token)


def _ring(reference: weakref.ref[IdleTimeout]) -> None:
    timeout = reference()
    if timeout is not None:
        timeout.rang()
