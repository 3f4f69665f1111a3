"""A cap by temperature: it limits every session while the device is hot, by what the thermal zones of Linux say.

The zones are those of the kernel's thermal class (``Documentation/driver-api/thermal/sysfs-api.rst``): a folder
``thermal_zone*`` each, with its name in ``type`` and millidegrees Celsius in ``temp``.
"""

from __future__ import annotations

import fnmatch
import functools
import logging
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.caps.cap_arguments import (
    check_temperatures,
    checked_folder,
    checked_patterns,
    checked_period_us,
)
from htppower.control.caps.cap_switch import CapSwitch
from htppower.control.context_manager import Closing
from htppower.control.time.alarms import armed_or_logged

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from htppower.control.claims.holds import Cap
    from htppower.control.controller import VoteController
    from htppower.profiles.profile import Profile

_LOGGER = logging.getLogger("htppower.thermal")

# A sensor behind a slow bus may take some hundred milliseconds.
_LONGEST_LOOK_US = 10_000_000
# Zones answer -274000 where they have no reading (THERMAL_TEMP_INVALID in the kernel's linux/thermal.h).
_COLDEST_C = -273.15
# No silicon gets there: what says so is no temperature.
_HOTTEST_C = 250.0


@attrs.frozen
class Zone:
    """A thermal zone.

    Attributes:
        name: what it measures, as in its ``type``, such as ``cpu-0-0``.
        path: its folder.
    """

    name: str
    path: Path

    def read_c(self) -> float:
        """Return its temperature in degrees Celsius.

        Raises:
            OSError: it can't be read; EAGAIN and ENODATA where the sensor sleeps, ENOENT where the zone is gone.
            ValueError, OverflowError: what it says is no temperature.
        """
        text = (self.path / "temp").read_bytes().strip()
        temperature_c = int(text) / 1000
        if not _COLDEST_C <= temperature_c <= _HOTTEST_C:
            raise ValueError(f"{temperature_c:g} C is no temperature of a device")
        return temperature_c


@attrs.frozen
class ThermalStatus:
    """What a thermal cap saw when it looked last.

    Attributes:
        looked_us: when, by the controller's clock; None before the first look. It stays where a zone does not
            answer.
        hottest: the name of the hottest zone, None where none could be read.
        temperature_c: its temperature, likewise.
        unread: the names of the zones that could not be read.
        capped: whether the cap is set, and its calls are made. Where no zone can be read it stays as it was.
    """

    looked_us: int | None = None
    hottest: str | None = None
    temperature_c: float | None = None
    unread: tuple[str, ...] = ()
    capped: bool = False


