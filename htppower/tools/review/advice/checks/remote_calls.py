"""The way to the HTP and back: the CPU wakes up late, or polling ends before the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.words import percent, time
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.own_settings import (
    LONGEST_POLLING_US,
    awake,
    lacks,
    polled_adaptively,
    polling_us,
    polls_adaptively,
    recorded_runtime,
)
from htppower.tools.review.advice.rules import POLLING, WAKE_UP, Advice, Confidence, Nothing

if TYPE_CHECKING:
    from htppower.tools.review.advice.numbers import Numbers

# An empty call: a third party's measurement on SA8797P. No setting makes a call shorter.
EMPTY_CALL_US = 220
# Calls scatter up to twice an empty call, and less than a tenth of the inference does not matter.
_WAY_LEAST_US = 2 * EMPTY_CALL_US
_WAY_SHARE = 0.1
# QnnHtpPerfInfrastructure.h, SDK 2.50: RPC polling is for V69 and later.
_POLLING_ARCH = 69
# The way is the difference of one of these pairs of rows.
_WAYS = (
    (Event.RPC, Event.QNN_ACCELERATOR, Confidence.HIGH),
    (Event.RPC, Event.ACCELERATOR, Confidence.MEDIUM),
    (Event.QNN, Event.QNN_ACCELERATOR, Confidence.MEDIUM),
    (Event.QNN, Event.ACCELERATOR, Confidence.LOW),
)
# If the profile polls already, a gain is doubtful. Between rows that are further apart, there is more than the travel
# of the call.
_DOUBT = 0.5
# Polling costs CPU power and no time of the inference. It counts this much compared with time.
_CPU_WEIGHT = 0.1
# Adaptive polling is for inferences of about 1 ms or longer (vendor).
_ADAPTIVE_US = 1_000

_NOT_IN_FORCE = (
    "htppower status          # is the session RAISED, is polling in force?",
    "htppower doctor          # does the library accept the votes?",
)
_MODE_NOT_SET = (
    "htppower settings --check FILE   # does the runtime read its mode?",
    "htppower doctor                  # does the library accept the votes?",
)


@attrs.frozen
class _Way:
    """The travel time of a call and its answer, the rows that were subtracted for it, and how sure it is."""

    time_us: float
    said: str
    confidence: Confidence


def _way(numbers: Numbers) -> _Way | None:
    """Return the travel time of the call and its answer, from the nearest rows that the file has."""
    for outer, inner, confidence in _WAYS:
        time_us = numbers.between(outer, inner)
        if time_us is not None:
            words = f"{outer.printed} less {inner.printed}".replace(" (execute) time", "")
            said = f"{words} is {time(time_us)}, {percent(numbers.share(time_us))} of the inference"
            return _Way(time_us, said, confidence)
    return None


def wake_up(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-1: the CPU wakes up late. If polling ends before the answer, ADV-2 is the better advice."""
    way = _way(numbers)
    if way is None:
        return Nothing(WAKE_UP, "needs rows of RPC (3001) and QNN accelerator (3002)")
    said = f"{way.said}; an empty call takes about {EMPTY_CALL_US} us"
    if way.time_us < _WAY_LEAST_US or numbers.share(way.time_us) < _WAY_SHARE:
        return Nothing(WAKE_UP, said)
    if isinstance(_too_short(numbers), Advice):
        return Nothing(WAKE_UP, f"{way.said}; polling ends before the answer (ADV-2)")
    gain_us = min(way.time_us - EMPTY_CALL_US, numbers.whole_us)
    share = numbers.share(gain_us) * (1 if way.confidence is Confidence.HIGH else _DOUBT)
    evidence = [f"{said}."]
    compute_us = numbers.typical(Event.COMPUTE)
    if compute_us is not None:
        evidence.append(f"The graph itself computes for {time(compute_us)}.")
    profile = numbers.measurement.profile
    do, sure = _awake(numbers), way.confidence
    if profile is not None and polling_us(profile):
        evidence.append(f"{profile.name} votes polling, so its votes may not be in force.")
        do = _NOT_IN_FORCE if recorded_runtime(profile) is None else _MODE_NOT_SET
        share *= _DOUBT
        sure = Confidence.least(sure, Confidence.MEDIUM)
    if not do and profile is not None:
        return Nothing(WAKE_UP, f"{said}; {lacks(profile, 'latency or polling')}")
    return Advice(WAKE_UP, numbers.confidence(sure), tuple(evidence), do, share, gain_us)


