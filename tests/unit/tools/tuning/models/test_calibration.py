"""A calibration finds the delays and powers of a simulated HTP."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import attrs
import pytest
from support.timed_device import BASE, QUICK, TIMING, Device

from htppower.backends import Timing
from htppower.tools.tuning.models.calibration.meter import Meter
from htppower.tools.tuning.models.calibration.settings import PowerRefused, Settings
from htppower.tools.tuning.models.calibration.steps import plan
from htppower.tools.tuning.models.file import examine_device_model, model_text
from htppower.tools.tuning.models.model import ASSUMED, MEASURED

if TYPE_CHECKING:
    from pathlib import Path


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

# The expected values, by the names of the quantities. A raise is a call with clocks, and a call with settings of the
# process, which takes as long as a call that lowers.
TRUTH = {
    "raise_call_us": 3300,
    "lower_call_us": 2600,
    "raise_late_us": 4150,
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


def test_every_delay_and_power_of_the_device_is_found_again() -> None:
    """Without jitter each value is exact to 1 us and 1 uW, with the number and conditions of its measurements."""
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
            # Each power four times, idling twice more; each call and inference five times, for each sleep latency with
            # polling and without.
            assert quantity.count in (4, 5, 6, 10, 15)
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
    """With jitter up to 200 us, and some inferences of 30 ms, the median is within 40 us."""
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
    """The delays of other devices are found too, so the calibration has no built-in number."""
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
    assert found["raise_call_us"].value == timing.raise_call_us + timing.lower_call_us
    assert found["lower_call_us"].value == 2 * timing.lower_call_us
    assert found["raise_late_us"].value == timing.raise_call_us + timing.lower_call_us + timing.after_raise_us
    assert found["polling_saves_us"].value == timing.polling_saves_us
    assert {name: found[f"wakes.{name}"].value for name in timing.after_idle_us} == timing.after_idle_us


def test_a_rail_that_gives_the_power_of_the_moment_is_read_while_idle() -> None:
    """The power is found raised, relaxed and released, and in no other state."""
    device = Device()
    found = device.calibrate(meter=device.power(), infers=False).found
    assert {name: found[name].value for name in found if name.endswith("_w")} == pytest.approx(
        {"raised_idle_w": 0.25, "relaxed_idle_w": 0.03, "released_idle_w": 0.004}
    )


def test_a_rail_whose_sign_is_turned_is_refused() -> None:
    """A negative power ends the calibration."""
    device = Device()
    turned = Meter(lambda: -device.htp.power_w, "W", "rail")
    with pytest.raises(PowerRefused, match=r"rail gives -0\.004 W \(released_idle_w\): reverse its sign"):
        device.calibrate(meter=turned, infers=False)
    assert device.left() == ((), 0)


def test_without_an_inference_and_a_rail_only_the_calls_are_measured() -> None:
    """The other values are the base's, and the notes say which options measure them."""
    device = Device()
    found = device.calibrate(infers=False)
    assert set(found.found) == {"raise_call_us", "lower_call_us"}
    assert [note.partition(":")[0] for note in found.notes] == [
        "there is no hardware behind this backend",
        "no inference was run",
        "no power was read",
    ]
    assert found.model.raise_late_us.provenance == ASSUMED


@pytest.mark.parametrize(("infers", "metered"), [(False, False), (True, False), (False, True)])
def test_a_run_takes_what_its_plan_says(*, infers: bool, metered: bool) -> None:
    """A run has the inferences, the idle time and the quantities of its plan."""
    device = Device()
    steps = plan(QUICK, BASE, infers=infers, metered=metered)
    found = device.calibrate(infers=infers, meter=device.energy() if metered else None)
    assert [name for step in steps for name in step.names] == list(found.found)
    assert device.inferences == sum(step.inferences for step in steps)
    assert device.waited_us == sum(step.waits_us for step in steps)


def test_other_sleep_latencies_are_added_to_the_model() -> None:
    """Added latencies are sorted among the latencies of the base."""
    device = Device(attrs.evolve(TIMING, after_idle_us={70: 33, 1000: 480}))
    model = device.calibrate(attrs.evolve(QUICK, sleep_latencies_us=(1000, 70))).model
    assert [wake.sleep_latency_us for wake in model.wakes] == [40, 70, 100, 1000]
    assert (model.quantities()["wakes.70"].value, model.quantities()["wakes.40"].provenance) == (33, ASSUMED)


def test_a_platform_without_polling_says_nothing_of_it() -> None:
    """On QNX the saving by polling stays assumed, and a note gives the reason."""
    device = Device(platform="qnx")
    found = device.calibrate()
    assert "polling_saves_us" not in found.found
    assert found.found["wakes.1000"].value == 480
    assert "this platform has no RPC polling: its savings were not measured" in found.notes


def test_the_model_is_written_so_that_it_reads_back_as_itself(tmp_path: Path) -> None:
    """Every value, range, spread, count and text is kept, and every YAML parser reads the same numbers."""
    device = Device()
    model = device.calibrate(meter=device.energy()).model
    strange = attrs.evolve(model.call_j, value=0.00000002, range=None, of='a "quoted" \\ text: # so')
    model = model.with_quantity("call_j", strange)
    file = tmp_path / "mine.yaml"
    for each in (BASE, attrs.evolve(model, device="mine"), attrs.evolve(model, device="010")):
        file.write_text(model_text(each), encoding="utf-8")
        assert examine_device_model(str(file)).accepted() == each
