"""Durations as people read and write them: ``300 ms``."""

from __future__ import annotations

_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000}
_DAYS_FROM_H = 72
# An age of up to two of a unit says more in the smaller one.
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
    """Return a duration about as exactly as an age is of interest: ``1.3 s``, ``17 min``, ``5 days``."""
    for below, unit in _ROUGH:
        if abs(duration_us) < below:
            return f"{duration_us / _US[unit]:.{1 if unit == 's' else 0}f} {unit}"
    hours = duration_us / _US["h"]
    return f"{hours:.1f} h" if hours < _DAYS_FROM_H else f"{hours / 24:.0f} days"


def parse_duration(text: str, bare: str | None = None) -> int:
    """Return a duration such as ``5ms``, ``300 us`` or ``1.5s`` in us; ``bare`` is the unit of a number without one.

    Raises:
        ValueError: it is no duration, is not a whole number of us, or has no unit and needs one.
    """
    said = text.strip()
    number = said.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\u00b5")
    unit = said[len(number) :].replace("\u00b5", "u").lower() or bare
    whole, _, part = number.strip().partition(".")
    if unit not in _US or not (whole + part).isdecimal() or not (whole + part).isascii():
        raise ValueError(f"{text!r} is no duration; write 5ms, 300us or 1s")
    scaled = int(whole + part) * _US[unit]
    duration_us, rest = divmod(scaled, int(10 ** len(part)))
    if rest:
        raise ValueError(f"{text!r} is no whole number of us")
    return duration_us
