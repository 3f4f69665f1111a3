"""The way to the HTP and back: a wake-up that comes late, and polling that ends before the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.review.advice.advice import Advice, Confidence, Nothing
from htppower.review.advice.events import Event
from htppower.review.advice.profiles import LONGEST_POLLING_US, polling_us, polls_adaptively
from htppower.review.advice.rules import POLLING, WAKE_UP
from htppower.review.advice.words import percent, time

if TYPE_CHECKING:
    from htppower.review.advice.numbers import Numbers

# An empty call: a third party's measurement on SA8797P. No setting makes a call shorter.
EMPTY_CALL_US = 220
# Up to twice an empty call is how calls scatter, and below a tenth of the inference nobody notices it.
_WAY_LEAST_US = 2 * EMPTY_CALL_US
_WAY_SHARE = 0.1
# QnnHtpPerfInfrastructure.h, SDK 2.50: RPC polling is for V69 and later.
_POLLING_ARCH = 69
# What polling costs the CPU is no time of the inference: it counts this much beside time.
_CPU_WEIGHT = 0.1
# Adaptive polling is for inferences from about 1 ms on (vendor).
_ADAPTIVE_US = 1_000


def wake_up(numbers: Numbers) -> Advice | Nothing:
    """ADV-1; where polling ends before the answer, ADV-2 says more."""
    way_us = numbers.between(Event.RPC, Event.QNN_ACCELERATOR)
    if way_us is None:
        return Nothing(WAKE_UP, "needs rows of RPC (3001) and QNN accelerator (3002)")
    share = numbers.share(way_us)
    said = f"RPC less QNN accelerator is {time(way_us)}, {percent(share)} of the inference"
    if way_us < _WAY_LEAST_US or share < _WAY_SHARE:
        return Nothing(WAKE_UP, f"{said}; an empty call takes about {EMPTY_CALL_US} us")
    if not isinstance(polling(numbers), Nothing):
        return Nothing(WAKE_UP, f"{said}; polling ends before the answer (ADV-2)")
    more_us = way_us - EMPTY_CALL_US
    evidence = [f"{said}; an empty call takes about {EMPTY_CALL_US} us."]
    compute_us = numbers.typical(Event.COMPUTE)
    if compute_us is not None:
        evidence.append(f"The graph itself computes for {time(compute_us)}.")
    profile = numbers.measurement.profile
    do = _awake(numbers)
    best = Confidence.HIGH
    if profile is not None and polling_us(profile) and numbers.measurement.profile is profile:
        evidence.append(f"{profile.name} votes polling, so its votes may not be in force.")
        do = (
            "htppower status          # is the session RAISED, is polling in force?",
            "htppower doctor          # does the library take the votes?",
        )
        best = Confidence.MEDIUM
    return Advice(
        WAKE_UP, numbers.confidence(best), tuple(evidence), do, numbers.share(more_us), min(more_us, numbers.whole_us)
    )


def _awake(numbers: Numbers) -> tuple[str, ...]:
    """Return the votes that keep the CPU awake; without polling where the inference or the SoC is not for it."""
    soc = numbers.measurement.soc
    votes = ["rpc_control_latency_us: 100"]
    if soc is None or soc.arch >= _POLLING_ARCH:
        votes.append(f"rpc_polling_time_us: {LONGEST_POLLING_US}")
        rpc_us = numbers.typical(Event.RPC) or 0.0
        if rpc_us > LONGEST_POLLING_US:
            votes.append(f"adaptive_polling_time_us: {_ADAPTIVE_US}")
    return (f"votes: {{{', '.join(votes)}}}",)


def polling(numbers: Numbers) -> Advice | Nothing:
    """ADV-2."""
    profile = numbers.measurement.profile
    rpc_us = numbers.typical(Event.RPC)
    if rpc_us is None:
        return Nothing(POLLING, "needs a row of RPC (3001)")
    polls_us = polling_us(profile)
    limit_us = polls_us or LONGEST_POLLING_US
    if polls_us == 0:
        return Nothing(POLLING, f"the RPC takes {time(rpc_us)}; the profile does not poll")
    if polls_adaptively(profile):
        return Nothing(POLLING, f"the RPC takes {time(rpc_us)}; the profile polls adaptively")
    if rpc_us <= limit_us:
        return Nothing(POLLING, f"the RPC takes {time(rpc_us)}, polling goes on for {limit_us} us")
    way_us = numbers.between(Event.RPC, Event.QNN_ACCELERATOR) or 0.0
    late = way_us >= _WAY_LEAST_US
    if polls_us is None and not late:
        said = f"the RPC takes {time(rpc_us)}, of which the way is {time(way_us)}"
        return Nothing(POLLING, f"{said}; name the profile with --profile, which may poll in vain")
    evidence = [f"The RPC takes {time(rpc_us)}; polling ends after {limit_us} us."]
    if late:
        evidence.append(f"Its way takes {time(way_us)}, where an empty call takes about {EMPTY_CALL_US} us.")
    evidence.append(
        f"It is polled in vain for {percent(min(1.0, limit_us / rpc_us))} of each inference"
        f"{'' if profile is not None else ', if the profile polls, as burst and high_performance do'}."
    )
    more_us = way_us - EMPTY_CALL_US if late else 0.0
    share = max(numbers.share(more_us), _CPU_WEIGHT * limit_us / rpc_us)
    best = Confidence.MEDIUM if profile is None else Confidence.HIGH
    do = (f"votes: {{adaptive_polling_time_us: {_ADAPTIVE_US}}}   # with rpc_polling_time_us: {LONGEST_POLLING_US}",)
    return Advice(POLLING, numbers.confidence(best), tuple(evidence), do, share, more_us)
