"""Reads a power rail from a file or from the output of a command: the present power, or the energy so far."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import subprocess
import threading
from typing import TYPE_CHECKING

from htppower.errors import shortened
from htppower.profiles.regular_file import read_regular_file
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path as FilePath

    from htppower.backends.clock import Clock

# The factor to W or J by unit. A power is read repeatedly; an energy is read before and after, and subtracted.
UNITS_OF_POWER = {"uW": 1e-6, "mW": 1e-3, "W": 1.0}
UNITS_OF_ENERGY = {"uJ": 1e-6, "mJ": 1e-3, "J": 1.0}
UNITS = (*UNITS_OF_POWER, *UNITS_OF_ENERGY)
# The hardware averages a rail over a few ms, so reading more often would not help.
LOOK_EVERY_US = 20_000
_US = 1_000_000
# Only this many letters of a file are read; the number is among the first.
_LONGEST_READING = 4096
_LONGEST_COMMAND_S = 10
# Matches .5 as well, as bc prints it, but not the 1 of power1.
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


class Meter:
    """Reads a power rail.

    Args:
        read: returns a reading, in the unit.
        unit: one of ``UNITS``.
        name: the file or the command that gives the readings, for messages.
    """

    def __init__(self, read: Callable[[], float], unit: str, name: str) -> None:
        self._read = read
        self._scale = {**UNITS_OF_POWER, **UNITS_OF_ENERGY}[unit]
        self._counts_energy = unit in UNITS_OF_ENERGY
        self.name = name

    def look(self) -> float:
        """Return a reading, in W or J.

        Raises:
            CalibrationFailed: the rail can't be read.
        """
        return self._read() * self._scale

    def while_idle_w(self, lasts_us: int, clock: Clock, wait_us: Callable[[int], None]) -> float:
        """Return the mean power while nothing runs for a time, in W."""
        if self._counts_energy:
            return self._from_energy(lambda: wait_us(lasts_us), clock)
        looks = max(lasts_us // LOOK_EVERY_US, 1)
        found = []
        for _ in range(looks):
            wait_us(lasts_us // looks)
            found.append(self.look())
        return sum(found) / len(found)

    def while_busy_w(self, work: Callable[[], None], lasts_us: int, clock: Clock) -> float:
        """Return the mean power while some work is repeated for a time, in W.

        A separate thread reads the power at the same time, so a reading must not wait for the work. The work is
        repeated until there is at least one reading.
        """
        begun_us = clock.now_us
        if self._counts_energy:

            def again() -> None:
                while clock.now_us - begun_us < lasts_us:
                    work()

            return self._from_energy(again, clock)
        found: list[float] = []
        failed: list[Exception] = []
        with self._looking(found, failed):
            while clock.now_us - begun_us < lasts_us or not (found or failed):
                work()
        if failed:
            raise failed[0]
        return sum(found) / len(found)

    def _from_energy(self, work: Callable[[], None], clock: Clock) -> float:
        begun_us, before_j = clock.now_us, self.look()
        work()
        lasted_us, used_j = clock.now_us - begun_us, self.look() - before_j
        if used_j < 0:
            raise CalibrationFailed(f"{self.name} counts energy, but fell by {-used_j:g} J: measure again")
        return used_j * _US / lasted_us if lasted_us else 0.0

    @contextlib.contextmanager
    def _looking(self, found: list[float], failed: list[Exception]) -> Iterator[None]:
        """Read on a separate thread while the block runs; the first failure ends the thread."""
        end = threading.Event()

        def look() -> None:
            try:
                while not end.wait(LOOK_EVERY_US / _US):
                    found.append(self.look())
            except Exception as error:  # noqa: BLE001 - raised on the thread that measures
                failed.append(error)

        thread = threading.Thread(target=look, name="htppower power rail", daemon=True)
        try:
            thread.start()
            yield
        finally:
            end.set()
        thread.join()


def file_meter(path: FilePath, unit: str) -> Meter:
    """Return a meter that reads a file, such as a sensor of the kernel in ``/sys``."""

    def read() -> float:
        try:
            return _number(read_regular_file(path, _LONGEST_READING).decode("ascii", "replace"), str(path))
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or f"it is {error}"
            raise CalibrationFailed(f"{path} can't be read: {said}; give a file with a power") from None

    return Meter(read, unit, str(path))


def command_meter(command: str, unit: str) -> Meter:
    """Return a meter that runs a command for each reading, without a shell, and uses the first number in its output.

    Raises:
        CalibrationFailed: the command line can't be split.
    """
    try:
        # Windows splits the line itself, and a backslash is a part of a path there.
        words = command.strip() if os.name == "nt" else shlex.split(command)
    except ValueError as error:
        raise CalibrationFailed(f"{command!r} is not a command: {error}") from None
    if not words:
        raise CalibrationFailed("the command that reads the power is empty")

    def read() -> float:
        try:
            said = subprocess.run(words, capture_output=True, text=True, timeout=_LONGEST_COMMAND_S, check=True)  # noqa: S603 - the user's own command
        except subprocess.CalledProcessError as error:
            raise CalibrationFailed(
                f"{command} ended with code {error.returncode}: {shortened(error.stderr)}"
            ) from None
        except subprocess.TimeoutExpired:
            raise CalibrationFailed(f"{command} took longer than {_LONGEST_COMMAND_S} s") from None
        except OSError as error:
            raise CalibrationFailed(f"{command} can't be run: {error.strerror}") from None
        return _number(said.stdout, command)

    return Meter(read, unit, command)


def _number(text: str, name: str) -> float:
    found = _NUMBER.search(text)
    value = math.nan if found is None else float(found[0])
    if not math.isfinite(value):
        raise CalibrationFailed(f"{name} gives {shortened(text.strip())!r}, which contains no number")
    return value
