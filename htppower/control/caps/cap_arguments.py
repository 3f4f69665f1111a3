"""What is wrong with the arguments of a cap that follows the device, said before anything is made of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SHORTEST_PERIOD_US = 100_000


def check_temperatures(above_c: Any, below_c: Any) -> None:
    """Refuse what are no two temperatures to set and to lift a cap at.

    Raises:
        TypeError: one is no number.
        ValueError: one is not finite, or they are not in order.
    """
    for name, given in (("above_c", above_c), ("below_c", below_c)):
        if isinstance(given, (str, bytes)) or not hasattr(given, "__float__"):
            raise TypeError(f"{name} is {given!r}: a number of degrees Celsius")
    if not (math.isfinite(above_c) and math.isfinite(below_c) and below_c < above_c):
        raise ValueError(f"below_c is {below_c}, above_c is {above_c}: below_c has to be the lower of two numbers")


def checked_period_us(period_us: Any) -> int:
    """Return the time from one look to the next.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is below 100,000 us.
    """
    try:
        number = operator.index(period_us)
    except TypeError:
        raise TypeError(f"period_us is {period_us!r}: a whole number of us") from None
    if number < SHORTEST_PERIOD_US:
        raise ValueError(f"period_us is {number}: {SHORTEST_PERIOD_US} or more")
    return number


def checked_patterns(zones: Any) -> tuple[str, ...]:
    """Return the names of thermal zones, as patterns.

    Raises:
        TypeError: they are no text, and no list of texts.
    """
    patterns = (zones,) if isinstance(zones, str) else tuple(zones) if isinstance(zones, Iterable) else (zones,)
    if not all(isinstance(each, str) for each in patterns):
        raise TypeError(f"zones is {zones!r}: a name such as 'cpu-*', or a list of names")
    return patterns


def checked_folder(root: Any) -> Path:
    """Return the folder of the thermal zones.

    Raises:
        TypeError: it is no path.
    """
    try:
        return Path(root)
    except TypeError:
        raise TypeError(f"root is {root!r}: the path of a folder, such as '/sys/class/thermal'") from None


def checked_conditions(when: Any, known: tuple[str, ...]) -> frozenset[str]:
    """Return the conditions of a cap by what the system wishes.

    Raises:
        ValueError: there is none, or one that is not known.
    """
    wanted = tuple(when) if isinstance(when, Iterable) and not isinstance(when, str) else (when,)
    unknown = sorted({repr(each) for each in wanted if each not in known})
    if unknown or not wanted:
        raise ValueError(f"when is {' and '.join(unknown) or 'empty'}: one or more of {', '.join(known)}")
    return frozenset(wanted)


def check_bus(bus: Any) -> None:
    """Refuse what is no address of a bus.

    Raises:
        TypeError: it is no text.
    """
    if bus is not None and not isinstance(bus, str):
        raise TypeError(f"bus is {bus!r}: an address such as 'unix:path=/run/dbus/system_bus_socket', or None")
