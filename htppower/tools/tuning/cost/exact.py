"""The exact outcome of a session under each of many time-outs, with one search for each time-out.

A block that waits for a raise ends later, which shortens the gap after it. So whether a gap is within a time-out or
beyond it may depend on whether the block before it is cold. This concerns only the gaps whose length is between the
time-out and the time-out plus the delay; they are neighbours if gaps are sorted by length. All other gaps are counted
and added up by a search. In a row of such gaps in the recording, each gap is beyond the time-out exactly if the gap
before it is not. If rows are short, the time-outs that a gap is beyond for this reason form intervals, and the
intervals are counted and added up by a search, too.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.cost.outcome import Outcomes
from htppower.tools.tuning.cost.stepwise import run_from_cold
from htppower.tools.tuning.cost.sums import Alternation, Between, Beyond, Keys, distinct_time_outs_us

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from htppower.tools.tuning.cost.blocks import Blocks
    from htppower.tools.tuning.cost.outcome import Run

# How many gaps are examined at once, to bound the memory.
_TOGETHER = 1 << 17
# If more than one gap in this many is near a time-out, examining all gaps is faster than sorting those.
_DENSE = 16


@attrs.frozen(eq=False)
class Bounds:
    """Bounds of the outcome of each time-out, found by a search alone.

    Attributes:
        fewest_cold: a lower bound of the inferences that wait for a raise.
        most_lowered_us: an upper bound of how long votes are lowered between the first inference and the last.
        least_busy_us: a lower bound of how long inferences run.
        least_waits_us: a lower bound of the sum of all delays.
    """

    fewest_cold: NDArray[np.int64]
    most_lowered_us: NDArray[np.int64]
    least_busy_us: NDArray[np.int64]
    least_waits_us: NDArray[np.int64]


class ExactTimeOuts:
    """The outcomes of a session under the time-outs that a timer keeps.

    Args:
        blocks: the blocks of the session.

    Attributes:
        blocks: the blocks of the session.
        shortened_us: the length of each gap behind a cold block.
        shortened: the same lengths as keys.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        gaps, late = blocks.gaps_us, blocks.late_us[:-1]
        self._gaps, self._late = gaps, late
        self.shortened_us = gaps - late
        self._most_late = int(late.max(initial=0))
        behind = {"busy": blocks.cold_busy_us[1:], "waits": blocks.waits_us[1:]}
        self._weights = behind
        self._lengths = Keys(gaps)
        # If all blocks have the same delay, the gaps and the shortened gaps have the same order.
        same = bool((late == self._most_late).all())
        self.shortened = Keys(self.shortened_us, like=self._lengths if same else None)

    @functools.cached_property
    def _surely(self) -> Beyond:
        """Gaps that are beyond a time-out even behind a cold block."""
        return Beyond(self.shortened, {"gaps": self._gaps, **self._weights})

    @functools.cached_property
    def _pairs(self) -> Beyond:
        """Gaps that are surely beyond a time-out, with a cold block before them; the first block is always cold."""
        before = np.concatenate((self.shortened_us[:1], np.minimum(self.shortened_us[1:], self.shortened_us[:-1])))
        return Beyond(Keys(before), {"late": self._late})

    @functools.cached_property
    def alternation(self) -> Alternation | None:
        """The time-outs that gaps are beyond because the block before is not cold; None if there are too many."""
        return Alternation.of(self._gaps, self.shortened_us)

    @functools.cached_property
    def _between(self) -> Between | None:
        found = self.alternation
        if found is None:
            return None
        values = {name: weights[found.places] for name, weights in self._weights.items()}
        return Between(found.above_us, found.upto_us, {"gaps": self._gaps[found.places], **values})

    @functools.cached_property
    def _pairs_between(self) -> Between:
        """Gaps that are surely beyond a time-out, each behind a gap of ``alternation`` that is beyond it."""
        found = self.alternation
        if found is None:
            raise ValueError("there are too many intervals")
        followed = found.places + 1 < self._gaps.size
        behind = found.places[followed] + 1
        above, upto = found.above_us[followed], np.minimum(found.upto_us[followed], self.shortened_us[behind])
        both = above < upto
        return Between(above[both], upto[both], {"late": self._late[behind[both]]})

    @functools.cached_property
    def _perhaps(self) -> Beyond:
        """Gaps that may be beyond a time-out; only negative changes of the busy time count, for a lower bound."""
        fewer = np.minimum(self._weights["busy"], 0)
        return Beyond(self._lengths, {"gaps": self._gaps, "busy": fewer})

    def time_outs_us(self, most_us: int) -> NDArray[np.int64]:
        """Return time-outs of 20 ms or more; for any price of calls, latency and energy, one of them is the best.

        Each is just above the length of a gap behind a cold block, or behind a warm one.
        """
        ends = np.concatenate((self._lengths.in_order, self.shortened.in_order))
        found = distinct_time_outs_us(ends, most_us, SHORTEST_SUSTAIN_US)
        return found[found >= SHORTEST_SUSTAIN_US]

    def outcomes(self, time_outs_us: NDArray[np.int64]) -> Outcomes:
        """Return the outcome of each time-out; each is 20 ms or more."""
        blocks, surely = self.blocks, self._surely
        counts = surely.count(time_outs_us)
        lowered = surely.sum("gaps", time_outs_us) - counts * time_outs_us - self._pairs.sum("late", time_outs_us)
        sums = {name: surely.sum(name, time_outs_us) for name in self._weights}
        # A cold last block ends later.
        last_cold = np.ones(time_outs_us.size, np.bool_)
        if self._gaps.size:
            last_cold = self.shortened_us[-1] >= time_outs_us
        if self._between is not None and self.alternation is not None:
            between, found = self._between, self.alternation
            more = between.count(time_outs_us)
            counts += more
            lowered += between.sum("gaps", time_outs_us) - more * time_outs_us
            lowered -= self._pairs_between.sum("late", time_outs_us)
            for name in self._weights:
                sums[name] += between.sum(name, time_outs_us)
            last = found.places == self._gaps.size - 1
            last_cold = last_cold | (Between(found.above_us[last], found.upto_us[last], {}).count(time_outs_us) > 0)
        else:
            self._add_row_by_row(time_outs_us, counts, lowered, sums, last_cold)
        begin = int(blocks.workload.periods.begins_us[0])
        end = int(blocks.workload.periods.ends_us[-1]) + np.where(last_cold, int(blocks.late_us[-1]), 0)
        return Outcomes(
            tail_us=time_outs_us,
            cold=counts + 1,
            raised_us=end + time_outs_us - begin - lowered,
            busy_us=sums["busy"] + int(blocks.cold_busy_us[0]) + blocks.warm_busy_us,
            waits_us=sums["waits"] + int(blocks.waits_us[0]),
        )

    def _add_row_by_row(
        self,
        time_outs_us: NDArray[np.int64],
        counts: NDArray[np.int64],
        lowered: NDArray[np.int64],
        sums: dict[str, NDArray[np.int64]],
        last_cold: NDArray[np.bool_],
    ) -> None:
        """Examine the gaps that are not sure, and add those that are beyond their time-out."""
        for part, owners, places, cold in self.either(time_outs_us):
            beyond = np.flatnonzero(cold)
            chosen, whose = places[beyond], owners[beyond]
            size = part.stop - part.start
            counts[part] += np.bincount(whose - part.start, minlength=size)
            more = self._gaps[chosen] - time_outs_us[whose]
            # The next gap may be surely beyond the time-out.
            behind = np.minimum(chosen + 1, self._gaps.size - 1)
            follows = (chosen + 1 < self._gaps.size) & (self.shortened_us[behind] >= time_outs_us[whose])
            more = more - np.where(follows, self._late[behind], 0)
            np.add.at(lowered, whose, more)
            for name, weights in self._weights.items():
                np.add.at(sums[name], whose, weights[chosen])
            last_cold[whose[chosen == self._gaps.size - 1]] = True

    def bounds(self, time_outs_us: NDArray[np.int64]) -> Bounds:
        """Return bounds of the outcome of each time-out."""
        blocks, perhaps = self.blocks, self._perhaps
        most_cold = perhaps.count(time_outs_us)
        return Bounds(
            self._surely.count(time_outs_us) + 1,
            perhaps.sum("gaps", time_outs_us) - most_cold * time_outs_us,
            blocks.warm_busy_us + int(blocks.cold_busy_us[0]) + perhaps.sum("busy", time_outs_us),
            int(blocks.waits_us[0]) + self._surely.sum("waits", time_outs_us),
        )

    def cold_blocks(self, time_out_us: int) -> NDArray[np.bool_]:
        """Return which blocks are cold under a time-out."""
        cold = np.concatenate((np.ones(1, np.bool_), self.shortened_us >= time_out_us))
        if self._most_late:
            places, either = self._either_of_all(time_out_us)
            cold[places + 1] = either
        return cold

    def outcome(self, time_out_us: int, cold: NDArray[np.bool_]) -> Outcomes:
        """Return the outcome of one time-out from its cold blocks, without the sums for all time-outs."""
        blocks = self.blocks
        periods = blocks.workload.periods
        lowered = np.flatnonzero(cold[1:])
        late = int(self._late[lowered][cold[lowered]].sum())
        lowered_us = int(self._gaps[lowered].sum()) - late - lowered.size * time_out_us
        end_us = int(periods.ends_us[-1]) + int(blocks.late_us[-1]) * int(cold[-1])
        raised_us = end_us + time_out_us - int(periods.begins_us[0]) - lowered_us
        busy_us = blocks.warm_busy_us + int(blocks.cold_busy_us[cold].sum())
        found = (time_out_us, lowered.size + 1, raised_us, busy_us, int(blocks.waits_us[cold].sum()))
        return Outcomes(*(np.array([each], np.int64) for each in found))

    def run(self, time_out_us: int) -> Run:
        """Return the run of the session under a time-out, inference by inference."""
        return run_from_cold(self.blocks.workload, self.blocks.first[self.cold_blocks(time_out_us)], time_out_us)

    def either(
        self, time_outs_us: NDArray[np.int64]
    ) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]]:
        """Yield the gaps that are beyond a time-out or not, depending on the block before, and whether they are.

        Each item covers a slice of the time-outs, and has three arrays: for each such gap, the place of its time-out,
        the place of the gap, and whether the gap is beyond the time-out.
        """
        if not self._most_late:
            return
        order, gaps = self._lengths.order, self._lengths.in_order
        low = np.searchsorted(gaps, time_outs_us)
        counts = np.searchsorted(gaps, time_outs_us + self._most_late) - low
        many = counts * _DENSE > self._gaps.size
        for each in np.flatnonzero(many).tolist():
            places, cold = self._either_of_all(int(time_outs_us[each]))
            yield slice(each, each + 1), np.full(places.size, each), places, cold
        counts[many] = 0
        for part in _parts(counts):
            owners = np.repeat(np.arange(part.start, part.stop), counts[part])
            offsets = np.arange(owners.size) - np.repeat(np.cumsum(counts[part]) - counts[part], counts[part])
            places = order[low[owners] + offsets]
            either = self.shortened_us[places] < time_outs_us[owners]
            # Sort by time-out, then by place in the recording. The keys of two time-outs are never neighbours.
            width = self._gaps.size + 1
            keys = np.sort(owners[either] * width + places[either])
            owners, places = np.divmod(keys, width)
            if keys.size:
                yield part, owners, places, self._in_rows(keys, places, time_outs_us[owners])

    def _either_of_all(self, time_out_us: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the same for one time-out, by examining all gaps in the order of the recording, without sorting."""
        places = np.flatnonzero((self._gaps >= time_out_us) & (self.shortened_us < time_out_us))
        return places, self._in_rows(places, places, time_out_us)

    def _in_rows(
        self, keys: NDArray[np.int64], places: NDArray[np.int64], time_outs_us: NDArray[np.int64] | int
    ) -> NDArray[np.bool_]:
        """Return whether each gap is beyond its time-out: it is if the gap before it is not."""
        begins_row = np.ones(keys.size, np.bool_)
        np.not_equal(np.diff(keys), 1, out=begins_row[1:])
        row_begin = np.maximum.accumulate(np.where(begins_row, np.arange(keys.size), 0))
        first = places[row_begin]
        cold_before = (first == 0) | (self.shortened_us[first - 1] >= time_outs_us)
        odd = (np.arange(keys.size) - row_begin) % 2 == 1
        beyond: NDArray[np.bool_] = cold_before == odd
        return beyond


class Counter:
    """Adds up a number of each block that is cold under a time-out.

    Args:
        exact: the outcomes of the session.
        more: the number of each block, 0 or more.
    """

    def __init__(self, exact: ExactTimeOuts, more: NDArray[np.int64]) -> None:
        self._exact = exact
        self._more = more
        self._surely = Beyond(exact.shortened, {"more": more[1:]})
        self._between: Between | None = None
        if (found := exact.alternation) is not None:
            self._between = Between(found.above_us, found.upto_us, {"more": more[1:][found.places]})

    def at_least(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a lower bound of the sum under each time-out, by a search alone."""
        return int(self._more[0]) + self._surely.sum("more", time_outs_us)

    def sums(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum under each time-out."""
        sums = self.at_least(time_outs_us)
        if self._between is not None:
            return sums + self._between.sum("more", time_outs_us)
        for _, owners, places, cold in self._exact.either(time_outs_us):
            beyond = np.flatnonzero(cold)
            np.add.at(sums, owners[beyond], self._more[1:][places[beyond]])
        return sums


def _parts(counts: NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices of the counts, each with a sum of at most ``_TOGETHER``, or with a single larger count."""
    total = np.cumsum(counts)
    start = 0
    while start < counts.size:
        before = int(total[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + _TOGETHER, side="right")))
        yield slice(start, stop)
        start = stop
