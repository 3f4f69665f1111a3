"""Readings from files: lines of ``key=value`` that another process writes, and the sensors of the kernel's hwmon."""

from __future__ import annotations

import fnmatch
import time
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.control.arguments import check_path, checked_whole
from htppower.control.clock.reading import ClockReading

if TYPE_CHECKING:
    import os

# The keys of qcnpuperfd, and the key of a power in mW for writers of your own.
_KEYS = {
    "q6_clock_khz": "clock_khz",
    "q6_utilization": "q6_use_percent",
    "hvx_utilization": "hvx_use_percent",
    "hmx_utilization": "hmx_use_percent",
    "power_mw": "power_mw",
}
# qcnpuperfd writes its file every 0.5 or 1 s.
_STALE_US = 5_000_000
_MOST_BYTES = 65_536
_NANO = 1_000_000_000


class ClockFile:
    """A file of ``key=value`` lines that another process replaces periodically, such as qcnpuperfd.

    Its keys are ``q6_clock_khz`` (kHz), ``q6_utilization``, ``hvx_utilization`` and ``hmx_utilization`` (percent), and
    ``power_mw`` (mW). At least one must be present; other keys are ignored.

    Args:
        path: the file.
        stale_after_us: a file that was written longer ago, by the wall clock, gives no reading.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``stale_after_us`` is less than 1.

    Attributes:
        name: the path.
    """

    def __init__(self, path: str | os.PathLike[str], *, stale_after_us: int = _STALE_US) -> None:
        check_path("path", path)
        self._path = Path(path)
        self._stale_after_us = checked_whole(stale_after_us, "stale_after_us is", "a whole number of us")
        if self._stale_after_us < 1:
            raise ValueError(f"stale_after_us is {stale_after_us}: 1 or more")
        self.name = str(self._path)

    def open(self) -> None:
        """Do nothing: the file is opened for each reading, since its writer replaces it."""

    def read(self, now_ns: int) -> ClockReading:
        """Return a reading.

        Raises:
            OSError: the file can't be read, or was written too long ago.
            ValueError: it has none of the keys, or a value is not a number.
        """
        try:
            with self._path.open("rb") as file:
                text = file.read(_MOST_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            raise FileNotFoundError(f"{self._path} does not exist: start its writer, such as qcnpuperfd") from None
        age_us = (time.time_ns() - self._path.stat().st_mtime_ns) // 1000
        if age_us > self._stale_after_us:
            raise OSError(f"{self._path} was written {age_us / 1_000_000:.1f} s ago: does its writer still run?")
        values = dict(_pair(line) for line in text.splitlines() if "=" in line)
        measured = {field: float(values[key]) for key, field in _KEYS.items() if key in values}
        if not measured:
            raise ValueError(f"{self._path} has none of {', '.join(_KEYS)}")
        return ClockReading(self.name, now_ns, **measured)

    def close(self) -> None:
        """Do nothing: no file stays open."""


class HwmonPower:
    """The power of a sensor of the kernel's hwmon: ``powerN_input``, or the rise of ``energyN_input``.

    Source: ``Documentation/hwmon/sysfs-interface.rst`` of the kernel: power is in uW, energy in uJ.

    Args:
        device: the name of the sensor's device, as in its file ``name``; ``*``, ``?`` and ``[...]`` as in file names.
        channel: the N of the file.
        root: the folder of the devices.

    Raises:
        TypeError: an argument is of another type.

    Attributes:
        name: ``hwmon``, once it is open with the device and the file.
    """

    def __init__(
        self, device: str = "*", *, channel: int = 1, root: str | os.PathLike[str] = "/sys/class/hwmon"
    ) -> None:
        if not isinstance(device, str):
            raise TypeError(f"device is {device!r}: a name such as 'qcom_pld_power'")
        check_path("root", root)
        self._device, self._root = device, Path(root)
        self._channel = checked_whole(channel, "channel is", "a whole number")
        self._file = Path()
        # The time and the energy of the last reading, in ns and uJ.
        self._last: tuple[int, int] | None = None
        self.name = "hwmon"

    def open(self) -> None:
        """Find the sensor.

        Raises:
            OSError: no device, or more than one, has this name and channel.
        """
        inputs = (f"power{self._channel}_input", f"energy{self._channel}_input")
        found = [
            (_text(folder / "name"), next(folder / each for each in inputs if (folder / each).is_file()))
            for folder in sorted(self._root.glob("*"))
            if any((folder / each).is_file() for each in inputs)
        ]
        fitting = [each for each in found if fnmatch.fnmatchcase(each[0], self._device)]
        if len(fitting) != 1:
            there = ", ".join(sorted(name for name, _ in found)) or "none"
            are = f"{len(fitting)} devices" if fitting else "no device"
            named = "" if self._device == "*" else f" named {self._device}"
            raise OSError(f"{are} below {self._root}{named} with {' or '.join(inputs)}; there are: {there}")
        (name, self._file), self._last = fitting[0], None
        self.name = f"hwmon {name} {self._file.name.partition('_')[0]}"

    def read(self, now_ns: int) -> ClockReading:
        """Return a reading. The first one of an energy counter has no power yet.

        Raises:
            OSError: the sensor can't be read.
            ValueError: it is not a number.
        """
        value = int(self._file.read_bytes())
        if self._file.name.startswith("power"):
            return ClockReading(self.name, now_ns, power_mw=value / 1000)
        last, self._last = self._last, (now_ns, value)
        # After an overflow or a reset of the counter, the next reading has a power again.
        if last is None or value < last[1] or now_ns <= last[0]:
            return ClockReading(self.name, now_ns)
        # uJ in a second are uW.
        return ClockReading(self.name, now_ns, power_mw=(value - last[1]) * _NANO / (now_ns - last[0]) / 1000)

    def close(self) -> None:
        """Do nothing: no file stays open."""


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition("=")
    return key.strip(), value.strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
