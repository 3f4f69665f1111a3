"""Whether the clock is higher than a small graph needs (ADV-6), and whether it follows the vote (ADV-7).

ADV-7 compares cycles over time between profiles. The cycles of all ops are added up, and ops run side by side on
several units. So cycles divided by time are not a clock. For one graph the ratio rises and falls with the clock, so two
profiles can be compared.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.words import percent, sentence, time
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.numbers import median
from htppower.tools.review.advice.own_settings import LOWER, of_mode, recorded_runtime, speed
from htppower.tools.review.advice.rules import CLOCK, TOO_HIGH, Advice, Confidence, Nothing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.profiles.profile import Profile
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
# If one profile is hardly faster than the other, equal clocks prove nothing.
_DIFFERENT = 0.97
# Below this the slower profile is so slow that the ratio must show it.
_CLEARLY_DIFFERENT = 0.9
_DO = (
    "htppower status   # is the session RAISED, under which profile?",
    "htppower doctor   # does the library accept the votes?",
    "stop other clients of the HTP, let the device cool down, and measure again",
)

_DO_OF_RUNTIME = ("htppower settings --check FILE   # does the runtime read its mode?", *_DO[1:])


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


@attrs.frozen
class _Rate:
    """The cycles per us of a measurement, its profile, the speed that this asks for, whether the time has no waits."""

    numbers: Numbers
    cycles_per_us: float
    profile: Profile
    speed: float
    exact: bool


def _rates(every: Iterable[Numbers]) -> Iterator[_Rate]:
    """Yield the typical ratio of each measurement that has cycles and times, under a profile whose speed is known."""
    for numbers in every:
        event, profile = numbers.compute, numbers.measurement.profile
        asked = speed(profile)
        if event is None or profile is None or asked is None:
            continue
        pairs = zip(numbers.columns.get(Event.CYCLES, ()), numbers.columns[event], strict=False)
        found = median(cycles / time_us for cycles, time_us in pairs if time_us > 0)
        if found > 0:
            yield _Rate(numbers, found, profile, asked, exact=event is Event.COMPUTE)


def clock_follows(every: Sequence[Numbers]) -> list[tuple[Numbers, Advice | Nothing]]:
    """Check ADV-7 for each graph that was measured under several profiles."""
    by_graph: dict[str, list[_Rate]] = {}
    for rate in _rates(every):
        by_graph.setdefault(rate.numbers.measurement.graph, []).append(rate)
    found: list[tuple[Numbers, Advice | Nothing]] = []
    for rates_of_graph in by_graph.values():
        same = sorted(rates_of_graph, key=lambda each: -each.speed)
        pairs = [(high, low) for high, low in itertools.combinations(same, 2) if low.speed / high.speed <= _DIFFERENT]
        if pairs:
            found.append((pairs[0][0].numbers, _judged(same, pairs)))
    if found:
        return found
    needs = "needs cycles (3003) and times (3012) under two profiles that differ: name each with --profile"
    return [(every[0], Nothing(CLOCK, needs))] if every else []


def _judged(same: Sequence[_Rate], pairs: Sequence[tuple[_Rate, _Rate]]) -> Advice | Nothing:
    """Return advice if the rate of a lower profile is nearer to the higher profile's rate than to the expected one."""
    flat = [(high, low) for high, low in pairs if _measured(high, low) > (1 + low.speed / high.speed) / 2]
    if not flat:
        return Nothing(CLOCK, "; ".join(_compared(same[0], each) for each in same[1:]))
    high, low = min(flat, key=lambda pair: pair[1].speed / pair[0].speed)
    ratio = low.speed / high.speed
    clear = ratio <= _CLEARLY_DIFFERENT and high.exact and low.exact
    best = Confidence.HIGH if clear else Confidence.MEDIUM if ratio <= _CLEARLY_DIFFERENT else Confidence.LOW
    confidence = Confidence.least(high.numbers.confidence(best), low.numbers.confidence(best))
    evidence = [
        f"{sentence(_compared(high, low))}.",
        f"By the corners they vote it should be about {percent(ratio)}.",
        "The ratio is not a clock: the cycles of ops that run side by side are added up.",
    ]
    if not (high.exact and low.exact):
        evidence.append("The time includes waits, which may hide a difference.")
    is_record = any(recorded_runtime(each.profile) is not None for each in (high, low))
    return Advice(CLOCK, confidence, tuple(evidence), _DO_OF_RUNTIME if is_record else _DO, 1 - ratio)


def _measured(high: _Rate, low: _Rate) -> float:
    return low.cycles_per_us / high.cycles_per_us


def _compared(high: _Rate, low: _Rate) -> str:
    share = percent(_measured(high, low))
    return f"under {low.profile.name} the cycles per us are {share} of those under {high.profile.name}"
