"""Waits: the CPU wakes up late, polling ends too early, another graph interrupts, or no number shows the cause."""

from __future__ import annotations

import attrs

from htppower.tools.report.words import percent, sentence, time
from htppower.tools.review.advice.measurement import YIELD_TIMES, Event
from htppower.tools.review.advice.numbers import Numbers, median, powered_up, present
from htppower.tools.review.advice.own_settings import (
    LONGEST_POLLING_US,
    awake,
    lacks,
    polled_adaptively,
    polling_us,
    recorded_runtime,
)
from htppower.tools.review.advice.rules import (
    CONTENTION,
    POLLING,
    UNEXPLAINED,
    WAKE_UP,
    Advice,
    Confidence,
    Gain,
    Nothing,
)

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
# Inferences scatter by this share anyway. Shorter waits are not reported.
_WAIT_SHARE = 0.05
# If the file does not show how long yields take, the waits must be longer than waits whose cause is known.
_UNKNOWN_SHARE = 0.2
# If fewer of the inferences yield, it is an accident.
_OFTEN = 0.1
# Measured by third parties: 0.2 ms warm, 0.8 to 5.4 ms cold.
_VTCM_LATE_US = 500
_VTCM_SHARE = 0.1
# Waits without a known cause are reported from this share on.
_UNEXPLAINED_SHARE = 0.15
_OF_PRIORITY = (
    '"context_configs": {"context_priority": "high"}   # in the main file of the vendor\'s tools',
    "qnn_context_priority=high   # among the provider options of ONNX Runtime",
    "or a low priority for the other graph",
    "keep the profile as it is: a higher one does not shorten waits",
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
    if profile is not None and profile.votes.adaptive_polling_time_us:
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


def contention(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-5: another graph interrupts the inferences on the HTP."""
    yields = present(numbers.columns.get(Event.YIELDS, ()))
    times_us = sum(numbers.average(event) or 0.0 for event in YIELD_TIMES)
    hit = sum(each > 0 for each in yields) / len(yields) if yields else float(times_us > 0)
    if not hit:
        return _late_vtcm(numbers)
    waits_us = _waits_us(numbers)
    if waits_us is None:
        waits_us = _longer_us(numbers)
    lost_us = max(times_us, 0.0 if waits_us is None else waits_us)
    share = numbers.share(lost_us)
    said = f"{sum(yields) / len(yields):.2g} yields per inference" if yields else f"yields take {time(times_us)}"
    if waits_us is None and not times_us and hit >= _OFTEN:
        unknown = (f"There are {said}; how long they take is not in the file.",)
        return Advice(CONTENTION, Confidence.LOW, unknown, _OF_PRIORITY, _UNKNOWN_SHARE)
    if hit < _OFTEN or share < _WAIT_SHARE:
        return Nothing(
            CONTENTION, f"{said}, in {percent(hit)} of the inferences; waits take {percent(share)} of the time"
        )
    evidence = [f"There are {said}, in {percent(hit)} of the inferences." if yields else f"{sentence(said)}."]
    if times_us and yields:
        evidence.append(f"They take {time(times_us)} per inference.")
    if waits_us is not None:
        evidence.append(f"Waiting takes {time(waits_us)} of an inference, {percent(numbers.share(waits_us))} of it.")
    return Advice(CONTENTION, numbers.confidence(), tuple(evidence), _OF_PRIORITY, share, lost_us)


def _late_vtcm(numbers: Numbers) -> Advice | Nothing:
    """Check whether another graph holds VTCM: it is acquired late although the power is up, and nothing yields."""
    vtcm_us, power_us = numbers.typical(Event.VTCM), numbers.typical(Event.POWER_ON)
    if not numbers.has(Event.YIELDS) and vtcm_us is None:
        return Nothing(CONTENTION, "needs rows of yields (3006 to 3009): profile at the level detailed")
    said = "no yields" if numbers.has(Event.YIELDS) else "no rows of yields"
    if vtcm_us is None:
        return Nothing(CONTENTION, said)
    said = f"{said}; VTCM is acquired in {time(vtcm_us)}"
    cold = power_us is None or powered_up(power_us, numbers.whole_us)
    alone = numbers.measurement.count < 2 and not numbers.measurement.averaged  # noqa: PLR2004 - one may be a cold start
    if cold or alone or vtcm_us < _VTCM_LATE_US or numbers.share(vtcm_us) < _VTCM_SHARE:
        return Nothing(CONTENTION, said)
    evidence = (
        f"VTCM is acquired in {time(vtcm_us)}, {percent(numbers.share(vtcm_us))} of the inference.",
        f"The power is up ({time(power_us or 0.0)}), so another graph holds it.",
    )
    gain_us = min(vtcm_us, numbers.whole_us)
    return Advice(
        CONTENTION, numbers.confidence(Confidence.MEDIUM), evidence, _OF_PRIORITY, numbers.share(gain_us), gain_us
    )


def _waits_us(numbers: Numbers) -> float | None:
    """Return how long the HTP waits in an inference on average, without its power-up; None if the file lacks that."""
    waits = numbers.less(Event.ACCELERATOR, Event.COMPUTE)
    if not waits:
        return None
    power_us = numbers.typical(Event.POWER_ON) or 0.0
    powered = power_us if powered_up(power_us, numbers.whole_us) else 0.0
    return max(0.0, sum(waits) / len(waits) - powered)


def _longer_us(numbers: Numbers) -> float | None:
    """Return by how much inferences are longer on average than those without yields; None if too few have no yields."""
    if numbers.whole is None:
        return None
    pairs = list(zip(numbers.columns[Event.YIELDS], numbers.columns[numbers.whole], strict=False))
    free = present(whole for yields, whole in pairs if yields == 0) if numbers.has(Event.YIELDS) else []
    if len(free) < max(2, _OFTEN * len(pairs)):
        return None
    return max(0.0, (numbers.average(numbers.whole) or 0.0) - median(free))


def unexplained(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-9: the HTP waits, and no number shows for what."""
    waits_us = numbers.between(Event.ACCELERATOR, Event.COMPUTE)
    if waits_us is None:
        return Nothing(UNEXPLAINED, "needs rows of Accelerator with and without waits (3004 and 3012)")
    share = numbers.share(waits_us)
    said = f"waits take {time(waits_us)}, {percent(share)} of the inference"
    missing = [event for event in (Event.POWER_ON, Event.VTCM, Event.YIELDS) if not numbers.has(event)]
    if share < _UNEXPLAINED_SHARE or not missing:
        return Nothing(UNEXPLAINED, said)
    names = ", ".join(event.printed for event in missing)
    evidence = (f"{sentence(said)}, and the file has no rows of {names}.",)
    do = (
        "--profiling_level detailed   # qnn-net-run",
        "profiling_level=detailed     # among the provider options of ONNX Runtime",
    )
    return Advice(UNEXPLAINED, numbers.confidence(), evidence, do, share, 0.0, Gain.KNOWLEDGE)
