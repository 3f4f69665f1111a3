"""A controller on the recorder over the simulated HTP in virtual time, with helpers for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from support.inside import share_profiles

from htppower import Profile, load_profile
from htppower.backends import Call, Effective, RecordingBackend, SimulatedHtp
from htppower.control.controller import VoteController
from htppower.events import Degraded, ReleaseFailed, SessionOpened, Transition
from htppower.testing import VirtualTime
from htppower.votes.clock_votes import HmxV2
from htppower.votes.corners import ClkPerfMode, ExpandedCorner
from htppower.votes.options import PROCESS_WIDE

if TYPE_CHECKING:
    from htppower.control.session import Session
    from htppower.events import Event

# The events that a bench keeps. The recorder has the native calls, and the other events follow from these.
STATE_EVENTS = (SessionOpened, Transition, Degraded, ReleaseFailed)

BURST_SUSTAIN_US = 300_000
HEARTBEAT_US = 10_000_000

MAX_CORNER = 160
SVS = 64
MIN_CORNER = 32
DISABLE = 16

# The loaded profiles of all benches, so that the shipped profiles are not read again for each test.
_LOADED: dict[str, Any] = {}


@attrs.define
class Bench:
    """A controller with everything around it that a test needs, and short helpers."""

    time: VirtualTime
    simulated: SimulatedHtp
    recorder: RecordingBackend
    controller: VoteController
    events: list[Event]

    @classmethod
    def make(cls, simulated: SimulatedHtp | None = None, **options: Any) -> Bench:
        """Return a bench on V75, or on the given simulation; without a heartbeat, unless the options set one.

        On V75, calls that are delayed take virtual time.
        """
        time = VirtualTime()
        simulated = SimulatedHtp(arch=75, sleep=time.sleep) if simulated is None else simulated
        recorder = RecordingBackend(simulated, time=time)
        controller = VoteController(recorder, time=time, handle_sigterm=False, **{"heartbeat_us": 0, **options})
        if "folders" not in options:
            share_profiles(controller, _LOADED)
        events: list[Event] = []
        controller.subscribe(events.append, STATE_EVENTS)
        return cls(time, simulated, recorder, controller, events)

    @property
    def sets(self) -> list[Call]:
        """The setPowerConfig calls so far."""
        return [call for call in self.recorder.calls if call.function == "setPowerConfig"]

    @property
    def votes(self) -> list[Call]:
        """The setPowerConfig calls that carried votes of an id."""
        return [call for call in self.sets if not PROCESS_WIDE & {config.number for config in call.configs}]

    @property
    def settings(self) -> list[Call]:
        """The setPowerConfig calls that carried settings of the process."""
        return [call for call in self.sets if PROCESS_WIDE & {config.number for config in call.configs}]

    @property
    def casts(self) -> list[Call]:
        """The setPowerConfig calls with votes of an id, without the calls with settings of the process."""
        return [call for call in self.sets if call.config("DCVS_V3") is not None]

    def effective(self, core_id: int = 0) -> Effective:
        """Return the clocks of a core."""
        return self.simulated.effective(0, core_id)

    def infer(self, session: Session, duration_us: int = 1000) -> None:
        """Run one inference."""
        with session.inference():
            self.time.advance_us(duration_us)

    def infer_often(self, session: Session, times: int, gap_us: int) -> None:
        """Run inferences, each with a gap after it."""
        for _ in range(times):
            self.infer(session)
            self.time.advance_us(gap_us)


def use_sessions(controller: VoteController, times: int) -> None:
    """Open a session, raise, lower and close it, several times; each time has 11 events, 6 of them native calls."""
    for _ in range(times):
        with controller.session("high_performance") as session, session.inference():
            pass


def core_target(call: Call) -> int:
    """Return the core target of a call's votes."""
    config = call.config("DCVS_V3")
    assert config is not None, f"no DCVS_V3 in {call}"
    return config.fields["coreVoltageCornerTarget"]


def options(call: Call) -> list[str]:
    """Return the options of a call, in order."""
    return [config.option for config in call.configs]


def voting(**votes: object) -> Profile:
    """Return burst with other votes."""
    burst = load_profile("burst")
    return attrs.evolve(burst, votes=attrs.evolve(burst.votes, **votes))  # type: ignore[arg-type]


def explicit_hmx(corner: ExpandedCorner) -> HmxV2:
    """Return an explicit HMX vote with min = target = max."""
    return HmxV2(corner, corner, corner, ClkPerfMode.HIGH)
