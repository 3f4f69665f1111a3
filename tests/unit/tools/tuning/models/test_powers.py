"""Powers of meters with known faults: right, with the right interval, or refused with a reason."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.synthetic_meter import MeteredDevice
from support.timed_device import TIMING

from htppower.tools.tuning.models.calibration.fit import Run, fit
from htppower.tools.tuning.models.calibration.meter import Meter
from htppower.tools.tuning.models.calibration.powers import measure_powers
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed, PowerRefused, Settings
from htppower.tools.tuning.models.calibration.steps import plan
from htppower.tools.tuning.models.file import load_device_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.tuning.models.calibration.fit import StatePower

# Long inferences, so that a run has few of them.
SLOW = attrs.evolve(TIMING, inference_us=50_000)
METER = Settings(count=3, period_us=100_000)
ABOVE_MW = (SLOW.active_w - SLOW.released_idle_w) * 1000


def powers(device: MeteredDevice, settings: Settings = METER, meter: Meter | None = None) -> dict[str, StatePower]:
    """Return the measured powers of a device."""
    with device.bench(settings, meter=meter or device.meter()) as bench:
        measure_powers(bench)
        return {power.name: power for power in bench.powers}


def refusal(device: MeteredDevice, settings: Settings = METER, meter: Meter | None = None) -> str:
    """Return why the powers of a device are refused; empty if they are not refused but right."""
    try:
        found = powers(device, settings, meter)["active_w"]
    except PowerRefused as refused:
        return str(refused)
    above_mw, reach_mw = found.above_idle_mw
    assert above_mw == pytest.approx(ABOVE_MW, rel=0.03)
    assert abs(above_mw - ABOVE_MW) <= reach_mw + 1e-6
    return ""


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("period_us", [10_000, 100_000])
@pytest.mark.parametrize(("late_us", "drift_w_s"), [(0, 0.0), (100_000, 0.005)])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_good_meter_gives_the_power_within_3_percent(
    *, counts: bool, period_us: int, late_us: int, drift_w_s: float, noise: float
) -> None:
    """At 5 % noise of each average, a delay of a period and a drift within the limit; the truth is in the interval."""
    device = MeteredDevice(
        period_us=period_us,
        late_us=late_us,
        drift_w_s=drift_w_s,
        base_w=0.2,
        noise=noise,
        counts=counts,
        seed=period_us,
        timing=SLOW,
    )
    assert refusal(device) == ""


@pytest.mark.parametrize("period_us", [130_000, 300_000, 500_000, 1_000_000, 1_300_000, 30_000_000])
@pytest.mark.parametrize("counts", [False, True])
def test_a_meter_that_is_slower_than_said_is_right_or_refused(*, period_us: int, counts: bool) -> None:
    """A period that is many times the stated one, or longer than a run, never gives a wrong power."""
    said = refusal(MeteredDevice(period_us=period_us, noise=0.02, counts=counts, timing=SLOW))
    assert bool(said) or period_us < 500_000
    assert not said or "rail" in said


@pytest.mark.parametrize("late_us", [200_000, 300_000, 900_000, 1_320_000, 5_000_000])
def test_a_meter_that_is_late_is_right_or_refused(late_us: int) -> None:
    """Also if it is late by a whole run, so that each run shows the state before."""
    said = refusal(MeteredDevice(period_us=100_000, late_us=late_us, noise=0.02, timing=SLOW))
    assert bool(said) == (late_us >= 300_000), said


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ({"drift_w_s": 0.02, "base_w": 1.0}, "and 0.2 W is the limit: let the device reach a steady temperature"),
        ({"drift_w_s": -0.02, "base_w": 2.0}, "idling drew -0"),
        ({"noise": 1.0}, "by the noise and the steps of the meter"),
        ({"step_w": 0.5}, "by the noise and the steps of the meter"),
        ({"step_w": 9.0}, "gives 0 W in every state: it does not measure this device"),
    ],
)
def test_figures_that_do_not_hold_are_refused(faults: dict[str, Any], said: str) -> None:
    """The reason has the figure and its limit."""
    assert said in refusal(MeteredDevice(period_us=100_000, timing=SLOW, **faults))


@pytest.mark.parametrize("step_w", [0.001, 0.025, 0.1])
def test_steps_of_the_meter_widen_the_interval(step_w: float) -> None:
    """The truth is in the interval, though a reading of a steady power shows no noise."""
    assert refusal(MeteredDevice(period_us=100_000, step_w=step_w, timing=SLOW)) == ""


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (lambda _watts, _at_us: 1.2, "gives 1.2 W in every state"),
        (lambda watts, _at_us: -watts, "reverse its sign"),
        (lambda watts, at_us: watts if at_us < 3_000_000 else float("nan"), "gives nan, which is not a measurement"),
        (lambda watts, at_us: watts if at_us % 700_000 > 25_000 else None, "gives None, which is not a measurement"),
        (lambda _watts, at_us: 0.5 + (at_us // 1_300_000) % 3, "rail do not hold"),
        (lambda _watts, at_us: at_us / 1e7, "rail do not hold"),
    ],
)
def test_a_meter_that_lies_is_refused(lie: Callable[[float, int], float | None], said: str) -> None:
    """A constant, negative, missing or unrelated reading is refused with a reason, and the votes are given back."""
    device = MeteredDevice(period_us=100_000, timing=SLOW)
    rail = Meter(lambda: lie(device.htp.power_w, device.time.now_us), "W", "rail")
    with pytest.raises(CalibrationFailed, match=said):
        powers(device, meter=rail)
    assert device.left() == ((), 0)


def test_a_meter_that_is_read_too_seldom_is_refused() -> None:
    """A command that takes 300 ms gives too few readings for a period of 100 ms."""
    device = MeteredDevice(period_us=100_000, timing=SLOW)
    settings = attrs.evolve(METER, period_us=100_000)

    def read() -> float:
        device.time.sleep(0.3)
        return device.htp.power_w

    assert "or it is too slow to read" in refusal(device, settings, Meter(read, "W", "rail"))


def test_profiles_are_compared_by_power_and_energy_of_an_inference() -> None:
    """The energy is the power above idle times the duration; equal powers are refused as a difference."""
    timing = attrs.evolve(SLOW, speeds={160: 1.0, 96: 0.5})
    device = MeteredDevice(period_us=100_000, timing=timing)
    with pytest.raises(PowerRefused, match="low_balanced"):
        powers(device, attrs.evolve(METER, compared=("low_balanced",)))
    assert device.left() == ((), 0)
    slower = MeteredDevice(period_us=100_000, timing=timing)
    rail = Meter(lambda: slower.htp.power_w * (0.5 if slower.htp.effective().core_target == 96 else 1), "W", "rail")
    found = powers(slower, attrs.evolve(METER, compared=("low_balanced",)), rail)
    assert found["low_balanced"].above_idle_mw[0] == pytest.approx(846, rel=0.01)
    assert found["low_balanced"].inference_mj[0] == pytest.approx(84.6, rel=0.03)
    assert found["active_w"].inference_mj[0] == pytest.approx(84.8, rel=0.03)
    assert found["active_w"].inferences_s == pytest.approx(20, rel=0.01)


def test_the_cpu_time_of_each_state_is_told() -> None:
    """A host that burns half a CPU while inferences run, and nothing else, shows 0.5 CPUs at work."""
    device = MeteredDevice(period_us=100_000, timing=SLOW)
    with device.bench(METER, meter=device.meter()) as bench:
        burning = attrs.evolve(bench, cpu_us=lambda: device.inferences * 25_000)
        measure_powers(burning)
        shares = {power.name: power.cpu_share for power in burning.powers}
    assert shares == pytest.approx(
        {"active_w": 0.5, "raised_idle_w": 0, "relaxed_idle_w": 0, "released_idle_w": 0}, abs=0.01
    )


def test_a_run_has_ten_periods_of_the_meter() -> None:
    """A shorter time is refused before anything is voted; a longer time counts in whole periods."""
    with pytest.raises(PowerRefused, match="fewer than 10 periods"):
        plan(attrs.evolve(METER, power_us=999_999), load_device_model(), infers=False, metered=True)
    assert METER.window_us == 1_000_000
    assert attrs.evolve(METER, power_us=1_250_000).window_us == 1_200_000


def test_the_interval_of_95_percent_covers_the_truth() -> None:
    """In 400 synthetic measurements with drift, where states that draw more are noisier, it does so in 93 % or more."""
    truth_w = {"released": 0.004, "raised": 0.25, "active": 1.7}
    hits = 0
    for seed in range(400):
        chance = random.Random(seed)
        states = ["released", *(each for _ in range(5) for each in chance.sample(list(truth_w), 3)), "released"]
        runs = [
            Run(state, at * 1e6, truth_w[state] * (1 + chance.gauss(0, 0.05)) + 0.01 * at, 0.0)
            for at, state in enumerate(states)
        ]
        value_w, reach_w = fit(runs).sum_of({"active": 1, "released": -1})
        hits += abs(value_w - 1.696) <= reach_w
    assert 0.93 <= hits / 400 <= 0.98
