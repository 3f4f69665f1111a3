"""Durations as people read and write them: ``300 ms``."""

from __future__ import annotations

_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000}
_DAYS_FROM_H = 72
# Longer than any time. Python refuses to read a number with thousands of digits.
_MOST_DIGITS = 30
# An age of at most two units is clearer in the next smaller unit.
_ROUGH = ((1_000, "us"), (1_000_000, "ms"), (120_000_000, "s"), (7_200_000_000, "min"))


def duration(duration_us: int) -> str:
    """Return a duration, exactly, in the largest of us, ms and s that it reaches: ``40 us``, ``1.5 ms``, ``3600 s``."""
    size = abs(duration_us)
    unit = "us" if size < _US["ms"] else "ms" if size < _US["s"] else "s"
    whole, part = divmod(size, _US[unit])
    sign = "-" if duration_us < 0 else ""
    digits = f"{part:0{len(str(_US[unit])) - 1}}".rstrip("0") if part else ""
    return f"{sign}{whole}{'.' if digits else ''}{digits} {unit}"


def rough_duration(duration_us: int) -> str:
    """Return a duration as exactly as an age needs: ``1.3 s``, ``17 min``, ``5 days``."""
    for below, unit in _ROUGH:
        if abs(duration_us) < below:
            return f"{duration_us / _US[unit]:.{1 if unit == 's' else 0}f} {unit}"
    hours = duration_us / _US["h"]
    return f"{hours:.1f} h" if hours < _DAYS_FROM_H else f"{hours / 24:.0f} days"


def parse_duration(text: str) -> int:
    """Return a duration such as ``5ms``, ``300 us``, ``1.5s``, ``2min`` or ``1h`` in us.

    Zero needs no unit.

    Raises:
        ValueError: it is not a duration, has no unit, or is not a whole number of us.
    """
    said = text.strip()
    number = said.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\u00b5")
    unit = said[len(number) :].replace("\u00b5", "u").lower()
    whole, _, part = number.strip().partition(".")
    digits = whole + part
    if not digits.isdecimal() or not digits.isascii() or len(digits) > _MOST_DIGITS or (unit and unit not in _US):
        raise ValueError(f"{text!r} is not a duration; write 5ms, 300us, 1.5s, 2min or 1h")
    if not unit and int(digits):
        spellings = f"{said}ms or {said}s" if part.strip("0") else f"{said}us, {said}ms or {said}s"
        raise ValueError(f"{text!r} has no unit; write {spellings}")
    scaled = int(digits) * _US[unit or "us"]
    duration_us, rest = divmod(scaled, int(10 ** len(part)))
    if rest:
        raise ValueError(f"{text!r} is not a whole number of us")
    return duration_us
