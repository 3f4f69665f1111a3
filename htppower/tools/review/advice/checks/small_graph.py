"""A profile that is too high for the graph: the work is a small share of the inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.words import percent, time
from htppower.tools.review.advice.advice import Advice, Confidence, Nothing
from htppower.tools.review.advice.events import Event
from htppower.tools.review.advice.own_settings import of_mode, recorded_runtime
from htppower.tools.review.advice.profiles import LOWER, speed
from htppower.tools.review.advice.rules import TOO_HIGH

if TYPE_CHECKING:
    from htppower.tools.review.advice.numbers import Numbers

# If the work is at most a third of the inference, half the highest clock makes the inference longer by at most a third,
# and one profile lower by much less.
_WORK_SHARE = 1 / 3
_CLEARLY = 0.2
# If other advice takes away most of the rest, the work is not a small share any more.
_UNUSED_LEAST = 1 / 3
# Saving power is worth a slowdown of this share.
_SLOWDOWN_MOST = 0.05
# Saved power counts half as much as saved time, since no user waits for it.
_POWER_WEIGHT = 0.5


def too_high(numbers: Numbers, explained: float) -> Advice | Nothing:
    """Check ADV-6: the graph is too small for a high profile.

    ``explained`` is the share of the inference that other advice takes away.
    """
    compute, whole = numbers.compute, numbers.whole
    if compute is None or whole not in (Event.QNN, Event.RPC, Event.NETRUN):
        return Nothing(TOO_HIGH, "needs rows of QNN (execute) or RPC, and of Accelerator (3012 or 3004)")
    compute_us = numbers.typical(compute) or 0.0
    share = numbers.part_of_whole(compute)
    said = f"{compute.printed} is {time(compute_us)}, {percent(share)} of {whole.printed}, {time(numbers.whole_us)}"
    if share > _WORK_SHARE:
        return Nothing(TOO_HIGH, said)
    unused = max(0.0, 1 - share - explained)
    if unused < _UNUSED_LEAST:
        return Nothing(TOO_HIGH, f"{said}; other advice is about most of the rest")
    # At worst everything on the HTP slows down with its clock, at best only the work.
    most = max(share, numbers.share(numbers.typical(Event.QNN_ACCELERATOR) or compute_us))
    lower = _lower(most)
    profile = numbers.measurement.profile
    now = speed(profile)
    if profile is not None and (now is None or now <= LOWER[lower]):
        return Nothing(TOO_HIGH, f"{said}; {profile.name} is low already")
    costs = [each * (1 / LOWER[lower] - 1) for each in (share, most)]
    slower = (
        f"By the speeds of another model, an inference under {lower} takes {percent(costs[0])} to {percent(costs[1])} "
        "longer than under burst."
    )
    best = Confidence.HIGH if share <= _CLEARLY and compute is Event.COMPUTE else Confidence.MEDIUM
    if profile is None:
        best = Confidence.MEDIUM
    set_by = f"htppower profile {lower} -- COMMAND   # measure under it"
    if profile is not None and recorded_runtime(profile) is not None:
        set_by = of_mode(profile, lower)
    do = tuple(line for line in (set_by, "or more work in an inference: batch, join graphs") if line)
    return Advice(TOO_HIGH, numbers.confidence(best), (f"{said}.", slower), do, _POWER_WEIGHT * unused)


def _lower(share: float) -> str:
    """Return the lowest profile that slows an inference down by little, if this share of it slows down."""
    fitting = [name for name, each in LOWER.items() if share * (1 / each - 1) <= _SLOWDOWN_MOST]
    return fitting[-1] if fitting else next(iter(LOWER))
