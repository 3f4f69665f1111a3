"""Power-up: in every inference, or only once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.sustain import VENDOR_SUSTAIN_US
from htppower.tools.report.words import counted, sentence, time
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.numbers import Numbers, median, powered_up
from htppower.tools.review.advice.own_settings import HOLD, outlasting, sustain_us
from htppower.tools.review.advice.rules import COLD_START, POWER_UP, Advice, Confidence, Gain, Nothing

if TYPE_CHECKING:
    from collections.abc import Sequence


# The share of inferences with a power-up: from half of them on it is the rule, from a tenth on it is not an accident.
_MOSTLY = 0.5
_SOMETIMES = 0.1
_MANY = 5
# If an average lies this far from the smallest to the largest number, more than one inference in four is slow.
_OF_AVERAGES = 0.25
# The longest power-up that third parties have measured.
_LONGEST_POWER_UP_US = 29_000.0
_IN_A_ROW = "run several inferences after each other, so that one power-up serves them all"
# A record holds what a runtime votes by itself. It has no field for the runtime's timers.
_RECORDED = (HOLD, f"or {_IN_A_ROW}")
_HELD = (
    _IN_A_ROW,
    "check that the runtime makes its session once, and that the mode is set: its votes would outlast every gap",
)
_NOT_TOLD = "an average does not show whether it happens once or always"
# Without rows of power-up, a first inference is slow if it takes half as long again as the slowest tenth of the others,
# and 1 ms more.
_STANDS_OUT = 1.5
_STANDS_OUT_US = 1_000


@attrs.frozen
class _Ups:
    """The inferences with a power-up, its time, the time of power on in the other inferences, and the number of all."""

    at: tuple[int, ...]
    cold_us: float
    warm_us: float
    inferences: int


def _ups(numbers: Numbers) -> _Ups | None:
    if not numbers.has(Event.POWER_ON):
        return None
    known = [(place, each) for place, each in enumerate(numbers.columns[Event.POWER_ON]) if not math.isnan(each)]
    high = [(place, each) for place, each in known if powered_up(each, numbers.whole_us)]
    low = [each for _, each in known if not powered_up(each, numbers.whole_us)]
    return _Ups(tuple(place for place, _ in high), median(each for _, each in high), median(low), len(known))


def _once(numbers: Numbers, ups: _Ups) -> bool:
    """Return whether only first inferences of sessions were powered up, or one of several inferences."""
    if not ups.at or ups.inferences < 2:  # noqa: PLR2004 - one inference shows neither once nor always
        return False
    if set(ups.at) <= set(numbers.measurement.starts) and len(ups.at) < ups.inferences:
        return True
    return len(ups.at) == 1 or len(ups.at) <= _SOMETIMES * ups.inferences


def power_up(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-3: the HTP is powered up in every inference."""
    ups = _ups(numbers)
    if ups is None:
        return Nothing(POWER_UP, "needs rows of HVX + HMX power on (3011): profile at the level detailed")
    if numbers.measurement.averaged:
        return _of_averages(numbers)
    if ups.inferences < 2:  # noqa: PLR2004 - as above
        return Nothing(POWER_UP, "one inference does not show what happens in every one: profile several")
    if not ups.at or _once(numbers, ups):
        said = f"{len(ups.at)} of {counted(ups.inferences, 'inference')} had a power-up"
        warm = "" if math.isnan(ups.warm_us) else f", power on takes {time(ups.warm_us)} in the others"
        return Nothing(POWER_UP, f"{said}{warm}")
    share = len(ups.at) / ups.inferences
    evidence = [
        f"{len(ups.at)} of {counted(ups.inferences, 'inference')} had a power-up, of {time(ups.cold_us)} at the median."
    ]
    if not math.isnan(ups.warm_us):
        evidence.append(f"In the others power on takes {time(ups.warm_us)}.")
    best = Confidence.HIGH if share >= _MOSTLY and ups.inferences >= _MANY else Confidence.MEDIUM
    return _advice(numbers, ups.cold_us * share, evidence, _gap_before(numbers, ups.at), best)


