"""A reading of the measured clock or power, the status of its reader, and what every source of readings offers."""

import time
from collections.abc import Callable
from typing import Protocol

import attrs

# This module has no postponed annotations, since other code reads the types of the fields.


# How long the close of a reader waits for a source that hangs, and the close of a controller for all of its sources.
LONGEST_CLOSE_S = 1.0
# Larger values have no exact form in JSON.
_LIMIT = 2**53


def _measured(value: float | None) -> float | None:
    """Return a value as a float. Refuse one that no clock or meter can have; also NaN, which is in no range."""
    if value is None:
        return None
    if not 0 <= value < _LIMIT:
        raise ValueError(f"{value} is not a measurement")
    return float(value)


def _whole(value: float | None) -> int | None:
    measured = _measured(value)
    return None if measured is None else round(measured)


@attrs.frozen
class ClockReading:
    """What a source has measured. A value that the source does not have is None.

    Attributes:
        source: the source, such as ``libqcnpuperf``.
        when_ns: when it was read, by the controller's clock.
        clock_khz: the average clock of the Q6 core, in kHz.
        q6_use_percent: the use of the Q6 core, as a share of its highest clock, in percent.
        hvx_use_percent: the use of HVX, in percent.
        hmx_use_percent: the use of HMX, in percent.
        power_mw: the power of the measured rail, in mW. The source decides which rail that is.

    Raises:
        ValueError: a value is negative, 2**53 or more, or not a number.
    """

    source: str
    when_ns: int
    clock_khz: int | None = attrs.field(default=None, converter=_whole)
    q6_use_percent: float | None = attrs.field(default=None, converter=_measured)
    hvx_use_percent: float | None = attrs.field(default=None, converter=_measured)
    hmx_use_percent: float | None = attrs.field(default=None, converter=_measured)
    power_mw: float | None = attrs.field(default=None, converter=_measured)


@attrs.frozen
class ClockStatus:
    """The state of a reader.

    Attributes:
        source: the source, such as ``libqcnpuperf``.
        reading: the last reading; None before the first one, and while there is a problem.
        problem: why there is no reading; None if the last one succeeded.
    """

    source: str
    reading: ClockReading | None = None
    problem: str | None = None


class ClockSource(Protocol):
    """A source of readings. A reader calls all three methods on one thread, and no other thread calls them."""

    @property
    def name(self) -> str:
        """The name that status and metrics show."""

    def open(self) -> None:
        """Get ready; ``close`` undoes this. An exception is shown as the reason; a later call tries again."""

    def read(self, now_ns: int) -> ClockReading:
        """Return a reading of now, by the controller's clock. An exception is shown as the reason."""

    def close(self) -> None:
        """Release what ``open`` took. It is also called after a failed read, before the next ``open``."""


class Reader(Protocol):
    """A reader, as its controller uses it."""

    def status(self) -> ClockStatus:
        """Return the last reading, or why there is none; wait for nothing."""


class ClockReaders:
    """The readers of a controller. There is no lock, since a forked child can't take the parent's."""

    def __init__(self) -> None:
        self._readers: dict[Reader, Callable[[float], object]] = {}
        self._names: dict[str, Reader] = {}

    def add(self, reader: Reader, wait: Callable[[float], object]) -> None:
        """Add a reader; ``remove`` undoes this.

        ``wait`` waits until the source is closed, but not beyond a time of the monotonic clock, in seconds.
        """
        self._readers[reader] = wait

    def remove(self, reader: Reader) -> None:
        """Remove a reader, and free its names."""
        self._readers.pop(reader, None)
        for name, owner in self._names.copy().items():
            if owner is reader:
                self._names.pop(name, None)

    def name(self, reader: Reader, source: str) -> str:
        """Return the name of a source, with a number if the source of another reader has this name already.

        Otherwise metrics and recordings would mix the readings of both.
        """
        name, number = source, 1
        # A reader that is closed while its source hangs gets no name any more, since nobody would free it.
        while reader in self._readers and self._names.setdefault(name, reader) is not reader:
            number += 1
            name = f"{source} #{number}"
        return name

    def statuses(self) -> tuple[ClockStatus, ...]:
        """Return the status of each reader, the oldest first, without waiting for a source."""
        return tuple(reader.status() for reader in self._readers.copy())

    def flush(self) -> None:
        """Do nothing, since readings are not written."""

    def close(self) -> None:
        """Wait until the sources are closed: for all together no longer than for one."""
        end_s = time.monotonic() + LONGEST_CLOSE_S
        for wait in self._readers.copy().values():
            wait(end_s)

    def disown(self) -> None:
        """In a forked child: show no reader."""
        self._readers.clear()
