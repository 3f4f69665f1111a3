"""One sustain time for all devices of a fleet, and what each device loses by it against its own best."""

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
from htppower.tuning.fleet.bins import EDGES_US, bin_of
from htppower.tuning.fleet.gap_histogram import PPM, GapHistogram, merged
from htppower.tuning.fleet.records import Cost
from htppower.tuning.margin import LARGEST_MARGIN
from htppower.tuning.reserve import LONGER_GAPS
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.profiles.sustain import Sustain
    from htppower.tuning.fleet.records import FileGaps, Question

# The bins whose edges a timer keeps.
_KEPT = tuple(
    place
    for place, edge_us in enumerate(EDGES_US)
    if not edge_us or SHORTEST_SUSTAIN_US <= edge_us <= LONGEST_SUSTAIN_US
)


@attrs.frozen
class Candidate:
    """A sustain time, and what it comes to.

    Attributes:
        sustain: the time in us, or how it is learnt.
        cost: what it comes to.
    """

    sustain: Sustain
    cost: Cost

    __repr__ = field_repr


@attrs.frozen
class Device:
    """What the sustain time of all comes to on one device.

    Attributes:
        path: its trace file.
        gaps: how many it has.
        cost: what the sustain time of all comes to.
        best: the fixed one that would have been best on this device alone.
    """

    path: str
    gaps: int
    cost: Cost
    best: Candidate

    __repr__ = field_repr

    @property
    def loss_us(self) -> int:
        """How much more it costs than its own best, in us; below 0 where a learnt one costs less than any fixed."""
        return self.cost.cost_us - self.best.cost.cost_us

    @property
    def loss(self) -> float:
        """The same as a share of its own best's cost; infinite where that is 0."""
        if not self.best.cost.cost_us:
            return math.inf if self.loss_us else 0.0
        return self.loss_us / self.best.cost.cost_us


@attrs.frozen
class Settled:
    """What is best for all devices together.

    Attributes:
        chosen: the sustain time that costs least over all of them, of those that keep to the share of cold starts.
        keeps: whether it keeps to that share; where none does, it is the one with the fewest cold starts.
        fixed: the best fixed one.
        learnt: what each one that is learnt comes to.
        vendors, at_once: what 300 ms come to, and lowering at once.
        own: what it would come to if each device had its own best.
        clairvoyant_us: what it would cost whoever knows each gap when it begins.
        gaps: those of all.
        devices: what each device loses, those that lose most first.
        gap_us: the longest gap that the chosen time stays up for even if all gaps grow so far that it lasts just that
            time; up to there it keeps to what it must, and costs about as little. None if no time is fixed.
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

    __repr__ = field_repr


@attrs.frozen
class Aim:
    """What a sustain time must keep to.

    Attributes:
        most_cold_ppm: the share of all inferences that may wait for a raise, in millionths; None is any. The first of
            each session does, whatever is chosen.
        most_us: the longest fixed time, in us.
        within: how much more than the least cost a fixed time with a larger margin may cost, as a share; with 0 the
            cheapest is chosen.
    """

    most_cold_ppm: int | None = None
    most_us: int = LONGEST_SUSTAIN_US
    within: float = 0.0

    __repr__ = field_repr

    def most_cold(self, answers: Iterable[FileGaps]) -> int | None:
        """Return how many gaps may end in a cold start, below 0 where the first inferences alone are too many."""
        if self.most_cold_ppm is None:
            return None
        counts = [(each.inferences, each.sessions) for each in answers]
        inferences, firsts = map(sum, zip(*counts, strict=True))
        return inferences * self.most_cold_ppm // PPM - firsts


ANY = Aim()


def settle(answers: Sequence[FileGaps], question: Question, aim: Aim = ANY) -> Settled:
    """Return the sustain time that costs least over all files.

    A fixed one is 0 or an edge of a bin, from 20 ms (rule SUS-1) to an hour. Its cost is at most 15/14 of that of the
    best fixed one in that range: with t for that one and B for the break-even time, at most 1 + t / (14 (t + B)) times.

    Args:
        answers: of all files.
        question: what they were asked.
        aim: what it must keep to.
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
        # An edge of the bins, so that what it costs is exact.
        vendors=fixed(every, question.break_even_us, VENDOR_SUSTAIN_US),
        at_once=fixed(every, question.break_even_us, 0),
        own=functools.reduce(operator.add, (each.best.cost for each in devices), Cost(0, 0)),
        clairvoyant_us=sum(each.clairvoyant_us for each in answers),
        gaps=every,
        devices=tuple(sorted(devices, key=lambda each: (-each.loss, each.path))),
        gap_us=gap_us if chosen is best and best_keeps else None,
    )


def fixed(gaps: GapHistogram, break_even_us: int, time_out_us: int) -> Candidate:
    """Return what a fixed sustain time comes to.

    Raises:
        ValueError: it is no edge of a bin, so that its cost is not known exactly.
    """
    return _candidate(EDGES_US.index(time_out_us), gaps.costs_us(break_even_us), gaps.beyond())


def best_fixed(
    gaps: GapHistogram, break_even_us: int, most_cold: int | None = None, most_us: int = LONGEST_SUSTAIN_US
) -> tuple[Candidate, bool]:
    """Return the cheapest fixed sustain time, and the shortest of several.

    Args:
        gaps: the gaps.
        break_even_us: what a cold start costs.
        most_cold: how many gaps may end in one; None is any number.
        most_us: the longest time; 0 and more.

    Returns:
        The time, and whether so few do: where no time brings that about, it is the one with the fewest cold starts.
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
    """Return the fixed time that is furthest from a cliff, whether it keeps to the share, and a gap that it outlasts.

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
    """Return the order of candidates: by cost, then by cold starts."""
    return candidate.cost.cost_us, candidate.cost.cold_starts
