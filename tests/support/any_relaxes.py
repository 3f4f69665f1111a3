"""Random ``relax`` sections: with learnt times, a second state and a raise ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from htppower import load_profile
from htppower.profiles.profile import LONGEST_RAISE_AHEAD_US, Lowering, Relax, Then
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Adaptive

if TYPE_CHECKING:
    from htppower.profiles.profile import PowerState
    from htppower.profiles.sustain import Sustain


def _states() -> list[PowerState]:
    found = (load_profile(name).relax for name in ("burst", "power_saver"))
    return [state for relax in found if relax is not None for state in (relax.to, relax.after_deinit_to)]


STATES = _states()
_TIMES = st.sampled_from((0, 20_000, 300_000, 1_000_000)) | st.integers(0, LONGEST_SUSTAIN_US)


@st.composite
def adaptives(draw: st.DrawFn) -> Adaptive:
    """Return any learnt time; its shortest time is at most its longest."""
    break_even_us = draw(st.none() | st.integers(1, LONGEST_SUSTAIN_US))
    cold_starts_ppm = draw(st.integers(1, 999_999)) if break_even_us is None else None
    least_us, most_us = sorted((draw(_TIMES), draw(_TIMES)))
    return Adaptive(break_even_us, cold_starts_ppm, least_us, most_us)


SUSTAINS: st.SearchStrategy[Sustain] = _TIMES | adaptives()


def relaxes() -> st.SearchStrategy[Relax]:
    """Return random ``relax`` sections for burst, with the shipped power states."""
    states = st.sampled_from(STATES)
    then = st.none() | st.builds(Then, states, SUSTAINS)
    lowerings = st.sampled_from(Lowering)
    return st.builds(Relax, states, _TIMES, SUSTAINS, lowerings, states, then, st.integers(0, LONGEST_RAISE_AHEAD_US))
