"""Chooses a sustain time for all devices of a fleet, and compares it with the best time of each device."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.sustain import LONGEST_SUSTAIN_US, VENDOR_SUSTAIN_US
from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.fleet.bins import EDGES_US, bin_of
from htppower.tools.tuning.fleet.gap_histogram import PPM, GapHistogram, merged
from htppower.tools.tuning.fleet.records import Cost
from htppower.tools.tuning.margin import LARGEST_MARGIN
from htppower.tools.tuning.reserve import LONGER_GAPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.fleet.records import FileGaps, Question

# The bins whose lower edges are valid sustain times.
_KEPT = tuple(
    place
    for place, edge_us in enumerate(EDGES_US)
    if not edge_us or SHORTEST_SUSTAIN_US <= edge_us <= LONGEST_SUSTAIN_US
)


@attrs.frozen
class Candidate:
    """A sustain time with its cost.

    Attributes:
        sustain: the time in us, or how it is learnt.
        cost: the cost.
    """

    sustain: Sustain
    cost: Cost


@attrs.frozen
class Device:
    """The result of the chosen sustain time on one device.

    Attributes:
        path: the trace file of the device.
        gaps: how many gaps it has.
        cost: the cost of the chosen sustain time.
        best: the best fixed time for this device alone.
    """

    path: str
    gaps: int
    cost: Cost
    best: Candidate

    @property
    def loss_us(self) -> int:
        """The extra cost over the device's own best, in us; negative if a learnt time is cheaper than any fixed."""
        return self.cost.cost_us - self.best.cost.cost_us

    @property
    def loss(self) -> float:
        """The same as a share of the cost of the device's own best; infinite if that cost is 0."""
        if not self.best.cost.cost_us:
            return math.inf if self.loss_us else 0.0
        return self.loss_us / self.best.cost.cost_us


@attrs.frozen
class Settled:
    """The best sustain time for all devices together, and values to compare it with.

    Attributes:
        chosen: the cheapest sustain time that keeps to the share of cold starts; if none does, the time with the fewest
            cold starts.
        keeps: whether ``chosen`` keeps to that share.
        fixed: the best fixed time.
        learnt: the learnt times.
        vendors, at_once: the vendor's 300 ms, and lowering at once.
        own: the cost if each device had its own best time.
        clairvoyant_us: the lowest possible cost, of a choice that knows each gap in advance.
        gaps: the gaps of all devices.
        devices: the results of the devices, the largest losses first.
        gap_us: the shortest time that is about as cheap as the chosen time, and keeps to the share. Gaps of this length
            may grow to the chosen time before the choice changes. None if the chosen time is learnt or has no margin.
    """

    chosen: Candidate
    keeps: bool
    fixed: Candidate
    learnt: tuple[Candidate, ...]
    vendors: Candidate
    at_once: Candidate
    own: Cost
    clairvoyant_us: int
    gaps: GapHistogram
    devices: tuple[Device, ...]
    gap_us: int | None = None


@attrs.frozen
class Aim:
    """The limits of a sustain time.

    Attributes:
        most_cold_ppm: the share of all inferences that may wait for a raise, in millionths; None is any. The first
            inference of each session always waits.
        most_us: the longest fixed time, in us.
        within: how much more than the least cost a fixed time with a larger margin may cost, as a share; with 0 the
            cheapest is chosen.
    """

    most_cold_ppm: int | None = None
    most_us: int = LONGEST_SUSTAIN_US
    within: float = 0.0

    def most_cold(self, answers: Iterable[FileGaps]) -> int | None:
        """Return how many gaps may end in a cold start; negative if the first inferences alone are too many."""
        if self.most_cold_ppm is None:
            return None
        counts = [(each.inferences, each.sessions) for each in answers]
        inferences, firsts = map(sum, zip(*counts, strict=True))
        return inferences * self.most_cold_ppm // PPM - firsts


ANY = Aim()


def settle(answers: Sequence[FileGaps], question: Question, aim: Aim = ANY) -> Settled:
    """Return the sustain time that costs least over all files.

    A fixed time is 0 or an edge of a bin, from 20 ms (rule SUS-1) to an hour. It costs at most 15/14 times as much as
    the best fixed time t in that range: with the break-even time B, at most 1 + t / (14 (t + B)) times as much.

    Args:
        answers: the answers of all files.
        question: the question.
        aim: the limits.
    """
    every = merged(each.gaps for each in answers)
    most_cold = aim.most_cold(answers)
    best, best_keeps, gap_us = _with_margin(every, question.break_even_us, most_cold, aim)
    learnt = tuple(
        Candidate(sustain, functools.reduce(operator.add, (each.learnt[place] for each in answers), Cost(0, 0)))
        for place, sustain in enumerate(question.learnt)
    )
    keeping = [each for each in learnt if most_cold is None or each.cost.cold_starts <= most_cold]
    cheapest = min(keeping, key=_costs, default=None)
    chosen = best
    # At the same cost, a fixed time with a margin is preferred to a learnt time.
    if cheapest is not None and (
        not best_keeps
        or (_costs(cheapest) < _costs(best) and cheapest.cost.cost_us * (1 + aim.within) <= best.cost.cost_us)
    ):
        chosen = cheapest
    devices = tuple(_devices(answers, question, chosen, aim))
    return Settled(
        chosen,
        keeps=best_keeps or chosen is cheapest,
        fixed=best,
        learnt=learnt,
        # 300 ms is an edge of the bins, so its cost is exact.
        vendors=fixed(every, question.break_even_us, VENDOR_SUSTAIN_US),
        at_once=fixed(every, question.break_even_us, 0),
        own=functools.reduce(operator.add, (each.best.cost for each in devices), Cost(0, 0)),
        clairvoyant_us=sum(each.clairvoyant_us for each in answers),
        gaps=every,
        devices=tuple(sorted(devices, key=lambda each: (-each.loss, each.path))),
        gap_us=gap_us if chosen is best and best_keeps else None,
    )


