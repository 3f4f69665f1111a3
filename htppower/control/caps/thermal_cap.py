"""A cap by temperature: it limits every session while a thermal zone of Linux is hot.

A zone (``Documentation/driver-api/thermal/sysfs-api.rst`` of the kernel) is a folder ``thermal_zone*`` with its name in
``type`` and millidegrees Celsius in ``temp``.
"""

from __future__ import annotations

import fnmatch
import logging
import math
import os
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.arguments import checked_whole
from htppower.control.caps.switched_cap import SwitchedCap, listed
from htppower.control.time.base import SingleAlarm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.controller import VoteController
    from htppower.profiles.profile import Profile

_LOGGER = logging.getLogger("htppower.thermal")

SHORTEST_PERIOD_US = 100_000
# A shorter period is refused, since a sensor behind a slow bus may take some hundred milliseconds.
_LONGEST_LOOK_US = 10_000_000
# A zone without a reading answers -274000 (THERMAL_TEMP_INVALID in linux/thermal.h); the upper limit is hotter than any
# working chip.
_COLDEST_C, _HOTTEST_C = -273.15, 250.0


@attrs.frozen
class ThermalStatus:
    """The last reading of a thermal cap.

    Attributes:
        looked_us: the time of the last reading, by the controller's clock; None before the first one. It does not
            change while a zone gives no answer.
        hottest: the name of the hottest zone; None if no zone can be read.
        temperature_c: its temperature in degrees Celsius; None if no zone can be read.
        unread: the names of the zones that can't be read.
        capped: whether the cap is set, and its native calls are made. If no zone can be read, the cap stays as it was.
    """

    looked_us: int | None = None
    hottest: str | None = None
    temperature_c: float | None = None
    unread: tuple[str, ...] = ()
    capped: bool = False


class ThermalCap(SwitchedCap):
    """Caps every session of a controller while the device is hot.

    Its own thread reads the thermal zones, soon after this object is made, and then one period after the end of each
    reading. The cap is set when the hottest zone is above ``above_c``, and lifted when all zones are below ``below_c``.
    So two changes of the cap are at least one period apart. A zone that can't be read sets no cap; if its last reading
    was not below ``below_c``, the cap is not lifted. Such a zone is logged once. A zone that does not answer delays the
    others, and is logged after 10 s.

    It ends by ``close``, on leaving a ``with`` block, or when the controller is closed; not when the object is garbage
    collected.

    Args:
        controller: the controller of the sessions.
        profile: the limit while the cap is set: a name, a path or a profile.
        above_c: the cap is set above this temperature, in degrees Celsius.
        below_c: the cap is lifted below this temperature, in degrees Celsius; less than ``above_c``.
        period_us: the time between two readings, 100,000 us or more.
        zones: the names of the zones that count, as in their ``type``; ``*``, ``?`` and ``[...]`` as in file names.
        root: the folder of the thermal zones.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the temperatures are not in order, the period is too short, or no zone matches.
        ProfileError, SessionClosed: for the same reasons as in ``VoteController.cap``.
    """

    def __init__(
        self,
        controller: VoteController,
        profile: str | os.PathLike[str] | Profile = "balanced",
        *,
        above_c: float,
        below_c: float,
        period_us: int = 1_000_000,
        zones: str | Iterable[str] = "*",
        root: str | os.PathLike[str] = "/sys/class/thermal",
    ) -> None:
        _check_temperatures(above_c, below_c)
        self._above_c, self._below_c = above_c, below_c
        self._period_us = checked_whole(period_us, "period_us is", "a whole number of us")
        if self._period_us < SHORTEST_PERIOD_US:
            raise ValueError(f"period_us is {period_us}: {SHORTEST_PERIOD_US} or more")
        self._zones = find_zones(root, zones)
        super().__init__(controller, profile)
        self._seen = ThermalStatus()
        # The zone that is being read, the zones that can't be read, and the last reading of each zone.
        self._reading: Path | None = None
        self._unread: frozenset[Path] = frozenset()
        self._last: dict[Path, float] = {}
        self._alarm = SingleAlarm(self._time, "a thermal cap", self._rang)
        self._worker = self._time.worker("htppower-thermal")
        self._join_controller()
        self._worker.post(self._look)

    def status(self) -> ThermalStatus:
        """Return the last reading, and whether the cap is set; wait for no native call."""
        return attrs.evolve(self._seen, capped=self.cap is not None)

    def _stop(self) -> None:
        self._alarm.disarm()
        self._worker.close()

    def _look(self) -> None:
        """Read the zones, set or lift the cap if needed, and arm the alarm for the next reading."""
        self._arm(_LONGEST_LOOK_US)
        readings: dict[Path, float] = {}
        failures: dict[Path, Exception] = {}
        for zone in self._zones:
            self._reading = zone
            try:
                readings[zone] = _read_c(zone)
            except (OSError, ValueError, OverflowError) as error:
                failures[zone] = error
        self._reading = None
        try:
            with self._lock:
                if not self._closed:
                    self._log_failures(failures)
                    self._take_in(readings, tuple(self._zones[zone] for zone in failures))
        finally:
            # The period counts from the end of the reading: otherwise the next change would follow too soon after a
            # slow reading.
            if not self._arm(self._period_us):
                self._worker.post(self._rest_and_look)

    def _rest_and_look(self) -> None:
        """If no timer can be armed, wait for one period on the worker itself, and then read again."""
        clock.sleep(self._period_us / 1_000_000)
        self._look()

    def _take_in(self, readings: dict[Path, float], unread: tuple[str, ...]) -> None:
        hottest = max(readings, key=readings.__getitem__, default=None)
        if hottest is None:
            self._seen = ThermalStatus(self._time.now_us, unread=unread)
            return
        temperature_c = readings[hottest]
        self._seen = ThermalStatus(self._time.now_us, self._zones[hottest], temperature_c, unread)
        self._last.update(readings)
        if temperature_c > self._above_c:
            # The reason stays the same while the cap is set, although the temperature changes with each reading.
            if self.cap is None:
                self._switch(f"{self._zones[hottest]} at {temperature_c:.1f} C, above {self._above_c:g} C")
        elif max(self._last.values()) < self._below_c:
            self._switch(None)

    def _arm(self, after_us: int) -> bool:
        """Arm the alarm for the next reading; return False if no alarm can be armed."""
        with self._lock:
            self._alarm.disarm()
            if not self._closed:
                self._alarm.arm(self._time.now_us + after_us)
            return self._closed or self._alarm.armed

    def _rang(self) -> None:
        if (zone := self._reading) is None:
            self._worker.post(self._look)
        else:
            said = "thermal zone %s (%s) has not answered for %g s: no other is read until it does; %s"
            _LOGGER.error(said, self._zones[zone], zone, _LONGEST_LOOK_US / 1_000_000, self._stays())

    def _log_failures(self, failures: dict[Path, Exception]) -> None:
        for zone, error in failures.items():
            if zone not in self._unread:
                _LOGGER.warning(
                    "thermal zone %s (%s) can't be read and is left out: %s", self._zones[zone], zone, error
                )
        if len(self._unread) < len(failures) == len(self._zones):
            _LOGGER.error("no thermal zone can be read: %s", self._stays())
        self._unread = frozenset(failures)

    def _stays(self) -> str:
        return f"the cap at {self._profile.name} stays {'not set' if self.cap is None else 'set'}"


