"""Inferences or queries in groups: two humps of times, and queries after a pause; and whether all queries are slow."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from htppower.profiles.sustain import VENDOR_SUSTAIN_US
from htppower.tools.report.words import percent, sentence, three_digits, time
from htppower.tools.review.advice.measurement import LEVELS, Event
from htppower.tools.review.advice.numbers import FEWEST_FOR_HUMPS, mean, median, present, two_humps
from htppower.tools.review.advice.own_settings import kept_up, lacks, outlasting, recorded_runtime, sustain_us
from htppower.tools.review.advice.rules import (
    COLD_START,
    CONTENTION,
    FIRST_QUERY,
    HUMPS,
    POWER_UP,
    SLOW_TOKENS,
    WAKE_UP,
    Advice,
    Confidence,
    Gain,
    Nothing,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from htppower.tools.review.advice.numbers import Numbers
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
# Fewer warm queries are not enough to compare with.
_WARM_LEAST = 2
# A query after a pause counts as slower from this ratio on: equal queries differ by less.
_SLOWER = 1.2
# The slowest rates that third parties have measured, at the lowest clocks. The rule names the sources.
_SLOW_TOKENS_PER_S = 3.8
_SLOW_PROMPT_TOKENS_PER_S = 117.0
# A shorter prompt is padded to the length of the graph, so its rate is not typical.
_LONG_PROMPT_TOKENS = 128
# The first token is not generated, so an answer of one token has no rate.
_SEVERAL = 2
_DO_SLOW = (
    "htppower settings --check CONFIG.json   # which votes does the configuration of the dialog ask for?",
    "start the host again and compare: some starts are slow by chance",
    "--profiling_level detailed   # qnn-net-run, with the context binary of the model: where does the time go?",
)


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
    medians = _medians(numbers, times, found.split)
    rises = {event: slower - faster for event, (faster, slower) in medians.items()}
    fewer, more = medians.get(Event.CYCLES, (0.0, 0.0))
    # Another clock, or waiting, does not change the number of cycles.
    if more > fewer * math.sqrt(found.slow / found.fast):
        return Nothing(HUMPS, f"{said}; the slow ones take more cycles, too, so they do other work")
    where = _where(rises)
    explains = {
        POWER_UP: rises.get(Event.POWER_ON, 0.0) > _MOSTLY * (found.slow - found.fast),
        CONTENTION: rises.get(Event.YIELDS, 0.0) > 0,
        COLD_START: set(slow) <= set(numbers.measurement.starts),
    }
    rules = (*_EXPLAINED_BY.get(where or (Event.QNN, Event.QNN), ()), *(rule for rule in explains if explains[rule]))
    by = next((rule for rule in rules if rule in fired), None)
    if by is not None:
        return Nothing(HUMPS, f"{said}; {by.id} explains them")
    evidence = [f"{sentence(said)}; {percent(found.slow_share)} are slow."]
    evidence += _in_words(numbers, slow, where)
    gain_us = max(0.0, mean(times) - found.fast)
    confidence = Confidence.HIGH if count >= _SURE else Confidence.MEDIUM
    # A runtime that votes by itself has no profile that can keep the votes up longer.
    do = _DO if recorded_runtime(numbers.measurement.profile) is None else _DO[1:]
    return Advice(HUMPS, confidence, tuple(evidence), do, min(1.0, gain_us / mean(times)), gain_us)


def _medians(numbers: Numbers, times: Sequence[float], split: float) -> dict[Event, tuple[float, float]]:
    """Return the median of each event in the fast and the slow group; without the events that a group lacks."""
    found = {}
    for event, column in numbers.columns.items():
        if len(column) == len(times):
            fast = median(each for each, whole in zip(column, times, strict=True) if whole <= split)
            slow = median(each for each, whole in zip(column, times, strict=True) if whole > split)
            if not math.isnan(fast) and not math.isnan(slow):
                found[event] = (fast, slow)
    return found


def _where(rises: Mapping[Event, float]) -> tuple[Event, Event] | None:
    """Return the two levels between which most of the difference lies. The lowest level twice is the work itself."""
    levels = [event for event in LEVELS if event in rises]
    differences = {(outer, inner): rises[outer] - rises[inner] for outer, inner in itertools.pairwise(levels)}
    differences |= {(lowest, lowest): rises[lowest] for lowest in levels[-1:]}
    return max(differences, key=lambda pair: differences[pair], default=None)


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


def first_query(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-10: queries after a pause are answered more slowly."""
    if not numbers.has(Event.FIRST_TOKEN):
        return Nothing(FIRST_QUERY, "needs queries of a language model")
    costs = _costs(numbers)
    held_us = sustain_us(numbers.measurement.profile)
    held_us = VENDOR_SUSTAIN_US if held_us is None else held_us
    gaps = [None, *numbers.gaps_us]
    paused = {place for place, gap in enumerate(gaps) if gap is None or gap > held_us} | {0}
    cold = [cost for place, cost in enumerate(costs) if place in paused and cost is not None]
    warm = [cost for place, cost in enumerate(costs) if place not in paused and cost is not None]
    if not cold or len(warm) < _WARM_LEAST:
        said = f"{len(cold)} after a pause, {len(warm)} without one"
        return Nothing(FIRST_QUERY, f"needs queries to compare: {said}")
    ratio = median(cold) / median(warm)
    said = f"after a pause the first token takes {ratio:.2f} times as long, per token of the prompt"
    if ratio < _SLOWER:
        return Nothing(FIRST_QUERY, said)
    first_token_us = numbers.typical(Event.FIRST_TOKEN) or 0.0
    often = len(cold) > 1
    evidence = (
        f"{sentence(said)}.",
        f"It is {time(median(cold))} in {len(cold)} queries, and {time(median(warm))} in {len(warm)}.",
    )
    lost_us = (ratio - 1) / ratio * first_token_us
    pause_us = median(gap for gap in gaps[1:] if gap is not None and gap > held_us) if often else 0.0
    profile = numbers.measurement.profile
    do: tuple[str, ...] = ("send one short query before the first that a user waits for",)
    if pause_us:
        do = outlasting(pause_us, "pause between queries")
    if pause_us and profile is not None and recorded_runtime(profile) is not None:
        do = kept_up(profile, pause_us)
        if not do:
            return Nothing(FIRST_QUERY, f"{said}; {lacks(profile, f'votes over a pause of {time(pause_us)}')}")
    return Advice(
        FIRST_QUERY,
        numbers.confidence(Confidence.MEDIUM),
        evidence,
        do,
        numbers.share(lost_us) * len(cold) / (len(cold) + len(warm)),
        lost_us if often else 0.0,
        Gain.EVERY_INFERENCE if often else Gain.ONCE,
    )


