"""Notes on advice: the recording is short, or the reserve costs much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.words import counted
from htppower.tools.tuning.choices import whole_us_of
from htppower.tools.tuning.reserve import LONGER_GAPS, SPEEDS, Strictness
from htppower.tools.tuning.traces.trace import FEWEST_GAPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.tuning.session_advice import Aim, SessionAdvice
    from htppower.tools.tuning.traces.trace import SessionTrace

# A recording should be this many times as long as the longest sustain time that is tried.
_FEWEST_TIMES = 10


def too_short(session: SessionTrace, advice: SessionAdvice) -> Iterator[str]:
    """Yield why a recording is too short for reliable advice."""
    gaps, span_us = session.gaps_us().size, whole_us_of(session)
    if gaps < FEWEST_GAPS:
        yield (
            f"the recording is too short: it has {counted(gaps, 'gap')}. {FEWEST_GAPS} are needed to tune on one part"
            " and check on the rest. Record for longer"
        )
    longest_us = max(int(each.trial.time_outs_us.max(initial=0)) for each in advice.offers)
    if span_us < _FEWEST_TIMES * longest_us:
        yield (
            f"the recording is short: {span_us / 1e6:.3g} s, and sustain times of up to {longest_us / 1e6:.3g} s were"
            f" tried; it should last {_FEWEST_TIMES} times as long as these"
        )


def about_the_reserve(advice: SessionAdvice, aim: Aim) -> Iterator[str]:
    """Yield notes on the cost of the reserve to the limits, or on a missing reserve."""
    margin, cheapest = advice.margin, advice.cheapest
    if margin is None or cheapest is None or not aim.limits:
        return
    if margin.best is None:
        yield "some choices keep to the limits on the whole recording, but none on both parts of it: record for longer"
        return
    if margin.strictness < max(Strictness):
        faster = f"{100 * (SPEEDS[1] - 1):.0f} % faster or slower, or gaps {100 * (LONGER_GAPS - 1):.0f} % longer"
        yield f"no choice keeps to the limits with inferences {faster}: this one may break them"
    if margin.strictness == Strictness.KEPT:
        yield "no choice keeps to the limits with a reserve: another recording may break them"
    count, price_w = advice.session.begins_us.size, aim.price_in_cost_w
    less = 1 - cheapest.cost_j(price_w, count) / margin.best.cost_j(price_w, count)
    if less > 2 * aim.within:
        yield f"{cheapest} costs {less:.0%} less, and barely keeps to the limits: the reserve costs the difference"
