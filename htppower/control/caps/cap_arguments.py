"""What is wrong with the arguments of a cap that follows the device, said before anything is made of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from htppower.control.arguments import checked_whole

SHORTEST_PERIOD_US = 100_000


def check_temperatures(above_c: Any, below_c: Any) -> None:
    """Refuse what are no two temperatures to set and to lift a cap at.

    Raises:
        TypeError: one is no number.
        ValueError: one is not finite, or they are not in order.
    """
    for name, given in (("above_c", above_c), ("below_c", below_c)):
        if not hasattr(given, "__float__"):
            raise TypeError(f"{name} is {given!r}: a number of degrees Celsius")
    if not (math.isfinite(above_c) and math.isfinite(below_c) and below_c < above_c):
        raise ValueError(f"below_c is {below_c}, above_c is {above_c}: below_c has to be the lower of two numbers")


def checked_period_us(period_us: Any) -> int:
    """Return the time from one look to the next.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is below 100,000 us.
    """
    number = checked_whole(period_us, "period_us is", "a whole number of us")
    if number < SHORTEST_PERIOD_US:
        raise ValueError(f"period_us is {number}: {SHORTEST_PERIOD_US} or more")
    return number


def checked_patterns(zones: Any) -> tuple[str, ...]:
    """Return the names of thermal zones, as patterns.

    Raises:
        TypeError: they are no text, and no list of texts.
    """
    patterns = _listed(zones)
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
    wanted = _listed(when)
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


def _listed(given: Any) -> tuple[Any, ...]:
    """Return what is in a list, or what is given alone, as a text is."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
