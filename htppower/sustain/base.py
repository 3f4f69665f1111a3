"""What both kinds of learners share: how many recent gaps there were of each length, and what choices have cost."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from htppower.profiles.sustain import VENDOR_SUSTAIN_US

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.profiles.sustain import Adaptive

# All that a learner knows, as plain values, so that it can be kept over a restart of the process.
LearnerState: TypeAlias = "Mapping[str, int | list[int]]"


class GapCounts:
    """A histogram of gaps: the count and the sum in each bin. Old gaps lose weight.

    Args:
        edges_us: the rising edges between the bins. A gap at an edge is in the bin above it.
        most: all counts are halved when there are this many gaps.

    Attributes:
        counts, sums_us: the gaps in each bin; there is one more bin than edges.
        counted: how many gaps all bins hold.
    """

    __slots__ = ("_edges_us", "_most", "counted", "counts", "sums_us")

    def __init__(self, edges_us: tuple[int, ...], most: int) -> None:
        self._edges_us = edges_us
        self._most = most
        self.counts = [0] * (len(edges_us) + 1)
        self.sums_us = [0] * (len(edges_us) + 1)
        self.counted = 0

    def add(self, gaps_us: list[int]) -> None:
        """Count some gaps, which must be sorted."""
        if not gaps_us:
            return
        edges_us, begin, most = self._edges_us, 0, len(gaps_us)
        last = bisect_right(edges_us, gaps_us[-1])
        for place in range(bisect_right(edges_us, gaps_us[0]), last + 1):
            end = most if place == last else bisect_left(gaps_us, edges_us[place], begin)
            if end > begin:
                self.counts[place] += end - begin
                self.sums_us[place] += sum(gaps_us[begin:end])
                begin = end
        self.counted += most

    def age(self) -> None:
        """Halve all counts and sums if the histogram is full."""
        if self.counted >= self._most:
            self.counts = [count // 2 for count in self.counts]
            self.sums_us = [sum_us // 2 for sum_us in self.sums_us]
            self.counted = sum(self.counts)

    def time_outs(self) -> Iterator[tuple[int, int, int]]:
        """Yield 0 and each edge as a timeout, the sum of all shorter gaps, and how many other gaps there are."""
        shorter_us, others = 0, self.counted
        for place, edge_us in enumerate((0, *self._edges_us)):
            yield edge_us, shorter_us, others
            shorter_us += self.sums_us[place]
            others -= self.counts[place]

    def restore(self, counts: list[int], sums_us: list[int]) -> None:
        """Replace all counts and sums.

        Raises:
            ValueError: they belong to other edges.
        """
        if not len(counts) == len(sums_us) == len(self.counts):
            raise ValueError("counts or sums of another form")
        self.counts, self.sums_us, self.counted = list(counts), list(sums_us), sum(counts)


class Savings(NamedTuple):
    """What a learner's choices have cost, and what a timer of 300 ms would have cost in the same gaps.

    Attributes:
        gaps: how many gaps there were.
        raised_us: how long votes were up in these gaps, without raises ahead.
        cold_starts: how many inferences waited for a raise.
        fixed_raised_us, fixed_cold_starts: the same two figures with a timer of 300 ms.
    """

    gaps: int = 0
    raised_us: int = 0
    cold_starts: int = 0
    fixed_raised_us: int = 0
    fixed_cold_starts: int = 0

    def after(self, gaps_us: list[int], timeout_us: int | None = None, *, waited: bool = True) -> Savings:
        """Return the sums with some more gaps, which must be sorted.

        ``timeout_us``: the timeout that every gap reached; None if every gap was shorter.
        """
        gaps, sum_us, longer = len(gaps_us), sum(gaps_us), 0
        fixed_us = sum_us
        if gaps and gaps_us[-1] >= VENDOR_SUSTAIN_US:
            longer_us = [gap_us for gap_us in gaps_us if gap_us >= VENDOR_SUSTAIN_US]
            longer = len(longer_us)
            fixed_us += VENDOR_SUSTAIN_US * longer - sum(longer_us)
        return Savings(
            self.gaps + gaps,
            self.raised_us + (sum_us if timeout_us is None else timeout_us * gaps),
            self.cold_starts + (gaps if waited and timeout_us is not None else 0),
            self.fixed_raised_us + fixed_us,
            self.fixed_cold_starts + longer,
        )


class Learner:
    """Chooses the timeout of each gap from the gaps before it.

    A gap is the time from the end of a session's last inference to the begin of the next, in us. An inference after a
    gap shorter than the timeout finds the votes up. After any other gap the votes are down, and the inference waits for
    a raise.

    Attributes:
        time_out_us: the sustain time of the next gap, in us; 0 lowers the votes at once.
        learnt_us: the time without a hint, as it was learnt.
    """

    __slots__ = ("_counts", "_savings", "_sustain", "learnt_us", "time_out_us")

    def __init__(self, sustain: Adaptive, counts: GapCounts) -> None:
        self._sustain = sustain
        self._counts = counts
        self._savings = Savings()
        self.time_out_us = self.learnt_us = sustain.first_us

    @property
    def gaps(self) -> int:
        """How many gaps the learner has learnt from."""
        return self._savings.gaps

    def savings(self) -> Savings:
        """Return what the timeouts have cost, and what a timer of 300 ms would have cost."""
        return self._savings

    def learn(self, gap_us: int, *, waited: bool = True) -> None:
        """Learn from a gap that has ended. Only a gap that reached the timeout changes the timeout.

        ``waited``: whether the inference after such a gap waited for a raise. It waits unless the votes were raised
        ahead.
        """
        if gap_us < self.time_out_us:
            self.learn_within([gap_us])
            self.forget_hint()
            return
        self._pay(gap_us)
        self._savings = self._savings.after([gap_us], self.time_out_us, waited=waited)
        self._counts.add([gap_us])
        self._counts.age()
        self.time_out_us = self.learnt_us = self._limited(self._best_us())

    def learn_within(self, gaps_us: list[int]) -> None:
        """Learn from gaps that were all shorter than the timeout. The list is sorted in place."""
        gaps_us.sort()
        self._savings = self._savings.after(gaps_us)
        self._counts.add(gaps_us)

    def hint(self, gap_us: int, passed_us: int = 0) -> None:
        """Choose the timeout of the current gap alone, from a prediction of the whole length of this gap.

        A wrong prediction costs no more than the bound allows. ``passed_us``: how much of the gap has passed, which
        must be less than the timeout, since the votes must still be up.
        """

    def forget_hint(self) -> None:
        """Return to the timeout that was learnt."""
        self.time_out_us = self.learnt_us

    def state(self) -> dict[str, int | list[int]]:
        """Return all that the learner knows."""
        return {
            "time_out_us": self.learnt_us,
            "counts": list(self._counts.counts),
            "sums_us": list(self._counts.sums_us),
            "savings": list(self._savings),
        }

    def restore(self, state: LearnerState) -> None:
        """Continue with the state of another learner.

        Raises:
            ValueError, KeyError, TypeError: the state does not fit these parameters.
        """
        self._counts.restore(_wholes(state["counts"]), _wholes(state["sums_us"]))
        self._savings = Savings._make(_wholes(state["savings"]))
        self.time_out_us = self.learnt_us = self._limited(whole(state["time_out_us"]))

    def _pay(self, gap_us: int) -> None:
        """Update the costs after a gap that reached the timeout."""

    def _best_us(self) -> int:
        """Return the best timeout for the gaps counted so far, without the profile's limits."""
        raise NotImplementedError

    def _limited(self, time_out_us: int) -> int:
        return max(self._sustain.least_us, min(time_out_us, self._sustain.most_us))


def whole(value: object) -> int:
    """Return a value from a file if it is a whole number, 0 or more.

    Raises:
        TypeError, ValueError: the value is something else.
    """
    if type(value) is not int:
        raise TypeError("not a whole number")
    if value < 0:
        raise ValueError("a negative number")
    return value


def _wholes(value: object) -> list[int]:
    if type(value) is not list:
        raise TypeError("not a list")
    return [whole(item) for item in value]
