"""How the evidence of advice writes numbers."""

from __future__ import annotations

_UNITS = ((1_000_000.0, "s"), (1_000.0, "ms"), (1.0, "us"))


def time(time_us: float) -> str:
    """Return a time in three digits: ``505 us``, ``5.79 ms``, ``1.2 s``."""
    rounded = float(f"{time_us:.3g}")
    size, unit = next((size, unit) for size, unit in _UNITS if rounded >= size or size == 1)
    return f"{rounded / size:g} {unit}"


def rate(per_s: float) -> str:
    """Return a rate in three digits: ``0.64``, ``1280``."""
    return f"{float(f'{per_s:.3g}'):g}"


def percent(share: float) -> str:
    """Return a share in percent: ``17 %``."""
    return f"{100 * share:.0f} %" if share >= 0.01 or not share else "less than 1 %"  # noqa: PLR2004 - 1 %


def sentence(text: str) -> str:
    """Return a text with a capital as its first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def counted(count: int, word: str) -> str:
    """Return a count with its word: ``1 inference``, ``2 queries``."""
    several = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count} {word if count == 1 else several}"
