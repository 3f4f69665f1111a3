"""Reads a meter: a file, the output of a command, or a Python function; the present power, or the energy so far."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.errors import printable, shortened
from htppower.profiles.regular_file import read_regular_file
from htppower.tools.tuning.models.calibration.inference import find_function
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.time.base import Time

# The factor to W or J by unit. A power is read repeatedly; an energy is read before and after, and subtracted.
UNITS_OF_POWER = {"uW": 1e-6, "mW": 1e-3, "W": 1.0}
UNITS_OF_ENERGY = {"uJ": 1e-6, "mJ": 1e-3, "J": 1.0}
UNITS = (*UNITS_OF_POWER, *UNITS_OF_ENERGY)
# Only this many letters of a file are read; the number is among the first.
_LONGEST_READING = 4096
_LONGEST_COMMAND_S = 10
# Matches .5 as well, as bc prints it, but not the 1 of power1.
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@attrs.frozen
class Reading:
    """A reading of a meter: when, in us, and the power in W or the energy in J."""

    when_us: int
    value: float


class Meter:
    """Reads a power rail.

    Args:
        read: returns a reading, in the unit.
        unit: one of ``UNITS``.
        name: the file, command or function that gives the readings, for messages.

    Attributes:
        name: as above.
        counts_energy: whether the readings are the energy so far.
    """

    def __init__(self, read: Callable[[], float | None], unit: str, name: str) -> None:
        self._read = read
        self._scale = {**UNITS_OF_POWER, **UNITS_OF_ENERGY}[unit]
        self.counts_energy = unit in UNITS_OF_ENERGY
        self.name = name

    def look(self) -> float:
        """Return a reading, in W or J.

        Raises:
            CalibrationFailed: the rail can't be read, or gives no finite number.
        """
        try:
            read = self._read()
            value = math.nan if read is None else float(read)
        except CalibrationFailed:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {printable(str(error))}"
            raise CalibrationFailed(f"{self.name} can't be read: {said}") from error
        if not math.isfinite(value):
            raise CalibrationFailed(f"{self.name} gives {read}, which is not a measurement")
        return value * self._scale

    @contextlib.contextmanager
    def watched(self, time: Time, every_us: int) -> Iterator[list[Reading]]:
        """Read the rail on a separate thread while the block runs. The list that it yields grows.

        Raises:
            CalibrationFailed: a reading failed. It is raised at the end of the block.
        """
        found: list[Reading] = []
        failed: list[CalibrationFailed] = []
        ended: list[bool] = []
        worker = time.worker("htppower-meter")

        def look() -> None:
            if ended:
                return
            begun_us = time.now_us
            try:
                value = self.look()
            except CalibrationFailed as error:
                failed.append(error)
                return
            read_us = time.now_us
            found.append(Reading((begun_us + read_us) // 2, value))
            time.call_at(max(begun_us + every_us, read_us), lambda: worker.post(look))

        worker.post(look)
        try:
            yield found
        finally:
            ended.append(True)
            worker.close()
        if failed:
            raise failed[0]


def find_meter(said: str, unit: str | None = None) -> Meter:
    """Return the meter ``said``: ``file:PATH``, ``command:COMMAND`` or ``python:MODULE:FUNCTION``.

    Without a unit, a file is in uW, as the kernel's sensors are, and everything else in mW.

    Raises:
        CalibrationFailed: it is none of these, or can't be found.
    """
    kind, _, where = said.partition(":")
    if not where.strip() or kind not in ("file", "command", "python"):
        raise CalibrationFailed(f"{said!r} is not a meter: write file:PATH, command:COMMAND or python:MODULE:FUNCTION")
    if kind == "file":
        return file_meter(Path(where), unit or "uW")
    if kind == "command":
        return command_meter(where, unit or "mW")
    return Meter(find_function(where, "write python:MODULE:FUNCTION"), unit or "mW", where)


def file_meter(path: Path, unit: str) -> Meter:
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