def find_zones(root: str | os.PathLike[str], names: str | Iterable[str]) -> dict[Path, str]:
    """Return the names of the matching thermal zones below a folder, by folder; raise ValueError if none matches."""
    patterns = listed(names)
    if not all(isinstance(each, str) for each in patterns):
        raise TypeError(f"zones is {names!r}: a name such as 'cpu-*', or a list of names")
    if not isinstance(root, (str, os.PathLike)):
        raise TypeError(f"root is {root!r}: the path of a folder, such as '/sys/class/thermal'")
    zones = dict[Path, str]()
    for path in sorted(Path(root).glob("thermal_zone*")):
        try:
            zones[path] = (path / "type").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            _LOGGER.warning("the type of thermal zone %s can't be read: it is left out", path)
    found = {zone: name for zone, name in zones.items() if any(fnmatch.fnmatchcase(name, each) for each in patterns)}
    if not found:
        there = ", ".join(sorted(set(zones.values()))) or "none at all"
        wanted = " or ".join(patterns) or "nothing"
        raise ValueError(f"no thermal zone below {root} is named {wanted}; there are: {there}")
    return found


def _read_c(zone: Path) -> float:
    """Return the temperature of a zone.

    Raise OSError if its sensor sleeps or is gone, and ValueError or OverflowError if the value is not a temperature.
    """
    temperature_c = int((zone / "temp").read_bytes()) / 1000
    if not _COLDEST_C <= temperature_c <= _HOTTEST_C:
        raise ValueError(f"{temperature_c:g} C is not a possible temperature of a device")
    return temperature_c


def _check_temperatures(above_c: Any, below_c: Any) -> None:
    for name, given in (("above_c", above_c), ("below_c", below_c)):
        if not hasattr(given, "__float__"):
            raise TypeError(f"{name} is {given!r}: a number of degrees Celsius")
    if not (math.isfinite(above_c) and math.isfinite(below_c) and below_c < above_c):
        raise ValueError(f"below_c is {below_c}, above_c is {above_c}: below_c has to be the lower of two numbers")
