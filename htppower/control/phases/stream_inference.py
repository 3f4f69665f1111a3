"""The inference of a stream, which may have an idle timeout: it ends while the reader asks for nothing.

A reader that comes back begins it again, before the next token is made. The alarm is lazy: a token costs a lock, twice,
and a clock read, and an alarm only if none is armed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from htppower.control.phases.async_blocks import AsyncInference
    from htppower.control.phases.blocks import Inference, Phases


class StreamInference:
    """The context manager of a stream's inference: asynchronous if the inference is.

    A stream that is closed, thrown into, failed or garbage collected ends its inference on another thread: a generator
    may be collected while this thread holds a lock that ending needs.

    ``timeout_us``: for how long the reader may ask for nothing; None for as long as it likes.
    """

    __slots__ = ("__weakref__", "_alarm", "_inference", "_phases", "_since_us", "_timeout_us")

    def __init__(self, phases: Phases, inference: Inference | AsyncInference, timeout_us: int | None) -> None:
        self._phases = phases
        self._inference: Any = inference
        self._timeout_us = timeout_us
        # Since when the reader has asked for nothing, and the alarm if one is armed; the gate's lock protects both.
        self._since_us: int | None = None
        self._alarm: Any = None

    def __enter__(self) -> None:
        self._inference.__enter__()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._has_ended(kind):
            self._inference.__exit__(None, None, None)

    async def __aenter__(self) -> None:
        await self._inference.__aenter__()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._has_ended(kind):
            await self._inference.__aexit__(None, None, None)

    def _has_ended(self, kind: type[BaseException] | None) -> bool:
        """Return whether the stream has come to its own end; else end the inference soon."""
        if kind is not None:
            self._phases.soon(self._end)
            return False
        self._disarm()
        return True

    def next_token(self, step: Callable[[], Any]) -> Any:
        """Return the next token, which a step makes."""
        if self._wanted():
            self._inference.__enter__()
        token = step()
        self._given()
        return token

    async def anext_token(self, step: Callable[[], Awaitable[Any]]) -> Any:
        """Return the next token, which an asynchronous step makes."""
        if self._wanted():
            await self._inference.__aenter__()
        token = await step()
        self._given()
        return token

    def _wanted(self) -> bool:
        """Note that the reader asks for the next token; return whether the inference is to be begun again."""
        if self._timeout_us is None:
            return False
        with self._phases.gate.lock:
            self._since_us = None
            return not self._inference.running

    def _given(self) -> None:
        """Note that the reader has a token, and has not asked for the next."""
        if self._timeout_us is None:
            return
        gate = self._phases.gate
        with gate.lock:
            self._since_us = gate.time.now_us
            if self._alarm is None:
                self._arm(self._since_us + self._timeout_us)

    def _disarm(self) -> None:
        with self._phases.gate.lock:
            alarm, self._alarm = self._alarm, None
            if alarm is not None:
                self._phases.gate.time.cancel(alarm)

    def _end(self) -> None:
        self._disarm()
        self._inference.end()

    def _arm(self, at_us: int) -> None:
        self._alarm = self._phases.arm(at_us, self._rang, "the idle timeout of a stream")

    def _rang(self) -> None:
        """End the inference if its reader has asked for nothing for so long; else arm the next alarm."""
        gate = self._phases.gate
        with gate.lock:
            self._alarm = None
            if self._since_us is None or self._timeout_us is None:
                return
            due_us = self._since_us + self._timeout_us
            if gate.time.now_us < due_us:
                self._arm(due_us)
                return
            self._since_us = None
            token = self._inference.take()
        if token is not None:
            self._phases.end_inference(token)
