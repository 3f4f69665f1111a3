"""Checks of the arguments of a controller and a session, before they are used.

Each check raises TypeError if an argument has the wrong type, and ValueError if it is out of range.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterable
from typing import Any

from htppower.backends.base import Backend
from htppower.events import Event

# The largest uint32_t (createPowerConfigId in QnnHtpPerfInfrastructure.h).
_MOST = 2**32 - 1


def checked_cores(device_id: Any, core_ids: Any) -> tuple[int, tuple[int, ...]]:
    """Return the device and the cores as numbers that createPowerConfigId accepts, each core once."""
    if isinstance(core_ids, (str, bytes)) or not isinstance(core_ids, Iterable):
        raise TypeError(f"core_ids is {core_ids!r}: a list of cores, such as (0,)")
    cores = tuple(_unsigned(core, "core_ids has", "whole numbers from 0") for core in core_ids)
    if not cores or len(set(cores)) < len(cores):
        raise ValueError(f"core_ids are {cores}: name at least one core, and none twice")
    return _unsigned(device_id, "device_id is", "a whole number from 0"), cores


def checked_timeout_us(name: str, timeout_us: Any, none_means: str = "no timeout") -> int | None:
    """Return a duration in whole microseconds, 1 or more, or None.

    The error message contains ``name``, the name of the argument, and ``none_means``, what None means.
    """
    if timeout_us is None:
        return None
    number = checked_whole(timeout_us, f"{name} is", f"a whole number of us, or None for {none_means}")
    if number < 1:
        raise ValueError(f"{name} is {number}: 1 or more, or None for {none_means}")
    return number


def checked_heartbeat_us(heartbeat_us: Any) -> int:
    """Return the interval of a heartbeat in microseconds, 0 or more."""
    number = checked_whole(heartbeat_us, "heartbeat_us is", "a whole number of microseconds, 0 for no heartbeat")
    if number < 0:
        raise ValueError(f"heartbeat_us is {number}: 0 for no heartbeat, or more")
    return number


def checked_close_timeout(timeout_s: Any) -> float | None:
    """Return how long a close waits for native calls, in seconds, or None."""
    return None if timeout_s is None else checked_timeout(timeout_s, ", or None to wait for every call")


def checked_timeout(timeout_s: Any, otherwise: str = "") -> float:
    """Return a timeout in seconds, up to the longest wait of a thread; the error message ends with ``otherwise``."""
    wanted = f"seconds from 0 to {threading.TIMEOUT_MAX:g}{otherwise}"
    if not hasattr(timeout_s, "__float__"):
        raise TypeError(f"timeout_s is {timeout_s!r}: {wanted}")
    if not 0 <= timeout_s <= threading.TIMEOUT_MAX:
        raise ValueError(f"timeout_s is {timeout_s}: {wanted}")
    # A lock does not accept a Decimal as its timeout.
    return float(timeout_s)


def checked_rate(fps: Any, tokens_per_second: Any) -> float:
    """Return the rate of a pace, in inferences per second."""
    given = [
        (name, rate) for name, rate in (("fps", fps), ("tokens_per_second", tokens_per_second)) if rate is not None
    ]
    if len(given) != 1:
        raise TypeError("state one rate: fps=30, or tokens_per_second=20")
    (name, rate), least, most = given[0], 0.01, 10_000
    return _checked_number(name, rate, least, most, "inferences per second")


def checked_miss_rate(miss_rate: Any) -> float:
    """Return the share of the deadlines that may be missed."""
    return _checked_number("miss_rate", miss_rate, 0.001, 0.5, "a share of the deadlines")


def _checked_number(name: str, given: Any, least: float, most: float, wanted: str) -> float:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__float__"):
        raise TypeError(f"{name} is {given!r}: {wanted}, from {least:g} to {most:g}")
    number = float(given)
    if not least <= number <= most:
        raise ValueError(f"{name} is {number:g}: {wanted}, from {least:g} to {most:g}")
    return number


def checked_profiles(profiles: Any) -> tuple[Any, ...] | None:
    """Return the profiles of a pace as a tuple, or None for the shipped ones."""
    if isinstance(profiles, (str, bytes)) or not isinstance(profiles, (Iterable, type(None))):
        raise TypeError(f"profiles is {profiles!r}: a list of profiles, or None for the shipped ones")
    return None if profiles is None else tuple(profiles)


def check_path(name: str, path: Any) -> None:
    """Raise TypeError if an argument is neither a text nor a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name} is {path!r}: the path of a file")


def check_reason(reason: Any, whose: str) -> None:
    """Raise an error if a hold or a cap has no reason."""
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"reason is empty: say what the {whose} is for, as status and events are to show it")


def check_on_error(on_error: Any) -> None:
    """Raise ValueError unless ``on_error`` is one of its two words."""
    if on_error not in ("continue", "raise"):
        raise ValueError(f"on_error is {on_error!r}: 'continue' or 'raise'")


def check_backend(backend: Any) -> None:
    """Raise TypeError if a backend lacks a function."""
    verbs = tuple(name for name in vars(Backend) if not name.startswith("_"))
    checked_part(backend, "backend", verbs, "'qnn', 'simulated', or a backend of your own")


def check_time(time: Any) -> None:
    """Raise TypeError if a time lacks a function that every controller needs; others are checked when they are used."""
    verbs = ("call_at", "cancel", "worker")
    checked_part(time, "time", verbs, "None for the system's, or such as testing.VirtualTime()")


def checked_part(given: Any, name: str, verbs: tuple[str, ...], wanted: str) -> None:
    """Raise TypeError if an object that the host passes lacks one of these functions."""
    lacks = [verb for verb in verbs if not callable(getattr(given, verb, None))]
    if lacks:
        raise TypeError(f"{name} is {given!r}, which has no {lacks[0]}(): {wanted}")


def checked_kinds(subscriber: Any, kinds: Any) -> tuple[type[Event], ...]:
    """Return the kinds of events of a subscriber as a tuple."""
    if not callable(subscriber):
        raise TypeError(f"the subscriber is {subscriber!r}, which can't be called: a function of one event")
    asked: tuple[Any, ...] = tuple(kinds) if isinstance(kinds, Iterable) else (kinds,)
    if not all(isinstance(kind, type) and issubclass(kind, Event) for kind in asked):
        raise TypeError(f"kinds are {kinds!r}: kinds of events, such as (Transition,)")
    return asked


def _unsigned(number: Any, says: str, wanted: str) -> int:
    """Return the number of a device or a core.

    ctypes would cut off the high bits of a larger number, and so vote on another core.
    """
    whole = checked_whole(number, says, wanted)
    if not 0 <= whole <= _MOST:
        raise ValueError(f"{says} {whole}: {wanted} to {_MOST}")
    return whole


def checked_whole(number: Any, says: str, wanted: str) -> int:
    """Return a whole number; refuse a bool.

    The error message has ``says`` before the number, and ``wanted`` after it.
    """
    try:
        if not isinstance(number, bool):
            return operator.index(number)
    except TypeError:
        pass
    raise TypeError(f"{says} {number!r}: {wanted}")
