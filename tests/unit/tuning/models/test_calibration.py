"""A calibration finds again what a simulated HTP was told to take and to draw, and gives its votes back."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import attrs
import pytest

from htppower.backends import RecordingBackend, TimedHtp, Timing
from htppower.errors import VoteRejected
from htppower.testing import VirtualTime
from htppower.tuning.models.calibration.failed import CalibrationFailed
from htppower.tuning.models.calibration.meter import Meter
from htppower.tuning.models.calibration.run import calibrate
from htppower.tuning.models.calibration.settings import Settings
from htppower.tuning.models.calibration.steps import plan
from htppower.tuning.models.file import examine_device_model, load_device_model
from htppower.tuning.models.model import ASSUMED, MEASURED
from htppower.tuning.models.text import model_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from htppower.control.session import Session
    from htppower.tuning.models.calibration.run import Calibration
    from htppower.tuning.models.model import DeviceModel

BASE = load_device_model()
# The numbers of native corners, and how fast work runs at each.
SPEEDS = {160: 1.0, 128: 0.97, 112: 0.9, 96: 0.8, 80: 0.7, 64: 0.6, 48: 0.4, 16: 0.25}
SPEED_OF = {
    "sustained_high_performance": 0.97,
    "high_performance": 0.97,
    "balanced": 0.9,
    "low_balanced": 0.8,
    "high_power_saver": 0.7,
    "power_saver": 0.6,
    "low_power_saver": 0.4,
    "extreme_power_saver": 0.25,
}
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
# What must be found, by the names of the quantities.
TRUTH = {
    "raise_call_us": 2000,
    "lower_call_us": 1300,
    "raise_late_us": 2850,
    "wakes.40": 25,
    "wakes.100": 60,
    "wakes.1000": 480,
    "polling_saves_us": 140,
    "active_w": 1.7,
    "raised_idle_w": 0.25,
    "relaxed_idle_w": 0.03,
    "released_idle_w": 0.004,
    **{f"speeds.{name}": speed for name, speed in SPEED_OF.items()},
}
QUICK = Settings(count=5, idle_us=400_000, power_count=2)


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
        # The number of the wait, or of the call or inference, in which Ctrl-C comes; 0 for none.
        self.interrupted_wait = 0
        self.interrupted_sleep = 0
        # Called before each inference, with its number.
        self.before: Callable[[int], object] = int

    def wait_us(self, duration_us: int) -> None:
        """Idle, with the alarms that ring meanwhile."""
        self.waits += 1
        if self.waits == self.interrupted_wait:
            raise KeyboardInterrupt
        self.waited_us += duration_us
        self.time.advance_us(duration_us)

    def sleep(self, duration_s: float) -> None:
        """Let a call or an inference take its time."""
        self.sleeps += 1
        self.time.sleep(duration_s)
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
        """Return a rail that gives the power of this moment, in mW."""
        return Meter(lambda: self.htp.power_w * 1e3, "mW", "rail")

    def calibrate(
        self, settings: Settings = QUICK, *, meter: Meter | None = None, infers: bool = True, base: DeviceModel = BASE
    ) -> Calibration:
        """Measure this device."""
        return calibrate(
            self.recorder,
            base,
            settings,
            clock=self.time,
            wait_us=self.wait_us,
            date="2026-11-23",
            make_inference=self.inference if infers else None,
            meter=meter,
            time=self.time,
        )

    def left(self) -> tuple[tuple[int, ...], int]:
        """Return the ids that are left, and the polling of the process."""
        return self.htp.power_config_ids, self.htp.effective().rpc_polling_time_us


def test_every_delay_and_power_of_the_device_is_found_again() -> None:
    """To the microsecond and the microwatt, where nothing jitters; each says how often it was measured, and on what."""
    device = Device()
    found = device.calibrate(meter=device.energy())
    quantities = found.model.quantities()
    assert {name: quantity.value for name, quantity in found.found.items()} == pytest.approx(TRUTH, rel=1e-3)
    for name in ("raise_call_us", "raise_late_us", "wakes.40", "wakes.100", "wakes.1000", "polling_saves_us"):
        assert found.found[name].value == TRUTH[name]
    for name, quantity in quantities.items():
        if name in TRUTH:
            assert quantity.provenance == MEASURED
            assert quantity.spread == pytest.approx(0, abs=1e-3)
            # Each power twice, each call and inference five times, for each sleep latency with polling and without.
            assert quantity.count in (2, 5, 10, 15)
            assert quantity.of.endswith("simulated HTP, as QAIRT 2.51 answers, 2026-11-23")
            low, high = quantity.range or (1, 0)
            assert low <= quantity.value <= high
        else:
            assert quantity == BASE.quantities()[name]
    assert {name for name in quantities if name not in TRUTH} == {
        "call_j",
        "active_exponent",
        "raised_idle_exponent",
        "polling_w",
        "speeds.burst",
    }
    assert device.left() == ((), 0)


def test_the_delays_are_found_under_noise() -> None:
    """Jitter of up to 200 us, and now and then an inference that takes 30 ms: the median is within 40 us."""
    chance = random.Random(7)
    noise = lambda: 30_000 if chance.random() < 0.05 else chance.randint(-100, 100)  # noqa: E731
    device = Device(attrs.evolve(TIMING, jitter_us=noise))
    found = device.calibrate(Settings(count=60, idle_us=400_000)).found
    for name in ("raise_call_us", "lower_call_us", "raise_late_us", "wakes.1000", "wakes.100", "polling_saves_us"):
        quantity = found[name]
        assert abs(quantity.value - TRUTH[name]) <= 40, name
        assert 20 <= (quantity.spread or 0) <= 400, name
        assert quantity.count in (60, 120, 180), name


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_device_takes_is_found(seed: int) -> None:
    """Of other devices, too: no number is one that the calibration knows."""
    chance = random.Random(seed)
    timing = Timing(
        raise_call_us=chance.randint(50, 9000),
        lower_call_us=chance.randint(50, 9000),
        inference_us=chance.randint(500, 9000),
        after_raise_us=chance.randint(0, 20_000),
        after_idle_us={40: chance.randint(0, 100), 100: chance.randint(0, 500), 1000: chance.randint(0, 5000)},
        polling_saves_us=chance.randint(0, 400),
    )
    found = Device(timing).calibrate().found
    assert found["raise_call_us"].value == timing.raise_call_us
    assert found["lower_call_us"].value == timing.lower_call_us
    assert found["raise_late_us"].value == timing.raise_call_us + timing.after_raise_us
    assert found["polling_saves_us"].value == timing.polling_saves_us
    assert {name: found[f"wakes.{name}"].value for name in timing.after_idle_us} == timing.after_idle_us


def test_a_rail_that_gives_the_power_of_the_moment_is_read_while_idle() -> None:
    """Raised, relaxed and released."""
    device = Device()
    found = device.calibrate(meter=device.power(), infers=False).found
    assert {name: found[name].value for name in found if name.endswith("_w")} == pytest.approx(
        {"raised_idle_w": 0.25, "relaxed_idle_w": 0.03, "released_idle_w": 0.004}
    )


def test_without_an_inference_and_a_rail_only_the_calls_are_measured() -> None:
    """The rest stays as the base has it, and the notes say what to name."""
    device = Device()
    found = device.calibrate(infers=False)
    assert set(found.found) == {"raise_call_us", "lower_call_us"}
    assert [note.partition(":")[0] for note in found.notes] == [
        "no hardware is behind this backend",
        "no inference was run",
        "no power was read",
    ]
    assert found.model.raise_late_us.provenance == ASSUMED


@pytest.mark.parametrize(("infers", "metered"), [(False, False), (True, False), (False, True)])
def test_a_run_takes_what_its_plan_says(*, infers: bool, metered: bool) -> None:
    """The inferences and the idle time, and every quantity that the plan names and no other."""
    device = Device()
    steps = plan(QUICK, BASE, infers=infers, metered=metered)
    found = device.calibrate(infers=infers, meter=device.energy() if metered else None)
    assert [name for step in steps for name in step.names] == list(found.found)
    assert device.inferences == sum(step.inferences for step in steps)
    assert device.waited_us == sum(step.waits_us for step in steps)


def test_other_sleep_latencies_are_added_to_the_model() -> None:
    """In their order, beside those of the base."""
    device = Device(attrs.evolve(TIMING, after_idle_us={70: 33, 1000: 480}))
    model = device.calibrate(attrs.evolve(QUICK, sleep_latencies_us=(1000, 70))).model
    assert [wake.sleep_latency_us for wake in model.wakes] == [40, 70, 100, 1000]
    assert (model.quantities()["wakes.70"].value, model.quantities()["wakes.40"].provenance) == (33, ASSUMED)


def test_a_platform_without_polling_says_nothing_of_it() -> None:
    """As QNX: what polling saves stays assumed, and a note says why."""
    device = Device(platform="qnx")
    found = device.calibrate()
    assert "polling_saves_us" not in found.found
    assert found.found["wakes.1000"].value == 480
    assert "this platform has no RPC polling: what it saves was not measured" in found.notes


# One of each thing, so that a run has few points at which something can come.
ONCE = Settings(count=1, power_count=1, power_us=20_000)


@pytest.mark.parametrize(
    ("kind", "seen", "first"), [(KeyboardInterrupt, KeyboardInterrupt, 1), (ZeroDivisionError, CalibrationFailed, 6)]
)
def test_what_comes_in_an_inference_gives_the_votes_back(
    kind: type[BaseException], seen: type[BaseException], first: int
) -> None:
    """Ctrl-C, or an error of the host, in any step: no id, no vote, no polling is left."""
    every = Device()
    every.calibrate(ONCE, meter=every.energy())
    for at in range(first, every.inferences + 1, 10):
        device = Device()

        def fail(number: int, at: int = at) -> None:
            if number == at:
                raise kind

        device.before = fail
        with pytest.raises(seen):
            device.calibrate(ONCE, meter=device.energy())
        assert device.left() == ((), 0), at


def test_ctrl_c_while_it_idles_gives_the_votes_back() -> None:
    """Between two calls, before an inference, beside a power rail: no id, no vote, no polling is left."""
    every = Device()
    every.calibrate(ONCE, meter=every.energy())
    for at in range(1, every.waits + 1, 2):
        device = Device()
        device.interrupted_wait = at
        with pytest.raises(KeyboardInterrupt):
            device.calibrate(ONCE, meter=device.energy())
        assert device.left() == ((), 0), at


def test_ctrl_c_in_a_call_gives_the_votes_back() -> None:
    """Its votes are in force already, whatever it would have returned: no id, no vote, no polling is left."""
    settings = attrs.evolve(ONCE, sleep_latencies_us=(40,))
    every = Device()
    every.calibrate(settings, meter=every.energy())
    for at in range(1, every.sleeps + 1, 7):
        device = Device()
        device.interrupted_sleep = at
        with pytest.raises(KeyboardInterrupt):
            device.calibrate(settings, meter=device.energy())
        assert device.left() == ((), 0), at


def test_a_call_that_fails_ends_it_with_the_code() -> None:
    """What is not voted would be measured as if it were; the votes are given back."""
    device = Device()
    device.htp.fail_next(13006, nth=4)
    with pytest.raises(VoteRejected, match="13006"):
        device.calibrate()
    assert device.left() == ((), 0)


@pytest.mark.parametrize("profile", ["system_settings"])
def test_a_profile_without_votes_can_not_be_measured(profile: str) -> None:
    """It is said before anything is voted."""
    device = Device()
    with pytest.raises(CalibrationFailed, match="measure with one that does"):
        device.calibrate(attrs.evolve(QUICK, profile=profile))
    assert not device.recorder.calls


def test_the_model_is_written_so_that_it_reads_back_as_itself(tmp_path: Path) -> None:
    """Every value, range, spread, count and text; with numbers that every YAML parser reads alike."""
    device = Device()
    model = device.calibrate(meter=device.energy()).model
    strange = attrs.evolve(model.call_j, value=0.00000002, range=None, of='a "quoted" \\ text: # so')
    model = model.with_quantity("call_j", strange).with_value("active_w", 3.0)
    file = tmp_path / "mine.yaml"
    for each in (BASE, attrs.evolve(model, device="mine"), attrs.evolve(model, device="010")):
        file.write_text(model_text(each), encoding="utf-8")
        examined = examine_device_model(file)
        if each.active_w.range is None or each.active_w.range[0] <= each.active_w.value <= each.active_w.range[1]:
            assert examined.accepted() == each
        else:
            assert [problem.message for problem in examined.problems] == [
                "active_w.range, 1.7 to 1.7, does not hold the value 3"
            ]
