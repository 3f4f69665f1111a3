"""A power rail: a file or a command, current power or total energy, and wrong rails."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.slashes import WINDOWS

from htppower.control.time.scheduler import SystemTime
from htppower.testing import VirtualTime
from htppower.tools.tuning.models.calibration.meter import Meter, command_meter, file_meter, find_meter
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


def test_a_meter_is_named_by_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is in uW unless a unit is named, a command and a function are in mW; anything else is refused."""
    (tmp_path / "rail").write_text("40")
    (tmp_path / "some_meter.py").write_text("def read():\n    return 40\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert find_meter("file:rail").look() == pytest.approx(0.00004)
    assert find_meter("python:some_meter:read").look() == pytest.approx(0.04)
    assert find_meter(f"command:{sys.executable} -c print(40)", "W").look() == 40
    for said in ("rail", "file:", "wall:rail", "python:some_meter", "python:some_meter:none"):
        with pytest.raises(CalibrationFailed, match="python:MODULE:FUNCTION"):
            find_meter(said)


@pytest.mark.parametrize("lie", [None, math.nan, math.inf, "none", [], OSError("gone")])
def test_what_is_no_measurement_is_refused(lie: object) -> None:
    """A missing or endless reading, a text or an error of the function is refused with the name of the meter."""

    def read() -> Any:
        if isinstance(lie, OSError):
            raise lie
        return lie

    with pytest.raises(CalibrationFailed, match=r"^rail "):
        Meter(read, "W", "rail").look()


def test_a_meter_is_read_beside_the_work() -> None:
    """It is read at equal times while the block runs, and not after it."""
    clock = VirtualTime()
    meter = Meter(lambda: clock.now_us / 1000, "mW", "rail")
    with meter.watched(clock, 10) as found:
        clock.advance_us(35)
    clock.advance_us(100)
    assert [reading.when_us for reading in found] == [0, 10, 20, 30]
    assert [reading.value for reading in found] == pytest.approx([0, 1e-5, 2e-5, 3e-5])


def test_a_reading_that_fails_ends_the_measurement() -> None:
    """The failure is raised at the end of the block; an interrupt of the block is not hidden by it."""
    clock = VirtualTime()
    broken = Meter(lambda: None if clock.now_us else 1.0, "W", "rail")
    with pytest.raises(CalibrationFailed, match="rail gives None"), broken.watched(clock, 10):
        clock.advance_us(35)
    with pytest.raises(KeyboardInterrupt), broken.watched(clock, 10):
        _interrupted(clock)


def _interrupted(clock: VirtualTime) -> None:
    clock.advance_us(35)
    raise KeyboardInterrupt


def noted(read: threading.Event) -> float:
    """Note that the meter was read, and return 2 W."""
    read.set()
    return 2.0


def test_the_threads_of_a_meter_end_with_the_work() -> None:
    """In the system's time a thread reads the meter, and ends after the block."""
    read = threading.Event()
    with contextlib.closing(SystemTime()) as clock:
        with Meter(lambda: noted(read), "W", "rail").watched(clock, 1000) as found:
            assert read.wait(30)
        assert {reading.value for reading in found} <= {2.0}
    deadline_s = time.monotonic() + 30
    while any(thread.name == "htppower-meter" for thread in threading.enumerate()):
        assert time.monotonic() < deadline_s, "the thread that reads outlives the work"
        time.sleep(0.01)


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
