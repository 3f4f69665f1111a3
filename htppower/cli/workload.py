"""A workload through the real controller: INIT, inferences, idle, DE-INIT; and every native call that it causes."""

from __future__ import annotations

import time as system_time
from typing import TYPE_CHECKING, Protocol

import attrs

from htppower.backends.recording import Call, RecordingBackend
from htppower.controller import VoteController
from htppower.events import Cause, Degradation, Event, Phase, SessionOpened, Transition
from htppower.machine import State

if TYPE_CHECKING:
    from htppower.backends.simulated import SimulatedHtp
    from htppower.profiles import Profile
    from htppower.session import Session
    from htppower.testing import VirtualTime
    from htppower.timing import Time

# How long a real timer may be late before the run goes on without it.
_LONGEST_LATENESS_US = 5_000_000
_STEP_US = 1000


@attrs.frozen
class Workload:
    """What is run. INIT and DE-INIT take as long as one inference."""

    inferences: int
    inference_us: int
    gap_us: int


@attrs.frozen
class Row:
    """One native call with what surrounds it; ``state`` is the session's after the call."""

    call: Call
    phase: Phase | None
    cause: Cause
    state: State


@attrs.frozen
class Report:
    """What a run did."""

    profile: Profile
    backend: SimulatedHtp
    workload: Workload
    virtual: bool
    rows: tuple[Row, ...]
    degradations: tuple[Degradation, ...]
    time_in_state_us: dict[State, int]

    def count(self, function: str) -> int:
        """Return how many calls of a native function were made."""
        return sum(row.call.function == function for row in self.rows)


class Pace(Protocol):
    """A time in which a workload can wait."""

    time: Time

    def wait_us(self, duration_us: int) -> None:
        """Let this much time pass."""


class VirtualPace:
    """Virtual time: waiting takes none."""

    def __init__(self, time: VirtualTime) -> None:
        self.time: Time = time
        self.wait_us = time.advance_us


class RealPace:
    """The system's time."""

    def __init__(self, time: Time) -> None:
        self.time = time

    def wait_us(self, duration_us: int) -> None:
        """Sleep."""
        system_time.sleep(duration_us / 1_000_000)


def run(profile: Profile, backend: SimulatedHtp, workload: Workload, pace: Pace, *, virtual: bool) -> Report:
    """Run the workload under the profile and report every call."""
    recorder = RecordingBackend(backend, time=pace.time)
    observer = _Observer(recorder, pace.time)
    with VoteController(recorder, time=pace.time) as controller:
        controller.subscribe(observer.see)
        session = controller.session(profile)
        _phases(session, workload, pace)
        degradations = session.degradations
        session.close()
    return Report(profile, backend, workload, virtual, tuple(observer.rows), degradations, observer.time_in_state_us)


def _phases(session: Session, workload: Workload, pace: Pace) -> None:
    with session.init():
        pace.wait_us(workload.inference_us)
    for _ in range(workload.inferences):
        pace.wait_us(workload.gap_us)
        with session.inference():
            pace.wait_us(workload.inference_us)
    relax = session.profile.relax
    pace.wait_us(0 if relax is None else max(relax.after_init_us, relax.after_inference_us))
    late_us = 0
    while session.state is State.RAISED and late_us < _LONGEST_LATENESS_US:
        pace.wait_us(_STEP_US)
        late_us += _STEP_US
    pace.wait_us(workload.gap_us)
    with session.deinit():
        pace.wait_us(workload.inference_us)


class _Observer:
    """Puts cause, phase and state to every call: each belongs to the event that follows it."""

    def __init__(self, recorder: RecordingBackend, time: Time) -> None:
        self.rows: list[Row] = []
        self.time_in_state_us = dict.fromkeys(State, 0)
        self._recorder = recorder
        self._time = time
        self._state = State.UNVOTED
        self._since_us = time.now_us
        self._start_us = time.now_us

    def see(self, event: Event) -> None:
        """Take in an event, and the calls since the one before."""
        state = event.dest if isinstance(event, Transition) else self._state
        phase = event.phase if isinstance(event, Transition) else None
        if isinstance(event, (SessionOpened, Transition)):
            for call in self._recorder.calls_since(len(self.rows)):
                since_start = attrs.evolve(call, time_us=call.time_us - self._start_us)
                self.rows.append(Row(since_start, phase, event.cause, state))
        self.time_in_state_us[self._state] += event.time_us - self._since_us
        self._since_us = event.time_us
        self._state = state
