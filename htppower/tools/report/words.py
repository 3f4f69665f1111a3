"""Counts, durations and shares as people read and write them: ``2 queries``, ``300 ms``, ``17 %``."""

from __future__ import annotations

_US = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000}
# If a share in percent is this near to none or to all, it has one digit more.
_FEW = 10
_LONG_UNITS = {"days": 86_400_000_000, "h": _US["h"], "min": _US["min"]}
_SHORT_UNITS = ("s", "ms", "us")
_DAYS_FROM_H = 72
# Longer than any time. Python refuses to read a number with thousands of digits.
_MOST_DIGITS = 30
# An age of at most two units is clearer in the next smaller unit.
_ROUGH = ((1_000, "us"), (1_000_000, "ms"), (120_000_000, "s"), (7_200_000_000, "min"))


def counted(count: int, word: str) -> str:
    """Return a count with its word: ``1 inference``, ``12,000 inferences``, ``2 queries``."""
    return f"{count:,} {plural(count, word)}"


def plural(count: int, word: str) -> str:
    """Return a word in the number of a count: ``session`` for 1, else ``sessions``."""
    if count == 1:
        return word
    return f"{word[:-1]}ies" if word.endswith("ry") else f"{word}s"


def duration(duration_us: int) -> str:
    """Return a duration, exactly, in the largest of us, ms and s that it reaches: ``40 us``, ``1.5 ms``, ``3600 s``."""
    size = abs(duration_us)
    unit = "us" if size < _US["ms"] else "ms" if size < _US["s"] else "s"
    whole, part = divmod(size, _US[unit])
    sign = "-" if duration_us < 0 else ""
    digits = f"{part:0{len(str(_US[unit])) - 1}}".rstrip("0") if part else ""
    return f"{sign}{whole}{'.' if digits else ''}{digits} {unit}"


def rough_duration(duration_us: int) -> str:
    """Return an age: ``1.3 s``, ``17 min``, ``5 days``, with fixed digits, so that an age that grows stays in place."""
    for below, unit in _ROUGH:
        if abs(duration_us) < below:
            return f"{duration_us / _US[unit]:.{1 if unit == 's' else 0}f} {unit}"
    hours = duration_us / _US["h"]
    return f"{hours:.1f} h" if hours < _DAYS_FROM_H else f"{hours / 24:.0f} days"


def time(time_us: float) -> str:
    """Return a time in three digits: ``505 us``, ``5.79 ms``, ``1.2 s``, ``26 min``."""
    for unit, size in _LONG_UNITS.items():
        if time_us >= 2 * size:
            return f"{three_digits(time_us / size)} {unit}"
    rounded = float(f"{time_us:.3g}")
    unit = next(unit for unit in _SHORT_UNITS if rounded >= _US[unit] or unit == "us")
    return f"{three_digits(time_us / _US[unit])} {unit}"


def three_digits(number: float) -> str:
    """Return a number in three digits, without an exponent."""
    return f"{number:.0f}" if number >= 100 else f"{float(f'{number:.3g}'):g}"  # noqa: PLR2004 - three digits


def percent(share: float) -> str:
    """Return a share. Only all is written as 100 %, and only none as 0 %: ``0.03 %``, ``17 %``, ``99.9 %``."""
    said = 100 * share
    if said in (0, 100):
        return f"{said:.0f} %"
    for digits in range(0 if _FEW <= said <= 100 - _FEW else 1, 4):
        told = f"{said:.{digits}f}"
        if 0 < float(told) < 100:  # noqa: PLR2004 - percent
            return f"{float(told):g} %"
    return "less than 0.001 %" if said < _FEW else "more than 99.999 %"


def sentence(text: str) -> str:
    """Return a text with a capital as its first letter, unless it begins with a command to type."""
    return text if text.startswith("htppower ") else f"{text[:1].upper()}{text[1:]}"


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
