"""A simulated HTP with given times and powers, in virtual time, and a calibration of it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from htppower.backends import RecordingBackend, TimedHtp, Timing
from htppower.testing import VirtualTime
from htppower.tools.tuning.models.calibration.meter import Meter
from htppower.tools.tuning.models.calibration.run import calibrate, opened_bench
from htppower.tools.tuning.models.calibration.settings import Settings
from htppower.tools.tuning.models.file import load_device_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from htppower.control.session import Session
    from htppower.tools.tuning.models.calibration.bench import Bench
    from htppower.tools.tuning.models.calibration.run import Calibration
    from htppower.tools.tuning.models.model import DeviceModel

BASE = load_device_model()
# The numbers of native corners, and how fast work runs at each.
SPEEDS = {160: 1.0, 128: 0.97, 112: 0.9, 96: 0.8, 80: 0.7, 64: 0.6, 48: 0.4, 16: 0.25}

TIMING = Timing(
    raise_call_us=2000,
    lower_call_us=1300,
    inference_us=7000,
    after_raise_us=850,
    after_idle_us={40: 25, 100: 60, 1000: 480},
    asleep_after_us=100_000,
    polling_saves_us=140,
    speeds=SPEEDS,
    active_w=1.7,
    raised_idle_w=0.25,
    relaxed_idle_w=0.03,
    released_idle_w=0.004,
)

QUICK = Settings(count=5, idle_us=400_000, power_count=4, period_us=100_000)


class Device:
    """A timed HTP in virtual time, with everything that a calibration measures with."""

    def __init__(self, timing: Timing = TIMING, **more: object) -> None:
        self.time = VirtualTime()
        self.htp = TimedHtp(timing, clock=self.time, sleep=self.sleep, **more)
        self.recorder = RecordingBackend(self.htp, time=self.time)
        self.inferences = 0
        self.waited_us = 0
        self.waits = 0
        self.sleeps = 0
        # The number of the wait, or of the call or inference, that Ctrl-C interrupts; 0 for none.
        self.interrupted_wait = 0
        self.interrupted_sleep = 0
        # Called before each inference, with its number.
        self.before: Callable[[int], object] = int

    def wait_us(self, duration_us: int) -> None:
        """Idle, and run the alarms that become due."""
        self.waits += 1
        if self.waits == self.interrupted_wait:
            raise KeyboardInterrupt
        self.waited_us += duration_us
        self.time.advance_us(duration_us)

    def sleep(self, duration_s: float) -> None:
        """Advance the time by the duration of a call or an inference."""
        self.sleeps += 1
        self.time.advance_us(round(duration_s * 1_000_000))
        if self.sleeps == self.interrupted_sleep:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def inference(self, _session: Session) -> Iterator[Callable[[], object]]:
        """Make what runs an inference."""

        def run() -> None:
            self.inferences += 1
            self.before(self.inferences)
            self.htp.infer()

        yield run

    def energy(self) -> Meter:
        """Return a rail that counts energy, in uJ."""
        return Meter(lambda: self.htp.energy_j * 1e6, "uJ", "rail")

    def power(self) -> Meter:
        """Return a rail that gives the present power, in mW."""
        return Meter(lambda: self.htp.power_w * 1e3, "mW", "rail")

    def calibrate(
        self, settings: Settings = QUICK, *, meter: Meter | None = None, infers: bool = True, base: DeviceModel = BASE
    ) -> Calibration:
        """Measure this device."""
        with self.bench(settings, meter=meter, infers=infers) as bench:
            return calibrate(bench, base)

    def bench(
        self, settings: Settings = QUICK, *, meter: Meter | None = None, infers: bool = True
    ) -> AbstractContextManager[Bench]:
        """Return the tools to measure this device with."""
        return opened_bench(
            self.recorder,
            settings,
            clock=self.time,
            wait_us=self.wait_us,
            date="2026-11-23",
            make_inference=self.inference if infers else None,
            meter=meter,
        )

    def left(self) -> tuple[tuple[int, ...], int]:
        """Return the ids that are left, and the polling of the process."""
        return self.htp.power_config_ids, self.htp.effective().rpc_polling_time_us