def fixed(gaps: GapHistogram, break_even_us: int, time_out_us: int) -> Candidate:
    """Return a fixed sustain time with its cost.

    Raises:
        ValueError: the time is not an edge of a bin, so its exact cost is not known.
    """
    return _candidate(EDGES_US.index(time_out_us), gaps.costs_us(break_even_us), gaps.beyond())


def best_fixed(
    gaps: GapHistogram, break_even_us: int, most_cold: int | None = None, most_us: int = LONGEST_SUSTAIN_US
) -> tuple[Candidate, bool]:
    """Return the cheapest fixed sustain time; if several cost the same, the shortest.

    Args:
        gaps: the gaps.
        break_even_us: the cost of a cold start.
        most_cold: how many gaps may end in a cold start; None is any number.
        most_us: the longest time; 0 or more.

    Returns:
        The time, and whether it keeps to ``most_cold``. If no time does, the time with the fewest cold starts.
    """
    costs_us, beyond = gaps.costs_us(break_even_us), gaps.beyond()
    kept = _KEPT[: bisect_right(_KEPT, bin_of(most_us))]
    # The longer a time is, the fewer gaps are beyond it.
    first = 0 if most_cold is None else bisect_left(kept, -most_cold, key=lambda place: -beyond[place])
    if first < len(kept):
        return _candidate(min(kept[first:], key=costs_us.__getitem__), costs_us, beyond), True
    fewest = min(kept, key=lambda place: (beyond[place], costs_us[place]))
    return _candidate(fewest, costs_us, beyond), False


def _with_margin(
    gaps: GapHistogram, break_even_us: int, most_cold: int | None, aim: Aim
) -> tuple[Candidate, bool, int | None]:
    """Return the fixed time that is furthest from a cliff, whether it keeps to the share, and the start of its stretch.

    The candidates cost about as little as the cheapest time, and keep to the share of cold starts even if gaps are
    10 % longer. Neighbouring candidates form a stretch. The result is furthest from the ends of its stretch.
    """
    least, keeps = best_fixed(gaps, break_even_us, most_cold, aim.most_us)
    if not aim.within or not keeps:
        return least, keeps, None
    costs_us, beyond = gaps.costs_us(break_even_us), gaps.beyond()
    kept = [place for place in _KEPT if EDGES_US[place] <= aim.most_us]
    if most_cold is not None:
        reserved = [
            place for place in kept if beyond[bin_of(max(0, round(EDGES_US[place] / LONGER_GAPS)))] <= most_cold
        ]
        kept = reserved or [place for place in kept if beyond[place] <= most_cold]
    most_us = (1 + aim.within) * min(costs_us[place] for place in kept)
    runs = [
        [place for _, place in run]
        for near, run in itertools.groupby(enumerate(kept), key=lambda each: costs_us[each[1]] <= most_us)
        if near
    ]
    found = [(_margin(place, run, kept[-1]), -costs_us[place], -place, run[0]) for run in runs for place in run]
    _, _, place, shortest = max(found)
    return _candidate(-place, costs_us, beyond), True, EDGES_US[shortest]


def _margin(place: int, run: Sequence[int], last: int) -> float:
    """Return the factor that gaps may grow or shrink by until a time leaves its stretch."""
    if not EDGES_US[place]:
        return LARGEST_MARGIN
    shortest_us = EDGES_US[run[0]] or SHORTEST_SUSTAIN_US
    longest_us = math.inf if run[-1] == last else EDGES_US[run[-1]]
    return min(EDGES_US[place] / shortest_us, longest_us / EDGES_US[place], LARGEST_MARGIN)


def _candidate(place: int, costs_us: Sequence[int], beyond: Sequence[int]) -> Candidate:
    return Candidate(EDGES_US[place], Cost(costs_us[place], beyond[place]))


def _devices(answers: Iterable[FileGaps], question: Question, chosen: Candidate, aim: Aim) -> Iterator[Device]:
    for each in answers:
        best, _ = best_fixed(each.gaps, question.break_even_us, aim.most_cold([each]), aim.most_us)
        if isinstance(chosen.sustain, int):
            cost = fixed(each.gaps, question.break_even_us, chosen.sustain).cost
        else:
            cost = each.learnt[question.learnt.index(chosen.sustain)]
        yield Device(each.file.path, each.gaps.gaps, cost, best)


def _costs(candidate: Candidate) -> tuple[int, int]:
    """Return a sort key for candidates: the cost, then the cold starts."""
    return candidate.cost.cost_us, candidate.cost.cold_starts
