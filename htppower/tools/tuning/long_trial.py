"""The outcome of chosen sustain times on all of a long recording, part by part, to bound the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np

from htppower.profiles.sustain import Adaptive
from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.cost.outcome import Outcomes
from htppower.tools.tuning.limits import QUANTILES, rank
from htppower.tools.tuning.traces.trace import part_of
from htppower.tools.tuning.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.traces.trace import SessionTrace

# How many inferences a part has. With more, the arrays do not fit into the caches of a processor.
_PART = 2**16
# A part ends at the longest gap among this many.
_SEARCHED = 4_096
# Latencies below are counted exactly, in us; longer ones in steps of 0.07 %.
_EXACT_US = 2**18
_STEPS = 1_024


class LongTrial(Trial):
    """A trial of a long recording, which looks at some sustain times only.

    Each part is exact if the gap before it is longer than the sustain time. Otherwise its first inference counts as
    warm, but the inferences that follow it at once count as delayed by it. The result of a learnt time is estimated: it
    is that of ``like``, in proportion to the number of inferences.

    Args:
        like: a trial of stretches of the recording, under the same profile.
        session: the recording.
        sustains: the sustain times.
    """

    def __init__(self, like: Trial, session: SessionTrace, sustains: Sequence[Sustain]) -> None:
        super().__init__(session, like.timing, like.most_us)
        sums = {each: _Sum() for each in sustains if not isinstance(each, Adaptive)}
        self.polled_us = self.latency_sum_us = 0
        for part in map(self.of, _parts(session)):
            self.polled_us += part.polled_us
            self.latency_sum_us += part.latency_sum_us
            for each, found in sums.items():
                found.add(_Ran.of(part, each))
        for each, found in sums.items():
            self.keep(each, found.outcome, found.quantiles_us())
        for learnt in sustains:
            if isinstance(learnt, Adaptive):
                quantiles = [int(like.latency(learnt).of(measure)) for measure in QUANTILES]
                self.keep(learnt, like.outcome(learnt).scaled(self.count / like.count), quantiles)


class _Ran(NamedTuple):
    """The run of a part.

    Attributes:
        outcome: the outcome.
        raised_us, lowered_us: when the votes are raised first, and lowered last.
        wait_us: how long the first inference waits.
        latencies_us: the latency of each inference.
    """

    outcome: Outcomes
    raised_us: int
    lowered_us: int
    wait_us: int
    latencies_us: NDArray[np.int64]

    @classmethod
    def of(cls, part: Trial, sustain: int) -> _Ran:
        """Return the run of a part under a sustain time."""
        if part.exact is None or sustain < SHORTEST_SUSTAIN_US:
            run = part.run(sustain)
            edges = int(run.raised_us[0]), int(run.lowered_us[-1]), int(run.waits_us[0])
            return cls(run.outcome(), *edges, run.ends_us - part.workload.asked_us)
        cold = part.exact.cold_blocks(sustain)
        blocks, outcome = part.exact.blocks, part.exact.outcome(sustain, cold)
        periods = part.workload.periods
        end_us = int(periods.ends_us[-1]) + int(cold[-1]) * int(blocks.late_us[-1])
        edges = int(periods.begins_us[0]), end_us + sustain, int(blocks.cold_waits_us[0])
        return cls(outcome, *edges, blocks.latencies_us(cold))


@attrs.define(eq=False)
class _Sum:
    """The sum of the runs of the parts.

    Attributes:
        outcome: the outcome so far.
        lowered_us: when the votes were lowered after the last part.
        counts: how many inferences have each latency.
        longest_us: the longest latency.
    """

    outcome: Outcomes = attrs.Factory(lambda: Outcomes(*(np.zeros(1, np.int64) for _ in attrs.fields(Outcomes))))
    lowered_us: int | None = None
    counts: NDArray[np.int64] = attrs.Factory(lambda: np.zeros(0, np.int64))
    longest_us: int = 0

    def add(self, ran: _Ran) -> None:
        """Add the run of the next part."""
        # If the votes are up until this part begins, its first inference does not wait.
        over_us = 0 if self.lowered_us is None else max(0, self.lowered_us - ran.raised_us)
        wait_us = ran.wait_us if over_us else 0
        ran.latencies_us[0] -= wait_us
        so_far, more = self.outcome, ran.outcome
        self.outcome = Outcomes(
            tail_us=more.tail_us,
            cold=so_far.cold + more.cold - (over_us > 0),
            raised_us=so_far.raised_us + more.raised_us - over_us,
            busy_us=so_far.busy_us + more.busy_us,
            waits_us=so_far.waits_us + more.waits_us - wait_us,
        )
        self.lowered_us = ran.lowered_us
        self.longest_us = max(self.longest_us, int(ran.latencies_us.max()))
        counts = np.bincount(_places(ran.latencies_us), minlength=self.counts.size)
        counts[: self.counts.size] += self.counts
        self.counts = counts

    def quantiles_us(self) -> list[int]:
        """Return the quantiles of latency."""
        sums = np.cumsum(self.counts)
        ranks = [rank(measure, int(sums[-1])) for measure in QUANTILES]
        return [min(_longest_us(place), self.longest_us) for place in np.searchsorted(sums, ranks).tolist()]


def _places(latencies_us: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each latency in the counts."""
    long = np.flatnonzero(latencies_us >= _EXACT_US)
    if long.size:
        latencies_us[long] = _EXACT_US + (_STEPS * np.log2(latencies_us[long] / _EXACT_US)).astype(np.int64)
    return latencies_us


def _longest_us(place: int) -> int:
    """Return the longest latency that is counted at a place."""
    return place if place < _EXACT_US else int(_EXACT_US * 2 ** ((place - _EXACT_US + 1) / _STEPS))


def _parts(session: SessionTrace) -> Iterator[SessionTrace]:
    """Yield the parts of a session. A part is cut off at the longest of the gaps near its end."""
    count, start = session.begins_us.size, 0
    while start < count:
        stop = start + _PART
        if stop + _SEARCHED >= count:
            stop = count
        else:
            near = slice(stop, stop + _SEARCHED)
            latest_us = np.maximum.accumulate(session.ends_us[near])
            stop += 1 + int(np.argmax(session.begins_us[stop + 1 : stop + _SEARCHED] - latest_us[:-1]))
        yield part_of(session, slice(start, stop))
        start = stop
