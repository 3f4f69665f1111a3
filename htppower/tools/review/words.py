"""The states of the link to the DSP in words, and times that votes stay up.

A time is written as ``300 ms``, or as ``learnt, break-even 100 ms, 0 to 200 ms``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import LinkState
from htppower.profiles.sustain import Adaptive, share_text
from htppower.tools.report.words import duration

if TYPE_CHECKING:
    from htppower.profiles.sustain import Sustain

LINK_MEANINGS = {
    LinkState.WELL: "the DSP answers calls",
    LinkState.LOST: "the link was rebuilt, and every vote was lost; they are sent again",
    LinkState.SUSPECT: "a call failed as on a dead link; it is retried with back-off",
    LinkState.DEAD: "the library does not rebuild the link; the device is created again, with back-off",
    LinkState.HELD: "a new device did not help: another user of the library in the process keeps the dead link",
}


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