def _of_averages(numbers: Numbers) -> Advice | Nothing:
    measured = numbers.measurement
    average_us = measured.columns[Event.POWER_ON][0]
    least_us = measured.least.get(Event.POWER_ON)
    said = f"power on takes {time(average_us)} on average"
    if least_us is not None:
        said += f", {time(least_us)} at least"
    if least_us is None or not powered_up(least_us, numbers.whole_us):
        more_us = average_us - (least_us or 0.0)
        has_limits = least_us is not None and Event.POWER_ON in measured.most
        return (_sometimes if has_limits else _without_limits)(numbers, said, more_us)
    if _is_of_one(numbers):
        return Nothing(POWER_UP, f"{said}; the file seems to hold one inference")
    return _advice(numbers, least_us, [f"{sentence(said)}: every inference has a power-up."], None)


def _sometimes(numbers: Numbers, said: str, more_us: float) -> Advice | Nothing:
    """Return advice if the average is too far from the smallest number for a single power-up in several inferences."""
    most_us = numbers.measurement.most.get(Event.POWER_ON, 0.0)
    least_us = numbers.measurement.least.get(Event.POWER_ON, 0.0)
    if not powered_up(most_us, numbers.whole_us) or more_us < _OF_AVERAGES * (most_us - least_us):
        return Nothing(POWER_UP, said)
    said = f"{sentence(said)} and {time(most_us)} at most: many inferences have a power-up."
    return _advice(numbers, more_us, [said], None, Confidence.LOW)


def _without_limits(numbers: Numbers, said: str, more_us: float) -> Advice | Nothing:
    """Return advice if an average is too large for a power-up in only a few inferences."""
    longest_us = numbers.measurement.most.get(Event.POWER_ON, _LONGEST_POWER_UP_US)
    if not powered_up(more_us, numbers.whole_us):
        return Nothing(POWER_UP, said)
    if more_us < _SOMETIMES * longest_us:
        return Nothing(POWER_UP, f"{said}; {_NOT_TOLD}")
    few = max(1, math.floor(longest_us / more_us))
    of_few = "one inference" if few == 1 else f"at most {few} inferences"
    alone = f"A power-up takes at most {time(longest_us)}. One cold start gives such an average only over {of_few}."
    return _advice(numbers, more_us, [f"{sentence(said)}.", alone], None, Confidence.LOW)


def _is_of_one(numbers: Numbers) -> bool:
    """Return whether averages are of one inference: then the smallest, the average and the largest are equal."""
    measured = numbers.measurement
    return all(
        measured.least.get(event, numbers_of[0]) == numbers_of[0] == measured.most.get(event, numbers_of[0])
        for event, numbers_of in measured.columns.items()
    )


def _advice(
    numbers: Numbers, lost_us: float, evidence: list[str], gap_us: float | None, best: Confidence = Confidence.HIGH
) -> Advice:
    # Power-up may be counted outside the whole inference. At most the whole without the work can be gained.
    whole_us = numbers.whole_us if numbers.whole is None else numbers.average(numbers.whole) or 0.0
    room_us = max(whole_us - (numbers.typical(Event.COMPUTE) or 0.0), 0.0)
    gain_us = min(lost_us, room_us) if numbers.whole_us else lost_us
    profile = numbers.measurement.profile
    held_us = sustain_us(profile)
    if gap_us is not None:
        evidence.append(f"Before those the HTP was idle for {time(gap_us)} at the median.")
    if profile is not None and held_us is not None:
        kept = "until the model is released" if math.isinf(held_us) else f"for {time(held_us)} after an inference"
        evidence.append(f"{profile.name} keeps its votes up {kept}.")
    do = _held_longer(gap_us, VENDOR_SUSTAIN_US if held_us is None else held_us)
    if profile is not None and profile.provenance is not None:
        do = _HELD if held_us is not None and math.isinf(held_us) else _RECORDED
    return Advice(POWER_UP, numbers.confidence(best), tuple(evidence), do, numbers.share(gain_us), gain_us)


def _held_longer(gap_us: float | None, held_us: float) -> tuple[str, ...]:
    """Return what keeps the power up over a gap: a sustain time, a longer HMX timeout if votes are up, or a hold."""
    if math.isinf(held_us):
        return ("votes: {hmx_timeout_us: 1000000}   # the votes stay up, so HMX may have timed out",)
    if gap_us is None:
        wanted = max(2 * held_us, VENDOR_SUSTAIN_US)
        return (
            f"relax: {{after_inference_us: {wanted}}}   # longer than the gap between inferences",
            "votes: {hmx_timeout_us: 1000000}   # if the gap is shorter than the sustain time",
        )
    if gap_us < held_us:
        return ("votes: {hmx_timeout_us: 1000000}   # the votes are still up, so HMX has timed out",)
    held = outlasting(gap_us, "gap between inferences")
    return _RECORDED if held == (HOLD,) else held