class ThermalCap(Closing):
    """Caps every session of a controller while the device is hot.

    It sets the cap once the hottest zone is above ``above_c``, and lifts it once that is below ``below_c``; between
    the two nothing changes. It looks soon after it is made, then a period after each look was done, and changes at most
    once a look: so two changes are a period apart or more. The zones are read on a thread of its own, since a sensor
    may answer slowly.

    A zone that does not answer keeps the others waiting; after 10 s that is logged.

    A zone that can't be read is logged once until it can be read again. It sets no cap, and one that was not below
    ``below_c`` when it was last read lets none be lifted: no reading is no proof of cooling, nor of heat.

    It ends by ``close``, on leaving a ``with`` block, or when the controller is closed; not when it is dropped.

    Args:
        controller: whose sessions it limits.
        profile: beyond which none goes while the cap is set: a name, a path or a profile.
        above_c: sets the cap, in degrees Celsius.
        below_c: lifts it, in degrees Celsius; below ``above_c``.
        period_us: from one look to the next, 100,000 us or more.
        zones: which zones count, by the names in their ``type``, with ``*``, ``?`` and ``[...]`` as in file names.
        root: the folder of the thermal zones.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the temperatures are not in order, the period is too short, or no zone matches.
        ProfileError: the profile can't be found, is invalid, or is refused on this platform.
        SessionClosed: the controller is closed.
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
        check_temperatures(above_c, below_c)
        self._period_us = checked_period_us(period_us)
        self._zones = find_zones(checked_folder(root), checked_patterns(zones))
        self._above_c = above_c
        self._below_c = below_c
        # Replaced as a whole by each look.
        self._seen = ThermalStatus()
        # What a look waits for, told where it takes too long.
        self._reading: Zone | None = None
        # The lock of the switch protects what follows.
        self._alarm: Any = None
        self._unread: frozenset[Zone] = frozenset()
        # The zones that were not below ``below_c`` when they were last read.
        self._warm: set[Zone] = set()
        self._switch = CapSwitch(controller, profile, "htppower-thermal", self._disarm)
        self._time = self._switch.time
        try:
            self._switch.post(self._look)
            # An interrupt in the last step of a look on this thread is raised as a function begins: here, not later.
            self.status()
        except BaseException:
            # It was interrupted: nobody gets it, so nobody would close it.
            self._time.call_soon(self.close)
            self.close()
            raise

    @property
    def cap(self) -> Cap | None:
        """The cap, where it is set."""
        return self._switch.cap

    def status(self) -> ThermalStatus:
        """Return what it saw when it looked last; wait for no native call."""
        return attrs.evolve(self._seen, capped=self.cap is not None)

    def close(self) -> None:
        """Lift the cap, and look no more. Closing twice is fine; a look that is going on is not waited for."""
        self._switch.close()

    def _look(self) -> None:
        """Read the zones, change the cap where they say so, and see to the next look."""
        try:
            with self._switch.lock:
                self._arm(_LONGEST_LOOK_US, self._tell_waiting)
            self._take_in(*self._read())
        finally:
            # From now, not from when the look began: a slow look would bring the next change too close.
            with self._switch.lock:
                armed = self._arm(self._period_us, functools.partial(self._switch.post, self._look))
            if not armed and not self._switch.closed:
                self._switch.post(self._rest_and_look)

    def _rest_and_look(self) -> None:
        """Look a period later, where no timer can be armed: this thread is the cap's own."""
        clock.sleep(self._period_us / 1_000_000)
        self._look()

    def _take_in(self, readings: list[tuple[Zone, float]], failures: dict[Zone, Exception]) -> None:
        with self._switch.lock:
            if self._switch.closed:
                return
            self._tell_failures(failures, none_read=not readings)
            self._warm.difference_update(zone for zone, _ in readings)
            self._warm.update(zone for zone, temperature_c in readings if temperature_c >= self._below_c)
            hottest = max(readings, key=lambda reading: reading[1], default=None)
            zone, temperature_c = hottest or (None, None)
            unread = tuple(each.name for each in self._zones if each in failures)
            name = None if zone is None else zone.name
            self._seen = ThermalStatus(self._time.now_us, name, temperature_c, unread)
            if hottest is not None:
                self._decide(*hottest)

    def _read(self) -> tuple[list[tuple[Zone, float]], dict[Zone, Exception]]:
        readings: list[tuple[Zone, float]] = []
        failures: dict[Zone, Exception] = {}
        for zone in self._zones:
            self._reading = zone
            try:
                readings.append((zone, zone.read_c()))
            except (OSError, ValueError, OverflowError) as error:
                failures[zone] = error
        self._reading = None
        return readings, failures

    def _decide(self, zone: Zone, temperature_c: float) -> None:
        if temperature_c > self._above_c:
            # The reason is that of the look which set it: the temperature is another at each.
            if self.cap is None:
                self._switch.set(f"{zone.name} at {temperature_c:.1f} C, above {self._above_c:g} C")
        elif not self._warm:
            self._switch.lift()

    def _arm(self, after_us: int, action: Callable[[], None]) -> bool:
        """Run an action later, in place of what was to be run; return whether it will be."""
        self._disarm()
        if self._switch.closed:
            return False
        self._alarm = armed_or_logged(self._time, self._time.now_us + after_us, action, "no timer for a thermal cap")
        return self._alarm is not None

    def _disarm(self) -> None:
        if self._alarm is not None:
            self._switch.time.cancel(self._alarm)

    def _tell_waiting(self) -> None:
        zone = self._reading
        if zone is not None:
            _LOGGER.error(
                "thermal zone %s (%s) has not answered for %g s: no other is read meanwhile; the cap at %s stays %s",
                zone.name,
                zone.path,
                _LONGEST_LOOK_US / 1_000_000,
                self._switch.profile.name,
                self._state_in_words(),
            )

    def _tell_failures(self, failures: dict[Zone, Exception], *, none_read: bool) -> None:
        for zone, error in failures.items():
            if zone not in self._unread:
                _LOGGER.warning("thermal zone %s (%s) can't be read and is left out: %s", zone.name, zone.path, error)
        if none_read and len(self._unread) < len(self._zones):
            _LOGGER.error(
                "no thermal zone can be read: the cap at %s stays %s", self._switch.profile.name, self._state_in_words()
            )
        self._unread = frozenset(failures)

    def _state_in_words(self) -> str:
        return "not set" if self.cap is None else "set"


def find_zones(root: str | os.PathLike[str], patterns: Iterable[str]) -> tuple[Zone, ...]:
    """Return the thermal zones below a folder whose names match one of the patterns.

    Raises:
        ValueError: none does.
    """
    wanted = tuple(patterns)
    zones = []
    for path in sorted(Path(root).glob("thermal_zone*")):
        try:
            zones.append(Zone((path / "type").read_text(encoding="utf-8", errors="replace").strip(), path))
        except OSError:
            _LOGGER.warning("thermal zone %s does not say what it is, and is left out", path)
    found = tuple(zone for zone in zones if any(fnmatch.fnmatchcase(zone.name, pattern) for pattern in wanted))
    if not found:
        there = ", ".join(sorted({zone.name for zone in zones})) or "none at all"
        raise ValueError(
            f"no thermal zone below {root} is named {' or '.join(wanted) or 'nothing'}; there are: {there}"
        )
    return found
