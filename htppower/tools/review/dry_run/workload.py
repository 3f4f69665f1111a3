"""Runs a workload through the real controller (INIT, inferences, idle, DE-INIT), and the report of the run."""

from __future__ import annotations

import itertools
import time as system_time
from typing import TYPE_CHECKING

import attrs

from htppower.backends.recording import RecordingBackend
from htppower.control.controller import VoteController
from htppower.events import Phase, State
from htppower.profiles.profile import is_held
from htppower.profiles.sustain import Adaptive, longest_us
from htppower.testing import VirtualTime
from htppower.tools.report.words import counted, duration
from htppower.tools.review.dry_run.observer import Observer
from htppower.tools.review.sustain_words import sustain_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.control.session import Session
    from htppower.control.time.base import Time
    from htppower.events import Degradation
    from htppower.profiles.profile import Profile
    from htppower.profiles.sustain import Sustain
    from htppower.tools.review.dry_run.observer import PhaseSpan, Row, StateSpan, Window

NO_HARDWARE = "nothing was sent to hardware: this is the simulated HTP"

# If a real timer is later than this, the run goes on without it.
_LONGEST_LATENESS_US = 5_000_000
_STEP_US = 1000


@attrs.frozen
class Workload:
    """The workload of a run. INIT and DE-INIT take as long as one inference."""

    inferences: int
    inference_us: int
    gap_us: int


