"""Times that votes stay up, in words.

A time is written as ``300 ms``, or as ``learnt, break-even 100 ms, 0 to 200 ms``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.sustain import Adaptive, share_text
from htppower.tools.report.words import duration

if TYPE_CHECKING:
    from htppower.profiles.sustain import Sustain


def sustain_in_short(sustain: Sustain) -> str:
    """Return a time; for a learnt time its limits."""
    return f"learnt, {_limits(sustain)}" if isinstance(sustain, Adaptive) else duration(sustain)


def sustain_in_words(sustain: Sustain) -> str:
    """Return a time; for a learnt time all its settings."""
    if not isinstance(sustain, Adaptive):
        return duration(sustain)
    if sustain.break_even_us is not None:
        return f"learnt, break-even {duration(sustain.break_even_us)}, {_limits(sustain)}"
    return f"learnt, cold starts {share_text(sustain.cold_starts_ppm or 0)}, {_limits(sustain)}"


def _limits(sustain: Adaptive) -> str:
    return f"{duration(sustain.least_us) if sustain.least_us else '0'} to {duration(sustain.most_us)}"
