"""The phases of a session: what begins and ends them, and their context managers.

An inference inside a sustain window costs a lock, a counter and a clock read. Where votes may have to change, the
reconciler settles the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import Cause, Phase

if TYPE_CHECKING:
    from types import TracebackType

    from htppower.control.reconciler import Reconciler
    from htppower.control.session_record import SessionRecord


class Phases:
    """Begins and ends the phases of one session."""

    __slots__ = ("_reconciler", "_session", "gate")

    def __init__(self, session: SessionRecord, reconciler: Reconciler) -> None:
        self.gate = session.gate
        self._session = session
        self._reconciler = reconciler

    def begin(self, cause: Cause, phase: Phase, *, preparing: bool) -> None:
        """Begin a phase: return when the votes are in force."""
        gate, counted = self.gate, 0
        try:
            with gate.lock:
                if preparing:
                    gate.preparing += 1
                else:
                    gate.in_flight += 1
                counted = 1
                if gate.ready:
                    gate.begun += not preparing
                    return
            self._reconciler.settle(self._session, cause, phase)
        except BaseException:
            # The phase does not begin, so nobody will end it.
            with gate.lock:
                if preparing:
                    gate.preparing -= counted
                else:
                    gate.in_flight -= counted
            self._reconciler.settle(self._session, cause, phase, quiet=True)
            raise

    def begin_inference(self) -> None:
        """Begin an inference: return when the votes are in force."""
        self.begin(Cause.INFERENCE_BEGAN, Phase.INFERENCE, preparing=False)

    def end_inference(self) -> None:
        """End an inference; raise nothing."""
        if self.gate.finish():
            self.lower(quiet=True)

    def end_inference_soon(self) -> None:
        """End an inference on another thread: a generator may be collected where this one holds a lock of ours."""
        self.gate.time.call_soon(self.end_inference)

    def lower(self, *, quiet: bool) -> None:
        """Lower the votes of a session that is idle still."""
        self._reconciler.settle(self._session, Cause.INFERENCE_ENDED, Phase.INFERENCE, quiet=quiet)

    def end_preparation(self, phase: Phase, *, quiet: bool) -> None:
        """End INIT or DE-INIT."""
        self.gate.finish_preparation(phase)
        doubt = phase is Phase.INIT
        cause = Cause.INIT_ENDED if doubt else Cause.DEINIT_ENDED
        self._reconciler.settle(self._session, cause, phase, quiet=quiet, doubt=doubt)

    def end_preparation_soon(self, phase: Phase) -> None:
        """End INIT or DE-INIT on another thread, as ``end_inference_soon``."""
        self.gate.time.call_soon(lambda: self.end_preparation(phase, quiet=True))


class Inference:
    """The context manager of an inference; one serves all of a session, since it keeps nothing of its own."""

    __slots__ = ("_gate", "_phases")

    def __init__(self, phases: Phases) -> None:
        self._gate = phases.gate
        self._phases = phases

    def __enter__(self) -> None:
        gate = self._gate
        with gate.lock:
            if gate.ready:
                gate.in_flight += 1
                gate.begun += 1
                return
        self._phases.begin_inference()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        gate = self._gate
        if kind is GeneratorExit:
            self._phases.end_inference_soon()
            return
        with gate.lock:
            gate.in_flight -= 1
            if gate.in_flight:
                return
            gate.deadline_us = deadline_us = gate.time.now_us + gate.sustain_us
            if gate.alarm_us <= deadline_us:
                return
        if gate.must_lower():
            self._phases.lower(quiet=error is not None)


class Preparation:
    """The context manager of INIT or DE-INIT."""

    __slots__ = ("_phase", "_phases")

    def __init__(self, phases: Phases, phase: Phase) -> None:
        self._phases = phases
        self._phase = phase

    def __enter__(self) -> None:
        cause = Cause.INIT_BEGAN if self._phase is Phase.INIT else Cause.DEINIT_BEGAN
        self._phases.begin(cause, self._phase, preparing=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is GeneratorExit:
            self._phases.end_preparation_soon(self._phase)
        else:
            self._phases.end_preparation(self._phase, quiet=error is not None)
