"""Waits on the HTP: another graph interrupts an inference, or no number shows the cause."""

from __future__ import annotations

from htppower.tools.report.words import percent, sentence, time
from htppower.tools.review.advice.measurement import YIELD_TIMES, Event
from htppower.tools.review.advice.numbers import Numbers, median, powered_up, present
from htppower.tools.review.advice.rules import CONTENTION, UNEXPLAINED, Advice, Confidence, Gain, Nothing

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
_DO = (
    '"context_configs": {"context_priority": "high"}   # in the main file of the vendor\'s tools',
    "qnn_context_priority=high   # among the provider options of ONNX Runtime",
    "or a low priority for the other graph",
    "keep the profile as it is: a higher one does not shorten waits",
)


def contention(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-5: another graph interrupts the inferences on the HTP."""
    yields = present(numbers.columns.get(Event.YIELDS, ()))
    times_us = sum(numbers.average(event) or 0.0 for event in YIELD_TIMES)
    hit = sum(each > 0 for each in yields) / len(yields) if yields else float(times_us > 0)
    if not hit:
        return _late_vtcm(numbers)
    waits_us = _waits(numbers)
    if waits_us is None:
        waits_us = _longer(numbers)
    lost_us = max(times_us, 0.0 if waits_us is None else waits_us)
    share = numbers.share(lost_us)
    said = f"{sum(yields) / len(yields):.2g} yields per inference" if yields else f"yields take {time(times_us)}"
    if waits_us is None and not times_us and hit >= _OFTEN:
        unknown = (f"There are {said}; how long they take is not in the file.",)
        return Advice(CONTENTION, Confidence.LOW, unknown, _DO, _UNKNOWN_SHARE)
    if hit < _OFTEN or share < _WAIT_SHARE:
        return Nothing(
            CONTENTION, f"{said}, in {percent(hit)} of the inferences; waits take {percent(share)} of the time"
        )
    evidence = [f"There are {said}, in {percent(hit)} of the inferences." if yields else f"{sentence(said)}."]
    if times_us and yields:
        evidence.append(f"They take {time(times_us)} per inference.")
    if waits_us is not None:
        evidence.append(f"Waiting takes {time(waits_us)} of an inference, {percent(numbers.share(waits_us))} of it.")
    return Advice(CONTENTION, numbers.confidence(), tuple(evidence), _DO, share, lost_us)


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
    return Advice(CONTENTION, numbers.confidence(Confidence.MEDIUM), evidence, _DO, numbers.share(gain_us), gain_us)


def _waits(numbers: Numbers) -> float | None:
    """Return how long the HTP waits in an inference on average, without its power-up; None if the file lacks that."""
    waits = numbers.less(Event.ACCELERATOR, Event.COMPUTE)
    if not waits:
        return None
    power_us = numbers.typical(Event.POWER_ON) or 0.0
    powered = power_us if powered_up(power_us, numbers.whole_us) else 0.0
    return max(0.0, sum(waits) / len(waits) - powered)


def _longer(numbers: Numbers) -> float | None:
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
