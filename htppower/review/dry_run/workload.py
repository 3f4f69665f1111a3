"""A workload through the real controller: INIT, inferences, idle, DE-INIT; and every native call that it causes."""

from __future__ import annotations

import time as system_time
from typing import TYPE_CHECKING, Protocol

import attrs

from htppower.backends.recording import RecordingBackend
from htppower.control.controller import VoteController
from htppower.events import Phase, State
from htppower.review.dry_run.observer import Observer, PhaseSpan, Row, StateSpan, Window

if TYPE_CHECKING:
    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.control.session import Session
    from htppower.control.time.base import Time
    from htppower.events import Degradation
    from htppower.profiles.profile import Profile
    from htppower.testing import VirtualTime

__all__ = ["Pace", "RealPace", "Report", "Row", "VirtualPace", "Workload", "run"]

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
class Report:
    """What a run did. Times are in us from its start.

    Attributes:
        profile, backend, workload: what was run, on what.
        virtual: whether in virtual time.
        rows: the native calls, in order.
        phases: the phases, in order.
        states: the states of the session, in order.
        windows: raised with nothing in flight, after INIT and, as sustain windows, after inferences.
        degradations: the votes of the profile that this platform does not have.
        end_us: when the session was closed.
    """

    profile: Profile
    backend: SimulatedHtp
    workload: Workload
    virtual: bool
    rows: tuple[Row, ...]
    phases: tuple[PhaseSpan, ...]
    states: tuple[StateSpan, ...]
    windows: tuple[Window, ...]
    degradations: tuple[Degradation, ...]
    end_us: int

    @property
    def time_in_state_us(self) -> dict[State, int]:
        """How long the session was in each state, in us."""
        times = dict.fromkeys(State, 0)
        for span in self.states:
            times[span.state] += span.duration_us
        return times

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
    with VoteController(recorder, time=pace.time) as controller:
        observer = Observer(recorder, pace.time, controller.flush_events)
        controller.subscribe(observer.see)
        session = controller.session(profile)
        _phases(session, workload, pace, observer)
        degradations = session.degradations
        session.close()
        end_us = observer.end()
    return Report(
        profile=profile,
        backend=backend,
        workload=workload,
        virtual=virtual,
        rows=tuple(observer.rows),
        phases=tuple(observer.phases),
        states=tuple(observer.states),
        windows=tuple(observer.windows),
        degradations=degradations,
        end_us=end_us,
    )


def _phases(session: Session, workload: Workload, pace: Pace, observer: Observer) -> None:
    with observer.phase(Phase.INIT), session.init():
        pace.wait_us(workload.inference_us)
    for _ in range(workload.inferences):
        pace.wait_us(workload.gap_us)
        with observer.phase(Phase.INFERENCE), session.inference():
            pace.wait_us(workload.inference_us)
    relax = session.profile.relax
    pace.wait_us(0 if relax is None else max(relax.after_init_us, relax.after_inference_us))
    late_us = 0
    while session.state is State.RAISED and late_us < _LONGEST_LATENESS_US:
        pace.wait_us(_STEP_US)
        late_us += _STEP_US
    pace.wait_us(workload.gap_us)
    with observer.phase(Phase.DEINIT), session.deinit():
        pace.wait_us(workload.inference_us)
