"""The phases of a session as context managers, and the hot path through them.

An inference inside a sustain window costs a lock, a counter and a clock read.
"""
# ruff: noqa: SLF001 - the hot path reads the session's own fields: a method call more would cost as much again

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import Cause, Phase

if TYPE_CHECKING:
    from types import TracebackType

    from htppower.control.gate import Usage


class Inference:
    """The context manager of an inference; one serves all of a session, since it keeps nothing of its own."""

    __slots__ = ("_session",)

    def __init__(self, session: Usage) -> None:
        self._session = session

    def __enter__(self) -> None:
        session = self._session
        with session._lock:
            if session._ready:
                session._in_flight += 1
                session._begun += 1
                return
        session.begin(Cause.INFERENCE_BEGAN, Phase.INFERENCE, preparing=False)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        session = self._session
        if kind is GeneratorExit:
            session.end_soon()
            return
        with session._lock:
            session._in_flight -= 1
            if session._in_flight:
                return
            session._keep_until_us = session._time.now_us + session._sustain_us
            if session._alarm is not None and session._alarm_us <= session._keep_until_us:
                return
        if session.must_lower():
            session.lower(quiet=error is not None)


class Preparation:
    """The context manager of INIT or DE-INIT."""

    __slots__ = ("_phase", "_session")

    def __init__(self, session: Usage, phase: Phase) -> None:
        self._session = session
        self._phase = phase

    def __enter__(self) -> None:
        cause = Cause.INIT_BEGAN if self._phase is Phase.INIT else Cause.DEINIT_BEGAN
        self._session.begin(cause, self._phase, preparing=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is GeneratorExit:
            self._session.end_preparation_soon(self._phase)
        else:
            self._session.end_preparation(self._phase, quiet=error is not None)