def slow_tokens(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-11: the language model is slow. A single query is enough."""
    answers = _rate(numbers, Event.TOKEN_RATE, Event.TOKENS, _SEVERAL)
    prompts = _rate(numbers, Event.PROMPT_RATE, Event.PROMPT_TOKENS, _LONG_PROMPT_TOKENS)
    rates = (("tokens", answers, _SLOW_TOKENS_PER_S), ("tokens of the prompt", prompts, _SLOW_PROMPT_TOKENS_PER_S))
    known = [(what, per_s, slow) for what, per_s, slow in rates if per_s is not None]
    if not known:
        return Nothing(SLOW_TOKENS, "needs rates of a language model: tokens per second")
    said = [f"{three_digits(per_s)} {what} a second" for what, per_s, _ in known]
    evidence = tuple(
        f"{three_digits(per_s)} {what} per second; the slowest measured elsewhere is {slow:g}."
        for what, per_s, slow in known
        if per_s < slow
    )
    if not evidence:
        return Nothing(SLOW_TOKENS, ", ".join(said))
    share = max(1 - per_s / slow for _, per_s, slow in known)
    return Advice(SLOW_TOKENS, Confidence.LOW, evidence, _DO_SLOW, share, gain=Gain.KNOWLEDGE)


def _rate(numbers: Numbers, event: Event, counted: Event, fewest: int) -> float | None:
    """Return the typical rate of the queries with at least so many tokens; None if there are none."""
    counts, rates = (numbers.columns.get(each, ()) for each in (counted, event))
    found = [rate for count, rate in zip(counts, rates, strict=False) if count >= fewest]
    return median(found) if present(found) else None


def _costs(numbers: Numbers) -> list[float | None]:
    """Return the time to the first token of each query, per token of its prompt."""
    tokens = numbers.columns.get(Event.PROMPT_TOKENS, ())
    return [
        time_us / (tokens[place] if place < len(tokens) and tokens[place] > 0 else 1) if time_us > 0 else None
        for place, time_us in enumerate(numbers.columns[Event.FIRST_TOKEN])
    ]
