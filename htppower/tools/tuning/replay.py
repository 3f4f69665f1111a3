"""Replays a recording by the real controller, in virtual time, and compares the result with the calculated one.

The replay shares only two inputs with the calculation: when inferences are requested, and how long each takes. It makes
its own order of events, and the controller decides which inferences wait for a raise. Calls take no time; an inference
that waits for a raise begins later by the time that a raise takes.
"""

from __future__ import annotations

import collections
import heapq
from typing import TYPE_CHECKING

import attrs

from htppower.backends.recording import RecordingBackend
from htppower.backends.simulated.htp import SimulatedHtp
from htppower.control.controller import VoteController
from htppower.events import State, Transition
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Sequence

    from htppower.control.session import Session
    from htppower.events import Event
    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.cost.outcome import Run
    from htppower.tools.tuning.cost.workload import Workload

# In the same microsecond, alarms are handled first, then ends, then begins.
_END, _BEGIN = 0, 1
# Any architecture will do: a profile makes the same number of calls on each.
_ARCH = 75
_STEP_US = 60_000_000


@attrs.frozen
class Replayed:
    """The result of a replay, or of a calculation, for one session.

    Attributes:
        calls: how many setPowerConfig calls with clocks were made on its id. Calls with settings of the process are not
            counted: they depend on the other sessions.
        raised_us: how long its votes were up.
        cold: the numbers of the inferences that waited for a raise.
        ends_us: when each inference ended.
    """

    calls: int
    raised_us: int
    cold: tuple[int, ...]
    ends_us: tuple[int, ...]

    @classmethod
    def worked_out(cls, run: Run, calls: int) -> Replayed:
        """Return the calculated result for a session."""
        return cls(calls, run.up_us, tuple(run.cold.tolist()), tuple(run.ends_us.tolist()))

    def differences(self, other: Replayed) -> list[str]:
        """Return, in words, how the calculated result differs from this one."""
        said: list[str] = []
        for name, unit in (("calls", "calls"), ("raised_us", "us raised")):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                said.append(f"{mine} {unit} by the controller, {theirs} calculated")
        if self.cold != other.cold:
            number = min(set(self.cold) ^ set(other.cold))
            by_whom = "only by the controller" if number in self.cold else "only in the calculation"
            said.append(
                f"{len(self.cold)} cold starts by the controller, {len(other.cold)} calculated; inference {number} "
                f"waits {by_whom}"
            )
        if self.ends_us != other.ends_us:
            pairs = enumerate(zip(self.ends_us, other.ends_us, strict=True))
            number, (mine, theirs) = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
            said.append(f"inference {number} ends at {mine} us by the controller, calculated: {theirs} us")
        return said


class _Host:
    def __init__(self, session: Session, workload: Workload) -> None:
        self.session = session
        self.one_at_a_time = workload.one_at_a_time
        self.ends_us = [0] * workload.count
        self.cold: list[int] = []
        self.up_us = 0
        # Inferences that were requested while another ran; used only if they run one at a time.
        self.waiting: collections.deque[int] = collections.deque()
        self.running: dict[int, contextlib.AbstractContextManager[None]] = {}
        self._late_us = workload.late_us
        self._takes_us: list[int] = workload.takes_us.tolist()
        # When the votes of the last raise take effect.
        self._ready_us = 0
        self._raised_us: int | None = None

    def see(self, event: Event) -> None:
        """Add up how long the votes are up, from the controller's events."""
        if not isinstance(event, Transition):
            return
        if event.dest is State.RAISED and self._raised_us is None:
            self._raised_us = event.time_us
        elif event.dest is not State.RAISED and self._raised_us is not None:
            self.up_us += event.time_us - self._raised_us
            self._raised_us = None

    def begin(self, number: int, now_us: int) -> int:
        """Begin an inference; return when it ends."""
        waits = self.session.state is not State.RAISED
        self.running[number] = inference = self.session.inference()
        inference.__enter__()
        if waits:
            self.cold.append(number)
            self._ready_us = now_us + self._late_us
        self.ends_us[number] = max(now_us, self._ready_us) + self._takes_us[number]
        return self.ends_us[number]

    def end(self, number: int) -> None:
        """End an inference."""
        self.running.pop(number).__exit__(None, None, None)


def replay(sessions: Sequence[tuple[Profile, Workload]]) -> list[Replayed]:
    """Return what the controller does for sessions that run together, each under its profile."""
    time = VirtualTime(min(int(workload.asked_us[0]) for _, workload in sessions))
    recorder = RecordingBackend(SimulatedHtp(_ARCH), time=time)
    with VoteController(recorder, time=time, heartbeat_us=0) as controller:
        hosts = [_Host(controller.session(profile), workload) for profile, workload in sessions]
        by_number = dict(enumerate(hosts, start=1))
        controller.subscribe(lambda event: by_number[event.session].see(event) if event.session else None)
        _run(hosts, [workload for _, workload in sessions], time)
        # Let the last sustain timers expire.
        while any(host.session.state is State.RAISED for host in hosts):
            time.advance_us(_STEP_US)
        controller.flush_events()
        made = recorder.calls
    ids = [call.power_config_id for call in made if call.function == "createPowerConfigId"]
    set_on = collections.Counter(call.power_config_id for call in made if call.votes is not None and call.votes.hvx)
    return [
        Replayed(set_on[its_id], host.up_us, tuple(host.cold), tuple(host.ends_us))
        for its_id, host in zip(ids, hosts, strict=True)
    ]


def _run(hosts: Sequence[_Host], workloads: Sequence[Workload], time: VirtualTime) -> None:
    events: list[tuple[int, int, int, int]] = []
    for whose, workload in enumerate(workloads):
        events.extend((at_us, _BEGIN, whose, number) for number, at_us in enumerate(workload.asked_us.tolist()))
    heapq.heapify(events)
    while events:
        at_us, kind, whose, number = heapq.heappop(events)
        host = hosts[whose]
        time.advance_us(at_us - time.now_us)
        if kind == _END:
            host.end(number)
            if not host.waiting:
                continue
            # Votes that are lowered in the background come down before the next inference begins.
            number = host.waiting.popleft()
            time.advance_us(0)
        elif host.one_at_a_time and host.running:
            host.waiting.append(number)
            continue
        heapq.heappush(events, (host.begin(number, at_us), _END, whose, number))
