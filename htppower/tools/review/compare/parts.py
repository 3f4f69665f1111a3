"""The difference of two measurements: of the whole, and of the parts that both have.

Each part is the time between two neighbouring levels, run by run: the host outside the call, FastRPC, the HTP outside
the graph, waiting, and the graph. If both have cycles, the graph's part is split into the clock and the work. Medians
of parts do not add up to the median of the whole exactly: what is left over is a number of its own.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import attrs

from htppower.errors import HtpPowerError
from htppower.tools.report.words import three_digits
from htppower.tools.review.advice.measurement import MISSING, YIELD_TIMES, Event
from htppower.tools.review.compare.difference import Difference, Differences, Where, limits
from htppower.tools.review.compare.side import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.compare.sample import Sample

# Each level lies within the one before. The time between two of them is in these places.
_CHAIN = {
    Event.NETRUN: Where.HOST,
    Event.QNN: Where.HOST,
    Event.RPC: Where.FASTRPC,
    Event.QNN_ACCELERATOR: Where.OUTSIDE,
    Event.ACCELERATOR: Where.WAITING,
    Event.COMPUTE: Where.WORK,
}
# Whole inferences as hosts see them: each tool measures around a little more or less.
HOST_WHOLES = (Event.QNN, Event.RPC, Event.NETRUN, Event.INFERENCE)
_WHOLES = (Event.QNN, Event.NETRUN, Event.INFERENCE, Event.RPC, Event.QNN_ACCELERATOR, Event.ACCELERATOR, Event.COMPUTE)
# The cycles from the begin to the end of a level, or of its ops: their ratio to its time follows the clock.
_CYCLES = {Event.COMPUTE: Event.CYCLES, Event.ACCELERATOR: Event.TIMELINE}
# For graphs of so different work, the parts of the clock and the work would be large numbers that cancel each other.
_ALIKE = 3
# Rates are compared as the time for a token.
_OF_QUERIES = {
    Event.TOKEN_RATE: "a token of the answer",
    Event.PROMPT_RATE: "a token of the prompt",
    Event.FIRST_TOKEN: "the first token",
}
_ALSO = {
    "power-up of HVX and HMX": (Event.POWER_ON,),
    "wait for VTCM": (Event.VTCM,),
    "yields to other graphs": YIELD_TIMES,
}


def differences(a: Measurement, b: Measurement) -> Differences:
    """Return what differs between two measurements.

    Raises:
        HtpPowerError: they have no time in common, such as queries of a language model and runs of a graph.
    """
    sides = (Side(a, "A"), Side(b, "B"))
    if any(Event.TOKEN_RATE in each.columns or Event.FIRST_TOKEN in each.columns for each in (a, b)):
        return _of_queries(sides)
    common = next((event for event in _WHOLES if all(side.has(event) for side in sides)), None)
    found = [next((event for event in _WHOLES if side.has(event)), None) for side in sides]
    of_a, of_b = (common, common) if common else found
    if of_a is None or of_b is None:
        raise HtpPowerError(f"{(a if of_a is None else b).name}: has no time of an inference to compare")
    if common is None and not (of_a in HOST_WHOLES and of_b in HOST_WHOLES):
        raise HtpPowerError(
            f"{a.name} has {of_a.printed}, and {b.name} has {of_b.printed}: no time is in both; profile one of them "
            "with qnn-net-run or ONNX Runtime's provider at the level detailed"
        )
    columns = tuple(side.column(event) for side, event in zip(sides, (of_a, of_b), strict=True))
    samples = tuple(side.sample(column, whole=True) for side, column in zip(sides, columns, strict=True))
    name = "the whole inference" if common in (None, Event.INFERENCE) else common.printed
    whole, ratios = _whole(name, sides, samples)
    parts = tuple(_parts(sides, _levels(sides, common), whole))
    if len(parts) == 1 or any(math.isnan(part.by_us) for part in parts):
        # One part is the whole, and a part that no run has shows nothing of the others.
        parts = ()
    rest_us = whole.by_us - math.fsum(part.by_us for part in parts) if parts else 0.0
    also = tuple(_also(sides)) if common else ()
    return Differences(whole, of_a, of_b, *ratios, parts, rest_us, also, (samples[0], samples[1]))


def _levels(sides: tuple[Side, Side], common: Event | None) -> list[Event]:
    """Return the levels that both have, from the whole inwards."""
    if common not in _CHAIN:
        return []
    order = list(_CHAIN)
    inner = order[order.index(common) :]
    return [event for event in inner if all(side.has(event) for side in sides)]


def _whole(
    name: str, sides: tuple[Side, Side], samples: Sequence[Sample], wheres: tuple[Where, ...] = ()
) -> tuple[Difference, tuple[float | None, float | None]]:
    """Return the difference of the whole, and the interval of its ratio."""
    drawn = [side.medians(sample) for side, sample in zip(sides, samples, strict=True)]
    has_interval = all(sample.has_interval for sample in samples)
    whole = _difference(name, wheres, [sample.median for sample in samples], drawn, has_interval=has_interval)
    if not whole.a_us > 0 or not whole.b_us > 0:
        raise HtpPowerError(f"{name} is 0 us in one of the files: there is nothing to compare")
    ratios = sorted(b / a for a, b in zip(*drawn, strict=True) if a > 0)
    return attrs.evolve(whole, share=1.0 if whole.shown else 0.0), limits(ratios) if has_interval else (None, None)


def _difference(
    name: str,
    wheres: tuple[Where, ...],
    middles: Sequence[float],
    drawn: Sequence[Sequence[float]],
    *,
    has_interval: bool,
    whole: Difference | None = None,
) -> Difference:
    low, high = limits(sorted(b - a for a, b in zip(*drawn, strict=True))) if has_interval else (None, None)
    by_us = middles[1] - middles[0]
    share = by_us / whole.by_us if whole is not None and whole.shown else 0.0
    return Difference(name, wheres, middles[0], middles[1], by_us, low, high, share)


def _parts(sides: tuple[Side, Side], levels: Sequence[Event], whole: Difference) -> list[Difference]:
    order = list(_CHAIN)
    found = []
    for outer, inner in itertools.pairwise((*levels, None)):
        if outer is None:
            continue
        end = len(order) if inner is None else order.index(inner)
        wheres = tuple(dict.fromkeys(_CHAIN[event] for event in order[order.index(outer) : end]))
        columns = [side.within(outer, inner) for side in sides]
        if inner is None and _has_cycles(sides, outer):
            found += _clock_and_work(sides, outer, wheres[:-1], whole)
        else:
            name = "HTP, computing" if wheres == (Where.WORK,) else _joined(wheres)
            found.append(_of_columns(name, wheres, sides, columns, whole))
    return found


def _joined(wheres: Sequence[Where]) -> str:
    """Return the name of a part that has several places: ``host + FastRPC``, ``HTP, waiting + work``."""
    return " + ".join(wheres).replace(" + HTP, ", " + ") if wheres[0].startswith("HTP") else " + ".join(wheres)


def _of_columns(
    name: str,
    wheres: tuple[Where, ...],
    sides: tuple[Side, Side],
    columns: Sequence[Sequence[float]],
    whole: Difference | None,
) -> Difference:
    samples = [side.sample(column) for side, column in zip(sides, columns, strict=True)]
    drawn = [side.medians(sample) for side, sample in zip(sides, samples, strict=True)]
    middles = [sample.median for sample in samples]
    has_interval = all(sample.has_interval for sample in samples)
    return _difference(name, wheres, middles, drawn, has_interval=has_interval, whole=whole)


def _has_cycles(sides: tuple[Side, Side], event: Event) -> bool:
    cycles = _CYCLES.get(event)
    return cycles is not None and all(side.has(cycles) for side in sides)


def _clock_and_work(
    sides: tuple[Side, Side], event: Event, more: tuple[Where, ...], whole: Difference
) -> list[Difference]:
    """Return the graph's time as the part of the clock and the part of the work.

    A time is cycles over their rate. The clock's part is the difference of the rates for the mean number of cycles, and
    the work's part is the difference of the cycles at the mean of the rates; together they are all of it.
    """
    rates = [side.sample(side.ratio(_CYCLES[event], event)) for side in sides]
    cycles = [side.sample(side.column(_CYCLES[event])) for side in sides]
    has_interval = all(sample.has_interval for sample in (*rates, *cycles))
    drawn = [
        side.medians(sample, of_cycles=samples is cycles)
        for samples in (rates, cycles)
        for side, sample in zip(sides, samples, strict=True)
    ]
    a_rate, b_rate, a_cycles, b_cycles = (sample.median for sample in (*rates, *cycles))
    known = all(each > 0 for each in (a_rate, b_rate, a_cycles, b_cycles))
    if not known or max(a_cycles, b_cycles) > _ALIKE * min(a_cycles, b_cycles):
        return [
            _of_columns("HTP, computing", (*more, Where.WORK), sides, [side.column(event) for side in sides], whole)
        ]
    unit = " MHz" if _CYCLES[event] is Event.TIMELINE else "/us"
    said = {
        Where.CLOCK: (f"{a_rate:.0f}{unit}", f"{b_rate:.0f}{unit}"),
        Where.WORK: (f"{three_digits(a_cycles / 1e6)} M", f"{three_digits(b_cycles / 1e6)} M"),
    }
    found = []
    for where, part in ((Where.CLOCK, _of_clock), (Where.WORK, _of_work)):
        by_us = part(a_rate, b_rate, a_cycles, b_cycles)
        low, high = limits(sorted(itertools.starmap(part, zip(*drawn, strict=True)))) if has_interval else (None, None)
        wheres = (where,) if where is Where.CLOCK else (*more, where)
        shown = (a_cycles / a_rate, b_cycles / b_rate) if where is Where.CLOCK else (MISSING, MISSING)
        share = by_us / whole.by_us if whole.shown else 0.0
        found.append(Difference(_joined(wheres), wheres, *shown, by_us, low, high, share, said[where]))
    return found


def _of_clock(a_rate: float, b_rate: float, a_cycles: float, b_cycles: float) -> float:
    return (a_cycles + b_cycles) / 2 * (1 / b_rate - 1 / a_rate)


def _of_work(a_rate: float, b_rate: float, a_cycles: float, b_cycles: float) -> float:
    return (b_cycles - a_cycles) * (1 / b_rate + 1 / a_rate) / 2


def _also(sides: tuple[Side, Side]) -> list[Difference]:
    """Return the known reasons for waiting that both have. They lie within the parts."""
    found = []
    for name, events in _ALSO.items():
        both = [event for event in events if all(side.has(event) for side in sides)]
        if both:
            columns = [side.column(*both) for side in sides]
            found.append(_of_columns(name, (Where.WAITING,), sides, columns, None))
    return [each for each in found if not math.isnan(each.by_us)]


def _of_queries(sides: tuple[Side, Side]) -> Differences:
    """Return what differs between queries to language models, for each token."""
    common = [event for event in _OF_QUERIES if all(side.has(event) for side in sides)]
    if not common:
        names = " and ".join(side.measured.name for side in sides)
        raise HtpPowerError(f"{names} have no rate of tokens in common: compare queries with queries")
    found = []
    for event in common:
        columns = [_per_token(side, event) for side in sides]
        samples = [side.sample(column) for side, column in zip(sides, columns, strict=True)]
        found.append((_whole(_OF_QUERIES[event], sides, samples, (Where.LANGUAGE,)), samples))
    (whole, ratios), samples = found[0]
    also = tuple(attrs.evolve(each, share=0.0) for (each, _), _ in found[1:])
    return Differences(whole, common[0], common[0], *ratios, (), 0.0, also, (samples[0], samples[1]))


def _per_token(side: Side, event: Event) -> list[float]:
    column = side.column(event)
    if event is Event.FIRST_TOKEN:
        return column
    return [1e6 / rate for rate in column if rate > 0] or [MISSING]
