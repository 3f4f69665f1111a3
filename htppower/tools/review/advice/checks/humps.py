"""Times in two groups: which part of the inference makes the difference, and whether votes are the cause."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from htppower.profiles.sustain import VENDOR_SUSTAIN_US
from htppower.tools.report.words import percent, sentence, time
from htppower.tools.review.advice.measurement import LEVELS, Event
from htppower.tools.review.advice.numbers import FEWEST_FOR_HUMPS, mean, median, present, two_humps
from htppower.tools.review.advice.own_settings import recorded_runtime
from htppower.tools.review.advice.rules import (
    COLD_START,
    CONTENTION,
    HUMPS,
    POWER_UP,
    WAKE_UP,
    Advice,
    Confidence,
    Nothing,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from htppower.tools.review.advice.numbers import Humps, Numbers
    from htppower.tools.review.advice.rules import AdviceRule

# With at least this many times, two groups are sure.
_SURE = 30
_MOSTLY = 0.5
_DO = (
    f"relax: {{after_inference_us: {4 * VENDOR_SUSTAIN_US}}}   # votes that stay up between the inferences",
    "htppower profile burst -- COMMAND   # votes that are up for the whole run; then measure again",
)
# The advice that explains a difference between these two levels.
_EXPLAINED_BY = {
    (Event.RPC, Event.QNN_ACCELERATOR): (WAKE_UP,),
    (Event.QNN_ACCELERATOR, Event.ACCELERATOR): (POWER_UP,),
    (Event.ACCELERATOR, Event.COMPUTE): (CONTENTION, POWER_UP),
}


def humps(numbers: Numbers, fired: Collection[AdviceRule]) -> Advice | Nothing:
    """Check ADV-8: the times form two groups, and no advice that was given already explains them."""
    if numbers.has(Event.FIRST_TOKEN):
        return Nothing(HUMPS, "the time of a query depends on its tokens, so times are not compared")
    whole = numbers.whole
    times = [] if whole is None else list(numbers.columns[whole])
    count = len(present(times))
    if count < FEWEST_FOR_HUMPS:
        return Nothing(HUMPS, f"needs {FEWEST_FOR_HUMPS} times to tell two groups from one; the file has {count}")
    found = two_humps(times)
    if found is None:
        ordered = sorted(present(times))
        spread = f"from {time(ordered[0])} to {time(ordered[-1])}, {time(median(ordered))} at the median"
        return Nothing(HUMPS, f"{count} times {spread}: one group")
    said = f"{count} times lie in two groups, around {time(found.fast)} and {time(found.slow)}"
    slow = [place for place, each in enumerate(times) if each > found.split]
    if _more_work(numbers, times, found):
        return Nothing(HUMPS, f"{said}; the slow ones take more cycles, too, so they do other work")
    where = _where(numbers, times, found)
    by = next((rule for rule in _EXPLAINED_BY.get(where or (Event.QNN, Event.QNN), ()) if rule in fired), None)
    if by is None and POWER_UP in fired and _of_power(numbers, times, found):
        by = POWER_UP
    if by is None and CONTENTION in fired and _of_yields(numbers, times, found):
        by = CONTENTION
    if by is None and COLD_START in fired and set(slow) <= set(numbers.measurement.starts):
        by = COLD_START
    if by is not None:
        return Nothing(HUMPS, f"{said}; {by.id} explains them")
    evidence = [f"{sentence(said)}; {percent(found.slow_share)} are slow."]
    evidence += _in_words(numbers, slow, where)
    gain_us = max(0.0, mean(times) - found.fast)
    confidence = Confidence.HIGH if count >= _SURE else Confidence.MEDIUM
    # A runtime that votes by itself has no profile that can keep the votes up longer.
    do = _DO if recorded_runtime(numbers.measurement.profile) is None else _DO[1:]
    return Advice(HUMPS, confidence, tuple(evidence), do, min(1.0, gain_us / mean(times)), gain_us)


def _medians(numbers: Numbers, event: Event, times: Sequence[float], found: Humps) -> tuple[float, float] | None:
    """Return the median of an event in the fast and the slow group; None unless each time has a number of it."""
    column = numbers.columns.get(event, ())
    if len(column) != len(times):
        return None
    fast = median(each for each, whole in zip(column, times, strict=True) if whole <= found.split)
    slow = median(each for each, whole in zip(column, times, strict=True) if whole > found.split)
    return None if math.isnan(fast) or math.isnan(slow) else (fast, slow)


def _more_work(numbers: Numbers, times: Sequence[float], found: Humps) -> bool:
    """Return whether the slow group takes more cycles.

    Another clock, or waiting, does not change their number.
    """
    cycles = _medians(numbers, Event.CYCLES, times, found)
    return cycles is not None and cycles[1] > cycles[0] * math.sqrt(found.slow / found.fast)


def _of_power(numbers: Numbers, times: Sequence[float], found: Humps) -> bool:
    power = _medians(numbers, Event.POWER_ON, times, found)
    return power is not None and power[1] - power[0] > _MOSTLY * (found.slow - found.fast)


def _of_yields(numbers: Numbers, times: Sequence[float], found: Humps) -> bool:
    yields = _medians(numbers, Event.YIELDS, times, found)
    return yields is not None and yields[1] > yields[0]


def _where(numbers: Numbers, times: Sequence[float], found: Humps) -> tuple[Event, Event] | None:
    """Return the two levels between which most of the difference lies. The lowest level twice is the work itself."""
    levels = [event for event in LEVELS if _medians(numbers, event, times, found) is not None]
    if not levels:
        return None
    differences = {}
    for outer, inner in itertools.zip_longest(levels, levels[1:]):
        fast, slow = _medians(numbers, outer, times, found) or (0.0, 0.0)
        below = (0.0, 0.0) if inner is None else _medians(numbers, inner, times, found) or (0.0, 0.0)
        differences[outer, inner or outer] = (slow - below[1]) - (fast - below[0])
    return max(differences, key=lambda pair: differences[pair])


def _in_words(numbers: Numbers, slow: Sequence[int], where: tuple[Event, Event] | None) -> list[str]:
    said = []
    if where is not None and numbers.has(Event.RPC):
        outer, inner = where
        what = outer.printed if outer is inner else f"{outer.printed} less {inner.printed}"
        said.append(f"Most of the difference is in {what}.")
        if numbers.has(Event.CYCLES) and outer is inner:
            said.append("The cycles are the same, so it is the clock.")
    if list(slow) == list(range(len(slow))):
        said.append("The slow ones are the first: the clock was still going up.")
    return said