@attrs.frozen
class Report:
    """The report of a run. Times are in us from its start.

    Attributes:
        profile, backend, workload: what was run, and the backend.
        virtual: whether it ran in virtual time.
        rows: the native calls, in order.
        phases: the phases, in order.
        states: the states of the session, in order.
        windows: the times when votes were up with nothing in flight, in order.
        degradations: the votes of the profile that this platform lacks.
        end_us: when the session was closed.
        time_outs_us: how long after the last inference the votes were lowered, each time; 0 if at once.
        further_us: how long after that they were lowered to the second state, each time.
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
    time_outs_us: tuple[int, ...] = ()
    further_us: tuple[int, ...] = ()

    @property
    def time_in_state_us(self) -> dict[State, int]:
        """How long the session was in each state, in us."""
        times = dict.fromkeys(State, 0)
        for span in self.states:
            times[span.state] += span.duration_us
        return times

    @property
    def stays_raised(self) -> bool:
        """Whether the profile keeps its votes in state LOWERED, and after DE-INIT: then nothing is lowered."""
        relax = self.profile.relax
        return relax is not None and is_held(self.profile) and relax.after_deinit_to.votes == self.profile.votes

    @property
    def raised_us(self) -> int:
        """How long the votes of the profile were in force, in us, including state LOWERED if it keeps them."""
        times = self.time_in_state_us
        return times[State.RAISED] + (times[State.LOWERED] if self.stays_raised else 0)

    def count(self, function: str) -> int:
        """Return how many calls of a native function were made."""
        return sum(row.call.function == function for row in self.rows)

    @property
    def workload_line(self) -> str:
        """The workload in a line."""
        work = self.workload
        count = counted(work.inferences, "inference")
        time = "virtual time" if self.virtual else "real time"
        each, gap = duration(work.inference_us), duration(work.gap_us)
        return f"INIT, {count} of {each} after gaps of {gap}, idle, DE-INIT; {time}"

    @property
    def state_line(self) -> str:
        """How long the session was in each of its states; may be empty."""
        times = self.time_in_state_us
        kept = " with the votes of RAISED" if self.stays_raised else ""
        return ", ".join(
            f"{state} {duration(time_us)}{kept if state is State.LOWERED else ''}"
            for state, time_us in times.items()
            if time_us
        )

    @property
    def record_lines(self) -> list[str]:
        """The differences between this run and the runtime that the profile records; empty for any other profile."""
        known, relax = self.profile.provenance, self.profile.relax
        if known is None:
            return []
        said = f"the votes are from {known.of}, but htppower sends them, and sends all of them again after INIT"
        left_us = 0 if relax is None else relax.after_deinit_to.votes.rpc_polling_time_us
        if left_us:
            said += f", and turns polling off at the end, which the runtime leaves on ({left_us} us)"
        return [said]

    @property
    def sustain_lines(self) -> list[str]:
        """How each learnt time is chosen, and how long votes stayed up; empty for fixed times."""
        relax = self.profile.relax
        if relax is None:
            return []
        times = [("lowered", relax.after_inference_us, self.time_outs_us)]
        if relax.then is not None:
            times.append(("lowered to the second state", relax.then.after_us, self.further_us))
        return [line for name, sustain, kept in times for line in _learnt(name, sustain, kept)]

    @property
    def degradation_lines(self) -> list[str]:
        """A line for each vote that the platform lacks, or one if it lacks none; empty for a profile without votes."""
        if self.profile.votes and not self.degradations:
            return ["no: this platform has every vote of the profile"]
        return [f"{lost.rule}: {lost.message}{f' ({lost.hint})' if lost.hint else ''}" for lost in self.degradations]


def _learnt(name: str, sustain: Sustain, kept_us: Iterable[int]) -> Iterator[str]:
    """Yield how a time is learnt, and the times that were kept."""
    if isinstance(sustain, Adaptive):
        groups = [(time_us, len(list(alike))) for time_us, alike in itertools.groupby(kept_us)]
        said = (
            f"{f'after {duration(time_us)}' if time_us else 'at once'}{f' ({count} times)' if count > 1 else ''}"
            for time_us, count in groups
        )
        yield f"{name} {', '.join(said) or 'never'}: {sustain_in_words(sustain)}"


def run(profile: Profile, backend: SimulatedHtp, workload: Workload, *, virtual: bool = True) -> Report:
    """Run the workload under the profile and report every call.

    Args:
        profile: the profile of the session.
        backend: takes the calls.
        workload: the phases to run.
        virtual: whether time is virtual, so that waiting takes none. Otherwise it is the system's time.
    """
    time, wait_us = _virtual_time() if virtual else _real_time()
    recorder = RecordingBackend(backend, time=time)
    # No heartbeat, since a report shows the cost of the profile.
    with VoteController(recorder, time=time, heartbeat_us=0) as controller:
        observer = Observer(recorder, time, controller.flush_events)
        controller.subscribe(observer.see)
        session = controller.session(profile)
        _run_phases(session, workload, wait_us, observer)
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
        time_outs_us=tuple(observer.time_outs_us),
        further_us=tuple(observer.further_us),
    )


def _virtual_time() -> tuple[Time, Callable[[int], None]]:
    time = VirtualTime()
    return time, time.advance_us


def _real_time() -> tuple[Time, Callable[[int], None]]:
    from htppower.control.time.scheduler import SystemTime  # noqa: PLC0415 - a dry run needs no scheduler

    return SystemTime(), lambda duration_us: system_time.sleep(duration_us / 1_000_000)


def _run_phases(session: Session, workload: Workload, wait_us: Callable[[int], None], observer: Observer) -> None:
    with observer.phase(Phase.INIT), session.init():
        wait_us(workload.inference_us)
    for _ in range(workload.inferences):
        wait_us(workload.gap_us)
        with observer.phase(Phase.INFERENCE), session.inference():
            wait_us(workload.inference_us)
    relax = session.profile.relax
    wait_us(0 if relax is None else max(relax.after_init_us, longest_us(relax.after_inference_us)))
    late_us = 0
    while session.state is State.RAISED and late_us < _LONGEST_LATENESS_US:
        wait_us(_STEP_US)
        late_us += _STEP_US
    if relax is not None and relax.then is not None:
        wait_us(longest_us(relax.then.after_us))
    wait_us(workload.gap_us)
    with observer.phase(Phase.DEINIT), session.deinit():
        wait_us(workload.inference_us)
