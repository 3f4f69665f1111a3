"""What a session does under each of many time-outs, to the microsecond: a search for each, and few gaps looked at.

A block that waits for a raise ends later, which shortens the gap behind it. So a gap may be within a time-out or beyond
it, according to whether the block before it is cold. Such gaps lie between the time-out and the time-out and that
lateness, next to each other in the order of their lengths. All others are counted and added up by a search; in a row of
such gaps each is beyond the time-out exactly where the one before it is not. Where rows are short, the time-outs for
which that is so are intervals, which are counted and added up by a search, too.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tuning.cost.alternation import Alternation
from htppower.tuning.cost.curves import distinct_time_outs_us
from htppower.tuning.cost.outcome import Outcomes
from htppower.tuning.cost.stepwise import run_from_cold
from htppower.tuning.cost.sums import Between, Beyond

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from htppower.tuning.cost.blocks import Blocks
    from htppower.tuning.cost.outcome import Run

# So many gaps are looked at together, to bound the memory.
_TOGETHER = 1 << 17
# If more gaps than one in so many are near a time-out, it is quicker to look at all of them than to sort these.
_DENSE = 16


@attrs.frozen(eq=False)
class Bounds:
    """What is at least, or at most, of each of some time-outs, found by a search alone.

    Attributes:
        fewest_cold: how many inferences wait for a raise at least.
        most_lowered_us: how long the votes are lowered at most between the first inference and the last.
        least_busy_us: how long inferences run at least.
        least_waits_us: how much later they end, all together, at least.
    """

    fewest_cold: NDArray[np.int64]
    most_lowered_us: NDArray[np.int64]
    least_busy_us: NDArray[np.int64]
    least_waits_us: NDArray[np.int64]


class ExactTimeOuts:
    """The time-outs of a session that a timer keeps.

    Args:
        blocks: the busy times that it may part.

    Attributes:
        blocks: the same.
        shortened_us: how long each gap is behind a block that is cold: at least.
        order_shortened: the places of these, from the shortest to the longest.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        gaps, late = blocks.gaps_us, blocks.late_us[:-1]
        self._gaps, self._late = gaps, late
        self.shortened_us = gaps - late
        self._most_late = int(late.max(initial=0))
        behind = {"busy": blocks.cold_busy_us[1:], "waits": blocks.waits_us[1:]}
        self._weights = behind
        self._order = np.argsort(gaps)
        self._sorted = gaps[self._order]
        # Where all blocks are as late, both have one order.
        same = bool((late == self._most_late).all())
        self.order_shortened = self._order if same else np.argsort(self.shortened_us)
        self._surely = Beyond(self.shortened_us, {"gaps": gaps, **behind}, self.order_shortened)

    @functools.cached_property
    def _pairs(self) -> Beyond:
        """Gaps beyond a time-out of which the block before is cold, too; that of the first gap is, always."""
        before = np.concatenate((self.shortened_us[:1], np.minimum(self.shortened_us[1:], self.shortened_us[:-1])))
        return Beyond(before, {"late": self._late})

    @functools.cached_property
    def alternation(self) -> Alternation | None:
        """The time-outs which gaps are beyond because of the block before; None where those are too many."""
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
        """Gaps that are surely beyond a time-out behind those that are so because of the block before them."""
        found = self.alternation
        if found is None:
            raise ValueError("the intervals are too many")
        followed = found.places + 1 < self._gaps.size
        behind = found.places[followed] + 1
        above, upto = found.above_us[followed], np.minimum(found.upto_us[followed], self.shortened_us[behind])
        both = above < upto
        return Between(above[both], upto[both], {"late": self._late[behind[both]]})

    @functools.cached_property
    def _perhaps(self) -> Beyond:
        """Gaps that may be beyond a time-out; of what they are followed by only what makes less of it counts."""
        fewer = np.minimum(self._weights["busy"], 0)
        return Beyond(self._gaps, {"gaps": self._gaps, "busy": fewer}, self._order)

    def time_outs_us(self, most_us: int) -> NDArray[np.int64]:
        """Return the time-outs of which one is best for any price of calls, latency and energy, from 20 ms on.

        Each just outlasts a gap, as it is behind a block that was cold, or was not.
        """
        ends = np.concatenate((self._sorted, self.shortened_us[self.order_shortened]))
        found = distinct_time_outs_us(ends, most_us, SHORTEST_SUSTAIN_US)
        return found[found >= SHORTEST_SUSTAIN_US]

    def outcomes(self, time_outs_us: NDArray[np.int64]) -> Outcomes:
        """Return what the session does under each time-out; each is 20 ms or more."""
        blocks, surely = self.blocks, self._surely
        counts = surely.count(time_outs_us)
        lowered = surely.sum("gaps", time_outs_us) - counts * time_outs_us - self._pairs.sum("late", time_outs_us)
        sums = {name: surely.sum(name, time_outs_us) for name in self._weights}
        # Whether the last block is cold, which ends later then.
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
        """Add to what is sure of each time-out the gaps that turn out beyond it."""
        for part, owners, places, cold in self.either(time_outs_us):
            beyond = np.flatnonzero(cold)
            chosen, whose = places[beyond], owners[beyond]
            size = part.stop - part.start
            counts[part] += np.bincount(whose - part.start, minlength=size)
            more = self._gaps[chosen] - time_outs_us[whose]
            # The one behind a gap that turns out beyond the time-out may be surely beyond it.
            behind = np.minimum(chosen + 1, self._gaps.size - 1)
            follows = (chosen + 1 < self._gaps.size) & (self.shortened_us[behind] >= time_outs_us[whose])
            more = more - np.where(follows, self._late[behind], 0)
            np.add.at(lowered, whose, more)
            for name, weights in self._weights.items():
                np.add.at(sums[name], whose, weights[chosen])
            last_cold[whose[chosen == self._gaps.size - 1]] = True

    def bounds(self, time_outs_us: NDArray[np.int64]) -> Bounds:
        """Return bounds of what the session does under each time-out."""
        blocks, perhaps = self.blocks, self._perhaps
        most_cold = perhaps.count(time_outs_us)
        return Bounds(
            self._surely.count(time_outs_us) + 1,
            perhaps.sum("gaps", time_outs_us) - most_cold * time_outs_us,
            blocks.warm_busy_us + int(blocks.cold_busy_us[0]) + perhaps.sum("busy", time_outs_us),
            int(blocks.waits_us[0]) + self._surely.sum("waits", time_outs_us),
        )

    def counter(self, more: NDArray[np.int64]) -> Counter:
        """Return what adds up, under a time-out, a number of each block that is cold."""
        return Counter(self, more)

    def cold_blocks(self, time_out_us: int) -> NDArray[np.bool_]:
        """Return which blocks are cold under a time-out."""
        cold = np.concatenate((np.ones(1, np.bool_), self.shortened_us >= time_out_us))
        for _, _, places, either in self.either(np.array([time_out_us])):
            cold[places + 1] = either
        return cold

    def run(self, time_out_us: int) -> Run:
        """Return what the session does under a time-out, inference by inference."""
        return run_from_cold(self.blocks.workload, self.blocks.first[self.cold_blocks(time_out_us)], time_out_us)

    def either(
        self, time_outs_us: NDArray[np.int64]
    ) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]]:
        """Yield the gaps that may be within their time-out or beyond it, and whether they are beyond it.

        Of some time-outs at once: which, and of each such gap the place of its time-out and its own.
        """
        if not self._most_late:
            return
        low = np.searchsorted(self._sorted, time_outs_us)
        counts = np.searchsorted(self._sorted, time_outs_us + self._most_late) - low
        many = counts * _DENSE > self._gaps.size
        for each in np.flatnonzero(many).tolist():
            places, cold = self._either_of_all(int(time_outs_us[each]))
            yield slice(each, each + 1), np.full(places.size, each), places, cold
        counts[many] = 0
        for part in _parts(counts):
            owners = np.repeat(np.arange(part.start, part.stop), counts[part])
            offsets = np.arange(owners.size) - np.repeat(np.cumsum(counts[part]) - counts[part], counts[part])
            places = self._order[low[owners] + offsets]
            either = self.shortened_us[places] < time_outs_us[owners]
            # By time-out, and in the order of the recording; no two time-outs touch.
            width = self._gaps.size + 1
            keys = np.sort(owners[either] * width + places[either])
            owners, places = np.divmod(keys, width)
            if keys.size:
                yield part, owners, places, self._in_rows(keys, places, time_outs_us[owners])

    def _either_of_all(self, time_out_us: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the same of one time-out: looks at all gaps, in the order of the recording, and sorts none."""
        surely = np.concatenate((np.ones(1, np.bool_), self.shortened_us >= time_out_us))
        either = np.concatenate((np.zeros(1, np.bool_), self._gaps >= time_out_us)) & ~surely
        # What is sure of the block before a row decides for each of its gaps in turn.
        before = np.maximum.accumulate(np.where(either, 0, self._numbers))
        blocks = np.flatnonzero(either)
        decides = before[blocks]
        return blocks - 1, surely[decides] ^ ((blocks - decides) & 1).astype(np.bool_)

    @functools.cached_property
    def _numbers(self) -> NDArray[np.int32]:
        return np.arange(self.blocks.first.size, dtype=np.int32)

    def _in_rows(
        self, keys: NDArray[np.int64], places: NDArray[np.int64], time_outs_us: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return whether each is beyond its time-out: where the gap before it is not."""
        begins_row = np.concatenate((np.ones(1, np.bool_), np.diff(keys) != 1))
        row_begin = np.maximum.accumulate(np.where(begins_row, np.arange(keys.size), 0))
        first = places[row_begin]
        cold_before = (first == 0) | (self.shortened_us[first - 1] >= time_outs_us)
        odd = (np.arange(keys.size) - row_begin) % 2 == 1
        beyond: NDArray[np.bool_] = cold_before == odd
        return beyond


class Counter:
    """Adds up a number, which is not negative, that each cold block has under a time-out.

    Args:
        exact: the time-outs.
        more: the number of each block.
    """

    def __init__(self, exact: ExactTimeOuts, more: NDArray[np.int64]) -> None:
        self._exact = exact
        self._more = more
        self._surely = Beyond(exact.shortened_us, {"more": more[1:]}, exact.order_shortened)
        self._between: Between | None = None
        if (found := exact.alternation) is not None:
            self._between = Between(found.above_us, found.upto_us, {"more": more[1:][found.places]})

    def at_least(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what the sum under each time-out is at least, by a search alone."""
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
    """Yield slices of the counts that come to no more than is looked at together, where one alone is not more."""
    total = np.cumsum(counts)
    start = 0
    while start < counts.size:
        before = int(total[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + _TOGETHER, side="right")))
        yield slice(start, stop)
        start = stop