def _awake(numbers: Numbers) -> tuple[str, ...]:
    """Return the votes that keep the CPU awake; without polling if the inference or the SoC does not suit it."""
    soc, profile = numbers.measurement.soc, numbers.measurement.profile
    polls = soc is None or soc.arch >= _POLLING_ARCH
    too_long = (numbers.typical(Event.RPC) or 0.0) > LONGEST_POLLING_US
    if profile is not None and recorded_runtime(profile) is not None:
        return awake(profile, polls=polls, adaptive_us=_ADAPTIVE_US if too_long else None)
    votes = ["rpc_control_latency_us: 100"]
    if polls:
        votes.append(f"rpc_polling_time_us: {LONGEST_POLLING_US}")
        if too_long:
            votes.append(f"adaptive_polling_time_us: {_ADAPTIVE_US}")
    return (f"votes: {{{', '.join(votes)}}}",)


def polling(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-2: polling ends before the answer."""
    found = _too_short(numbers)
    profile = numbers.measurement.profile
    if isinstance(found, Nothing) or profile is None or recorded_runtime(profile) is None:
        return found
    do = polled_adaptively(profile, _ADAPTIVE_US)
    if not do:
        return Nothing(POLLING, f"{found.evidence[0].rstrip('.')}; {lacks(profile, 'adaptive polling')}")
    return attrs.evolve(found, do=do)


def _too_short(numbers: Numbers) -> Advice | Nothing:
    """Return advice if polling ends before the answer, with the votes that fix it."""
    profile = numbers.measurement.profile
    # A part of the call is shorter than the call. If a part is too long for polling, the call is too.
    call = next((event for event in (Event.RPC, Event.QNN_ACCELERATOR, Event.ACCELERATOR) if numbers.has(event)), None)
    rpc_us = None if call is None else numbers.typical(call)
    if rpc_us is None:
        return Nothing(POLLING, "needs a row of RPC (3001)")
    polls_us = polling_us(profile)
    limit_us = polls_us or LONGEST_POLLING_US
    if polls_us == 0:
        return Nothing(POLLING, f"the RPC takes {time(rpc_us)}; the profile does not poll")
    if polls_adaptively(profile):
        return Nothing(POLLING, f"the RPC takes {time(rpc_us)}; the profile polls adaptively")
    if rpc_us <= limit_us:
        return Nothing(POLLING, f"the RPC takes {time(rpc_us)}, polling lasts {limit_us} us")
    waits_us = numbers.between(Event.ACCELERATOR, Event.COMPUTE) or 0.0
    if rpc_us - waits_us <= limit_us:
        said = f"the RPC takes {time(rpc_us)}, {time(rpc_us - waits_us)} without the waits on the HTP"
        return Nothing(POLLING, f"{said}; polling lasts {limit_us} us")
    way = _way(numbers)
    way_us = 0.0 if way is None else way.time_us
    late = way_us >= _WAY_LEAST_US
    evidence = [f"The RPC takes {time(rpc_us)}; polling ends after {limit_us} us."]
    if late:
        evidence.append(f"The way there and back takes {time(way_us)}; an empty call takes about {EMPTY_CALL_US} us.")
    evidence.append(
        f"The CPU polls in vain for {percent(min(1.0, limit_us / rpc_us))} of each inference"
        f"{'' if profile is not None else ', if the profile polls, as burst and high_performance do'}."
    )
    more_us = way_us - EMPTY_CALL_US if late else 0.0
    share = max(numbers.share(more_us), _CPU_WEIGHT * limit_us / rpc_us)
    # Most tools run under a profile that polls, unless an option changes that.
    best = Confidence.HIGH if profile is not None else Confidence.MEDIUM if late else Confidence.LOW
    do = (f"votes: {{adaptive_polling_time_us: {_ADAPTIVE_US}}}   # with rpc_polling_time_us: {LONGEST_POLLING_US}",)
    return Advice(POLLING, numbers.confidence(best), tuple(evidence), do, share, more_us)