def _gap_before(numbers: Numbers, places: Sequence[int]) -> float | None:
    gaps = numbers.gaps_us
    found = [gaps[place - 1] for place in places if 0 < place <= len(gaps)]
    return median(found) if found else None


def cold_start(numbers: Numbers) -> Advice | Nothing:
    """Check ADV-4: only the first inference is slow. It uses rows of power-up, or the time of the first inference."""
    measured = numbers.measurement
    ups = _ups(numbers)
    if ups is None:
        return _slow_first(numbers)
    if measured.averaged:
        return _average_moved(numbers)
    if ups.inferences == 1 and ups.at:
        only = f"Power on takes {time(ups.cold_us)} in the only inference of the file: other inferences may differ."
        return _warm_up(numbers, ups.cold_us, only, Confidence.LOW)
    if not ups.at and len(measured.starts) < measured.count:
        # The row of the first inference may be missing.
        return _slow_first(numbers)
    if not _once(numbers, ups):
        said = f"{len(ups.at)} of {counted(ups.inferences, 'inference')} had a power-up"
        return Nothing(COLD_START, f"{said}{' (ADV-3)' if ups.at else ''}")
    which = "the first inference" if set(ups.at) <= set(measured.starts) else counted(len(ups.at), "inference")
    sessions = f" of {counted(len(measured.starts), 'session')}" if len(measured.starts) > 1 else ""
    said = f"Power on takes {time(ups.cold_us)} in {which}{sessions}, and {time(ups.warm_us)} in the others."
    return _warm_up(numbers, ups.cold_us, said, Confidence.HIGH)


def _average_moved(numbers: Numbers) -> Advice | Nothing:
    measured = numbers.measurement
    average_us = measured.columns[Event.POWER_ON][0]
    if Event.POWER_ON not in measured.least or Event.POWER_ON not in measured.most:
        said = f"power on takes {time(average_us)} on average"
        often = isinstance(_of_averages(numbers), Advice)
        doubt = "" if often or not powered_up(average_us, numbers.whole_us) else f"; {_NOT_TOLD}"
        return Nothing(COLD_START, f"{said}{' (ADV-3)' if often else doubt}")
    least_us, most_us = measured.least[Event.POWER_ON], measured.most[Event.POWER_ON]
    said = f"power on takes from {time(least_us)} to {time(most_us)}, {time(average_us)} on average"
    if not powered_up(most_us, numbers.whole_us):
        return Nothing(COLD_START, said)
    often = average_us - least_us >= _OF_AVERAGES * (most_us - least_us)
    if (often or powered_up(least_us, numbers.whole_us)) and not _is_of_one(numbers):
        return Nothing(COLD_START, f"{said} (ADV-3)")
    return _warm_up(numbers, most_us, f"{sentence(said)}.", Confidence.LOW)


def _slow_first(numbers: Numbers) -> Advice | Nothing:
    """Check whether the first inference of each session is slower than all others."""
    whole = numbers.whole
    times = [] if whole is None else list(numbers.columns[whole])
    starts = [place for place in numbers.measurement.starts if place < len(times)]
    others = sorted(each for place, each in enumerate(times) if place not in starts and not math.isnan(each))
    if whole is None or len(others) < 2 or any(math.isnan(times[place]) for place in starts):  # noqa: PLR2004
        return Nothing(COLD_START, "needs rows of HVX + HMX power on (3011), or several inferences")
    slowest_us = others[(9 * len(others)) // 10]
    first_us = min(times[place] for place in starts)
    said = f"the first inference takes {time(first_us)}, the others {time(median(others))} at the median"
    if first_us < _STANDS_OUT * slowest_us or first_us - slowest_us < _STANDS_OUT_US:
        return Nothing(COLD_START, said)
    return _warm_up(numbers, first_us - median(others), f"{sentence(said)}.", Confidence.MEDIUM)


def _warm_up(numbers: Numbers, lost_us: float, evidence: str, best: Confidence) -> Advice:
    share = lost_us / (numbers.total_us + lost_us) if numbers.total_us else 0.0
    do = ("run one inference under session.init(), before the first that a user waits for",)
    return Advice(COLD_START, numbers.confidence(best), (evidence,), do, share, gain=Gain.ONCE)
