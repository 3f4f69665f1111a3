"""Readings from files: key=value lines, and sensors of hwmon."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from htppower import ClockFile, HwmonPower
from htppower.control.clock.reading import ClockReading

if TYPE_CHECKING:
    from pathlib import Path

SECOND_NS = 1_000_000_000
# As qcnpuperfd writes it.
DAEMON = "q6_utilization=43.20\nq6_clock_khz=1401000\nhvx_utilization=12.00\nhmx_utilization=80.10\n"


def test_a_file_of_the_daemon(tmp_path: Path) -> None:
    """All values are read; other lines and blanks are ignored; a writer may add a power."""
    path = tmp_path / "stats"
    path.write_text(DAEMON, encoding="ascii")
    assert ClockFile(path).read(7) == ClockReading(str(path), 7, 1_401_000, 43.2, 12.0, 80.1)
    path.write_text("# by hand\n power_mw = 2310.5 \nother=x\n", encoding="ascii")
    assert ClockFile(path).read(8) == ClockReading(str(path), 8, power_mw=2310.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has none of q6_clock_khz"),
        ("hello", "has none of"),
        ("q6_clock_khz=fast", "could not convert"),
        ("q6_clock_khz=-5", "not a measurement"),
        ("hmx_utilization=nan", "not a measurement"),
    ],
)
def test_a_file_with_something_else(tmp_path: Path, text: str, said: str) -> None:
    """A file without a value, or with a wrong value, is refused with the reason."""
    path = tmp_path / "stats"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        ClockFile(path).read(0)


def test_a_file_that_nobody_writes_any_more(tmp_path: Path) -> None:
    """A file that is older than the limit, or missing, gives no reading."""
    path = tmp_path / "stats"
    with pytest.raises(FileNotFoundError, match="does not exist: start its writer"):
        ClockFile(path).read(0)
    path.write_text(DAEMON, encoding="ascii")
    old_s = time.time() - 60
    os.utime(path, (old_s, old_s))
    with pytest.raises(OSError, match=r"was written 60\.\d s ago: does its writer still run"):
        ClockFile(path).read(0)
    assert ClockFile(path, stale_after_us=120_000_000).read(0).clock_khz == 1_401_000


def sensor(root: Path, number: int, name: str, file: str, value: str) -> Path:
    """Make a device with a sensor, and return the sensor's file."""
    folder = root / f"hwmon{number}"
    folder.mkdir()
    (folder / "name").write_text(f"{name}\n", encoding="ascii")
    (folder / file).write_text(f"{value}\n", encoding="ascii")
    return folder / file


def test_the_power_of_a_sensor(tmp_path: Path) -> None:
    """The uW become mW; the name tells the device and the file; devices without a power are no matter."""
    sensor(tmp_path, 0, "cpu_thermal", "temp1_input", "40000")
    sensor(tmp_path, 1, "qcom_pld_power", "power1_input", "2310500")
    source = HwmonPower(root=tmp_path)
    source.open()
    assert source.read(5) == ClockReading("hwmon qcom_pld_power power1", 5, power_mw=2310.5)


def test_the_rise_of_an_energy_counter(tmp_path: Path) -> None:
    """The power is the rise in uJ by the time; the first reading, and one after a reset, have none."""
    file = sensor(tmp_path, 1, "ina", "energy3_input", "1000000")
    source = HwmonPower("i*", channel=3, root=tmp_path)
    source.open()
    assert source.read(0).power_mw is None
    file.write_text("5000000", encoding="ascii")
    assert source.read(2 * SECOND_NS) == ClockReading("hwmon ina energy3", 2 * SECOND_NS, power_mw=2000.0)
    file.write_text("100", encoding="ascii")
    assert source.read(3 * SECOND_NS).power_mw is None
    file.write_text("1000100", encoding="ascii")
    assert source.read(4 * SECOND_NS).power_mw == 1000.0


def test_a_sensor_must_be_named_if_there_are_several(tmp_path: Path) -> None:
    """None, and more than one, are errors that list the devices."""
    with pytest.raises(OSError, match=r"no device below .* there are: none"):
        HwmonPower(root=tmp_path).open()
    sensor(tmp_path, 0, "ina_a", "power1_input", "1000")
    sensor(tmp_path, 1, "ina_b", "power1_input", "2000")
    with pytest.raises(OSError, match=r"2 devices .* there are: ina_a, ina_b"):
        HwmonPower(root=tmp_path).open()
    with pytest.raises(OSError, match=r"no device .* named other"):
        HwmonPower("other", root=tmp_path).open()
    source = HwmonPower("ina_b", root=tmp_path)
    source.open()
    assert source.read(0).power_mw == 2.0


def test_arguments_of_other_types(tmp_path: Path) -> None:
    """A wrong type is an error at once, not at the first reading."""
    for make in (
        lambda: ClockFile(5),  # type: ignore[arg-type]
        lambda: HwmonPower(5),  # type: ignore[arg-type]
        lambda: HwmonPower(channel="1"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(ValueError, match="stale_after_us"):
        ClockFile(tmp_path, stale_after_us=0)
