"""Sources of readings by name, as on the command line: ``qcnpuperf``, ``file:PATH``, ``hwmon`` or ``meter:RAIL``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.clock.energy_meter import EnergyMeter
from htppower.control.clock.files import ClockFile, HwmonPower
from htppower.control.clock.qcnpuperf import Qcnpuperf

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.clock.reading import ClockSource

# Each kind with its source: without a name, and with one. None: it needs a name.
_KINDS: dict[str, tuple[Callable[[], ClockSource] | None, Callable[[str], ClockSource]]] = {
    "qcnpuperf": (Qcnpuperf, Qcnpuperf),
    "file": (None, ClockFile),
    "hwmon": (HwmonPower, HwmonPower),
    "meter": (None, EnergyMeter),
}


def named_source(text: str) -> ClockSource:
    """Return the source for a text such as ``qcnpuperf`` or ``file:/dev/shm/qcnpuperf``.

    Raises:
        ValueError: the text names no source.
    """
    kind, colon, name = text.partition(":")
    unnamed, named = _KINDS.get(kind, (None, None))
    if named is not None and name:
        return named(name)
    if unnamed is not None and not colon:
        return unnamed()
    wanted = "qcnpuperf, qcnpuperf:LIBRARY, file:PATH, hwmon, hwmon:DEVICE or meter:RAIL"
    raise ValueError(f"{text!r} is not a source of the clock: write {wanted}")
