"""Queries of a language model: whether queries after a pause are answered more slowly, and whether all are slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.sustain import VENDOR_SUSTAIN_US
from htppower.tools.report.words import sentence, three_digits, time
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.numbers import median, present
from htppower.tools.review.advice.own_settings import kept_up, lacks, outlasting, recorded_runtime, sustain_us
from htppower.tools.review.advice.rules import FIRST_QUERY, SLOW_TOKENS, Advice, Confidence, Gain, Nothing

if TYPE_CHECKING:
    from htppower.tools.review.advice.numbers import Numbers

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
