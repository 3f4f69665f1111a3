"""The tools of a calibration: a session on the device with timed calls, an inference, and a power rail."""

from __future__ import annotations

import statistics
import time as system_time
from typing import TYPE_CHECKING

import attrs

from htppower.errors import printable
from htppower.profiles.discovery import Folders
from htppower.profiles.loading import examine_power_state, load_profile
from htppower.profiles.profile import Lowering
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed
from htppower.votes.options import Option, needing

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.base import Backend, Description
    from htppower.backends.clock import Clock
    from htppower.control.session import Session
    from htppower.control.time.base import Time
    from htppower.profiles.profile import PowerState, Profile
    from htppower.tools.tuning.models.calibration.fit import StatePower
    from htppower.tools.tuning.models.calibration.meter import Meter
    from htppower.tools.tuning.models.calibration.settings import Settings
    from htppower.votes.vote_set import VoteSet


# The first inferences under other votes fill caches, and are not counted.
WARM_UP = 3
POLLING_US = 9999
# A call of a Python function, two readings of the clock and a phase of a session take a few us.
SHORTEST_US = 100


@attrs.frozen(repr=False, eq=False)
class Bench:
    """The tools of a calibration.

    Attributes:
        session: raises and lowers, on the thread that measures.
        calls: the backend of the session, which times its calls.
        clock: the time, with the alarms that read the rail.
        wait_us: idles for a time, in us.
        infer: runs one inference; may be None.
        meter: the power rail; may be None.
        settings: how often and how long to measure.
        date: the date, for the results.
        cpu_us: returns the CPU time of this process, in us.
        powers: the measured powers of states are added here.
    """

    session: Session
    calls: TimedCalls
    clock: Time
    wait_us: Callable[[int], None]
    infer: Callable[[], object] | None
    meter: Meter | None
    settings: Settings
    date: str
    cpu_us: Callable[[], int] = lambda: system_time.process_time_ns() // 1000
    powers: list[StatePower] = attrs.field(factory=list)

    def of(self, what: str) -> str:
        """Return the ``of`` text of a measured value."""
        return f"{what}; {printable(self.calls.describe().library)}, {self.date}"

    @property
    def polls(self) -> bool:
        """Whether this platform supports RPC polling."""
        lost = {degradation.option for degradation in self.session.degradations}
        return Option.RPC_POLLING_TIME not in lost

    @property
    def rail(self) -> Meter:
        """The power rail.

        Raises:
            CalibrationFailed: the power rail is missing.
        """
        if self.meter is None:
            raise CalibrationFailed("there is no power rail: name a meter")
        return self.meter

    def inference_us(self) -> int:
        """Run an inference and return how long it took, in us."""
        begun_us = self.clock.now_us
        self.run()
        return self.clock.now_us - begun_us

    def run(self) -> None:
        """Run an inference.

        Raises:
            CalibrationFailed: the inference is missing.
        """
        if self.infer is None:
            raise CalibrationFailed("there is no inference to run: give one")
        self.infer()

    def warm_us(self) -> list[int]:
        """Run inferences one after the other, and return how long each took, in us, without the first few.

        Raises:
            CalibrationFailed: the inferences are too short to measure them from Python.
        """
        for _ in range(WARM_UP):
            self.run()
        found_us = [self.inference_us() for _ in range(self.settings.count)]
        if statistics.median(found_us) < SHORTEST_US:
            said = f"an inference takes {statistics.median(found_us):.0f} us, which is too short to measure"
            raise CalibrationFailed(f"{said}: let each call run several, so that it takes {SHORTEST_US} us or more")
        return found_us


def variant(
    name: str, *, sleep_latency_us: int | None = None, polling_us: int | None = None, to: PowerState | None = None
) -> Profile:
    """Return a profile that lowers at once, on the thread that ends an inference, with some of its votes changed.

    Raises:
        ProfileError: the profile can't be found.
        CalibrationFailed: the profile sends no vote on the DSP's clocks.
    """
    profile = load_profile(name)
    votes, relax = profile.votes, profile.relax
    if votes.dcvs_v3 is None or relax is None:
        raise CalibrationFailed(f"{name} sends no dcvs_v3 vote: measure with a profile that does, such as burst")
    if sleep_latency_us is not None:
        votes = attrs.evolve(votes, dcvs_v3=attrs.evolve(votes.dcvs_v3, sleep_latency_us=sleep_latency_us))
    if polling_us is not None:
        votes = attrs.evolve(votes.without(*needing(Option.RPC_POLLING_TIME)), rpc_polling_time_us=polling_us)
    relax = attrs.evolve(
        relax,
        to=to or relax.to,
        after_init_us=0,
        after_inference_us=0,
        lowering=Lowering.FOREGROUND,
        then=None,
        raise_ahead_us=0,
    )
    return attrs.evolve(profile, votes=votes, relax=relax)


def as_lowered(profile: Profile) -> Profile:
    """Return a profile whose raise sends the votes of its power state: a host that raises it runs as with no raise."""
    return profile if profile.relax is None else attrs.evolve(profile, votes=profile.relax.to.votes)


def released() -> PowerState:
    """Return the power state that asks for no clock."""
    folders = Folders.of(())
    return examine_power_state(folders.find("released", "state"), folders).accepted()


@attrs.frozen
class TimedCall:
    """A setPowerConfig that succeeded, and how long it took, in us."""

    power_config_id: int
    votes: VoteSet
    took_us: int


class TimedCalls:
    """Passes every call on, and notes how long the setPowerConfig calls take.

    Args:
        inner: the backend that receives the calls; it is left open.
        clock: the clock that times the calls.
    """

    def __init__(self, inner: Backend, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock
        self._calls: list[TimedCall] = []

    def taken(self) -> list[TimedCall]:
        """Return the calls since the last time this method was called."""
        calls, self._calls = self._calls, []
        return calls

    def taken_us(self) -> int:
        """Return how long these calls took, in us."""
        return sum(call.took_us for call in self.taken())

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Pass on a createPowerConfigId."""
        return self._inner.create_power_config_id(device_id, core_id)

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Pass on a setPowerConfig, and time it."""
        begun_us = self._clock.now_us
        self._inner.set_power_config(power_config_id, votes)
        self._calls.append(TimedCall(power_config_id, votes, self._clock.now_us - begun_us))

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Pass on a destroyPowerConfigId."""
        self._inner.destroy_power_config_id(power_config_id)

    def renew(self) -> None:
        """Pass on a renewal."""
        self._inner.renew()

    def describe(self) -> Description:
        """Return the description of the inner backend."""
        return self._inner.describe()

    def close(self) -> None:
        """Do nothing: the inner backend is closed by the code that opened it."""
