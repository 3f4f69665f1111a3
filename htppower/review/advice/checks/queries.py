"""Queries of a language model: whether those after a pause are slower to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.sustain import VENDOR_SUSTAIN_US
from htppower.review.advice.advice import Advice, Confidence, Gain, Nothing
from htppower.review.advice.events import Event
from htppower.review.advice.own_settings import kept_up, lacks, recorded_runtime
from htppower.review.advice.profiles import sustain_us
from htppower.review.advice.rules import FIRST_QUERY
from htppower.review.advice.statistics import median
from htppower.review.advice.words import sentence, time

if TYPE_CHECKING:
    from htppower.review.advice.numbers import Numbers

# Fewer warm queries are no measure.
_WARM_LEAST = 2
# How queries scatter.
_SLOWER = 1.2
_MARGIN = 1.2
_ROUND_UP_US = 100_000
_LONGEST_SUSTAIN_US = 10_000_000


def first_query(numbers: Numbers) -> Advice | Nothing:
    """ADV-10."""
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
    said = f"the first token takes {ratio:.2f} times as long, for each token of the prompt, after a pause"
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
    do = _do(pause_us)
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


def _costs(numbers: Numbers) -> list[float | None]:
    """Return the time to the first token of each query, for each token of its prompt."""
    tokens = numbers.columns.get(Event.PROMPT_TOKENS, ())
    return [
        time_us / (tokens[place] if place < len(tokens) and tokens[place] > 0 else 1) if time_us > 0 else None
        for place, time_us in enumerate(numbers.columns[Event.FIRST_TOKEN])
    ]


def _do(pause_us: float) -> tuple[str, ...]:
    if not pause_us:
        return ("send one short query before the first that anybody waits for",)
    wanted = int(-(-_MARGIN * pause_us // _ROUND_UP_US) * _ROUND_UP_US)
    if wanted > _LONGEST_SUSTAIN_US:
        return ("htppower profile NAME -- COMMAND   # holds the votes up while the command runs",)
    return (f"relax: {{after_inference_us: {wanted}}}   # longer than the pause between queries",)
