"""Runs a workload through the real controller: INIT, inferences, idle, DE-INIT."""

from __future__ import annotations

import time as system_time
from typing import TYPE_CHECKING

from htppower.backends.recording import RecordingBackend
from htppower.control.controller import VoteController
from htppower.events import Phase, State
from htppower.profiles.sustain import longest_us
from htppower.testing import VirtualTime
from htppower.tools.review.dry_run.observer import Observer
from htppower.tools.review.dry_run.report import Report, Workload

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.control.session import Session
    from htppower.control.time.base import Time
    from htppower.profiles.profile import Profile

__all__ = ["Report", "Workload", "run"]

# If a real timer is later than this, the run goes on without it.
_LONGEST_LATENESS_US = 5_000_000
_STEP_US = 1000


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
