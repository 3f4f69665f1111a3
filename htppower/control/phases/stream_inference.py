"""The inference of a stream. With an idle timeout it ends if the reader requests no token for too long.

The next request begins it again, before the next token is made. A token costs two locks and a clock read; an alarm is
armed only if no alarm is armed yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from htppower.control.phases.blocks import Phases


class StreamInference:
    """The context manager of a stream's inference; an asynchronous one if the inference is asynchronous.

    If a stream is closed, fails, receives an exception or is garbage collected, another thread ends its inference: a
    generator may be collected while this thread holds a lock that the end needs.

    ``timeout_us``: how long the reader may go without a request for a token; None for no timeout. ``first_token``:
    called after the first token; it must not wait.
    """

    __slots__ = ("__weakref__", "_alarm", "_first_token", "_inference", "_phases", "_since_us", "_timeout_us")

    def __init__(
        self, phases: Phases, inference: Any, timeout_us: int | None, first_token: Callable[[], object] | None = None
    ) -> None:
        self._phases = phases
        self._inference = inference
        self._timeout_us = timeout_us
        self._first_token = first_token
        # When the reader got its last token and has not requested the next; and the armed alarm, or None. The gate's
        # lock protects both.
        self._since_us: int | None = None
        self._alarm: Any = None

    @property
    def watches(self) -> bool:
        """Whether it must see each token."""
        return self._timeout_us is not None or self._first_token is not None

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
        """Return whether the stream has ended by itself; if not, another thread ends the inference soon."""
        if kind is not None:
            self._phases.soon(self._end)
            return False
        self._disarm()
        return True

    def next_token(self, step: Callable[[], Any]) -> Any:
        """Return the next token of the stream, which ``step`` makes."""
        if self._wanted():
            self._inference.__enter__()
        token = step()
        self._given()
        return token

    async def anext_token(self, step: Callable[[], Awaitable[Any]]) -> Any:
        """Return the next token of the stream, which the asynchronous ``step`` makes."""
        if self._wanted():
            await self._inference.__aenter__()
        token = await step()
        self._given()
        return token

    def _wanted(self) -> bool:
        """Record that the reader requests the next token; return whether the inference must begin again."""
        if self._timeout_us is None:
            return False
        with self._phases.gate.lock:
            self._since_us = None
            return not self._inference.running

    def _given(self) -> None:
        first_token, self._first_token = self._first_token, None
        if first_token is not None:
            first_token()
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
        """End the inference if the idle timeout is over; otherwise arm the next alarm."""
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
