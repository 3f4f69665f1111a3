"""A power rail: a file or a command, current power or total energy, and wrong rails."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from support.slashes import WINDOWS

from htppower.backends.clock import MonotonicClock
from htppower.testing import VirtualTime
from htppower.tools.tuning.models.calibration.meter import LOOK_EVERY_US, Meter, command_meter, file_meter
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed
from htppower.tools.tuning.models.calibration.steps import measured
from htppower.tools.tuning.models.model import MEASURED

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("unit", "text", "expected"),
    [
        ("uW", "1500000\n", 1.5),
        ("mW", "power: 250 mW", 0.25),
        ("W", "2.5e-1", 0.25),
        ("mJ", " 1200 ", 1.2),
        ("W", ".5", 0.5),
        ("W", "power1: -.25W", -0.25),
        ("W", "P=3.W", 3.0),
    ],
)
def test_a_file_is_read_in_its_unit(tmp_path: Path, unit: str, text: str, expected: float) -> None:
    """The first number in the file counts; digits in a name do not."""
    rail = tmp_path / "power1_input"
    rail.write_text(text)
    assert file_meter(rail, unit).look() == pytest.approx(expected)


def test_a_command_is_run_for_each_reading(tmp_path: Path) -> None:
    """The command runs without a shell, split into words."""
    rail = tmp_path / "a rail"
    rail.write_text("40")
    meter = command_meter(f'{sys.executable} -c "import sys; print(open(sys.argv[1]).read())" "{rail}"', "mW")
    assert meter.look() == pytest.approx(0.04)
    rail.write_text("80")
    assert meter.look() == pytest.approx(0.08)


def test_what_is_no_rail_is_said_with_its_name(tmp_path: Path) -> None:
    """The error names a missing file, a text, a failed command, a missing program or an open quote."""
    text = tmp_path / "text"
    text.write_text("none")
    for meter, said in (
        (file_meter(tmp_path / "nowhere", "uW"), "nowhere can't be read"),
        (file_meter(text, "uW"), "'none', which contains no number"),
        (command_meter(f'{sys.executable} -c "raise SystemExit(3)"', "uW"), "ended with code 3"),
        (command_meter("no-such-program-here", "uW"), "can't be run"),
    ):
        with pytest.raises(CalibrationFailed, match=said):
            meter.look()
    # Windows has no error for an open quote.
    for command in (" ",) if WINDOWS else ("a 'b", " "):
        with pytest.raises(CalibrationFailed):
            command_meter(command, "uW")


def test_energy_is_told_as_the_power_of_the_time() -> None:
    """The power is the difference over the time of the work; a decreasing energy is refused."""
    clock = VirtualTime()
    meter = Meter(lambda: clock.now_us * 0.5, "uJ", "rail")
    assert meter.while_idle_w(2_000_000, clock, clock.advance_us) == pytest.approx(0.5)
    assert meter.while_busy_w(lambda: clock.advance_us(700_000), 3_000_000, clock) == pytest.approx(0.5)
    falling = Meter(lambda: -float(clock.now_us), "uJ", "rail")
    with pytest.raises(CalibrationFailed, match="but fell by"):
        falling.while_idle_w(10, clock, clock.advance_us)


def test_a_power_is_averaged_over_the_time() -> None:
    """While idle it is read at equal intervals: half the time at 1 W and half at 3 W are 2 W."""
    clock = VirtualTime()
    lasts_us = 10 * LOOK_EVERY_US
    meter = Meter(lambda: 1.0 if clock.now_us <= lasts_us // 2 else 3.0, "W", "rail")
    assert meter.while_idle_w(lasts_us, clock, clock.advance_us) == pytest.approx(2.0)


def test_a_power_is_read_beside_the_work() -> None:
    """A thread reads it and ends with the work; the work repeats until there is a reading."""
    working = threading.Event()
    meter = Meter(lambda: 2.0 if working.is_set() else 0.0, "W", "rail")

    def work() -> None:
        working.set()
        time.sleep(0.001)

    assert meter.while_busy_w(work, 1, MonotonicClock()) == 2.0
    broken = Meter(lambda: float("none"), "W", "rail")
    with pytest.raises(ValueError, match="none"):
        broken.while_busy_w(work, 1, MonotonicClock())
    with pytest.raises(KeyboardInterrupt):
        meter.while_busy_w(_interrupted, 1, MonotonicClock())
    deadline_s = time.monotonic() + 30
    while any(thread.name == "htppower power rail" for thread in threading.enumerate()):
        assert time.monotonic() < deadline_s, "the thread that reads outlives the work"
        time.sleep(0.01)


def _interrupted() -> None:
    raise KeyboardInterrupt


def test_samples_are_told_by_their_median_with_spread_range_and_count() -> None:
    """From 20 samples on, the range leaves out a twentieth on each side; a negative difference counts as 0."""
    few = measured([3, 1, 2], "x")
    assert (few.value, few.provenance, few.of, few.range, few.spread, few.count) == (2, MEASURED, "x", (1, 3), 1, 3)
    many = measured([*range(1, 101), 10**6], "x")
    assert (many.value, many.range, many.count) == (51, (6, 96), 101)
    assert many.spread == 50
    noise = measured([-5, -1, 4], "x")
    assert (noise.value, noise.range) == (0, (0, 4))
    assert (measured([7], "x").spread, measured([7], "x").range) == (0, (7, 7))
    with pytest.raises(ValueError, match="nothing was measured"):
        measured([], "x")
