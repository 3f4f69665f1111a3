"""A session tried under one profile, with many fixed and learnt time-outs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.profiles.sustain import Adaptive
from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.sustain.learner import make_learner
from htppower.tools.tuning.cost.blocks import Blocks, fits
from htppower.tools.tuning.cost.exact import Counter, ExactTimeOuts
from htppower.tools.tuning.cost.outcome import Outcomes
from htppower.tools.tuning.cost.stepwise import Fixed, run_lowered_at_once, run_stepwise
from htppower.tools.tuning.cost.sums import distinct_time_outs_us
from htppower.tools.tuning.cost.workload import Workload
from htppower.tools.tuning.limits import COLD, MEAN, quantiles_us, rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.cost.outcome import Run
    from htppower.tools.tuning.cost.workload import Timing
    from htppower.tools.tuning.limits import Limit
    from htppower.tools.tuning.traces.trace import SessionTrace

# How many time-outs are tried if a raise is so late that each has to be calculated gap by gap.
_FEW = 64


@attrs.frozen
class Latency:
    """How long inferences take from the host's request, in us, and how many wait for a raise.

    Attributes:
        p50, p90, p95, p99, p99_9, max: quantiles; each is the latency of one of the inferences.
        mean: the mean latency.
        cold: the share of the inferences that wait for a raise, from 0 to 1.
    """

    p50: int
    p90: int
    p95: int
    p99: int
    p99_9: int
    max: int
    mean: float
    cold: float

    def of(self, measure: str) -> float:
        """Return a measure by its name."""
        found: float = getattr(self, measure.replace(".", "_"))
        return found


class Trial:
    """A session under one profile.

    Args:
        session: the recording of the session, with at least one inference.
        timing: how long inferences take under the profile.
        most_us: the longest time-out that is tried.

    Attributes:
        session, timing, most_us: as above.
    """

    def __init__(self, session: SessionTrace, timing: Timing, most_us: int) -> None:
        self.session = session
        self.timing = timing
        self.most_us = most_us
        self._latencies: dict[Sustain, Latency] = {}
        self._outcomes: dict[Sustain, Outcomes] = {}
        self._of_several: dict[bytes, Outcomes] = {}
        self._counters: dict[Limit, tuple[Counter, int]] = {}

    @property
    def count(self) -> int:
        """How many inferences there are."""
        return int(self.session.begins_us.size)

    def of(self, session: SessionTrace) -> Trial:
        """Return a trial of another recording under the same profile."""
        return Trial(session, self.timing, self.most_us)

    def slower(self, factor: float) -> Trial:
        """Return a trial with every inference ``factor`` times as long."""
        timing = attrs.evolve(self.timing, stretch=self.timing.stretch * factor)
        return Trial(self.session, timing, self.most_us)

    @functools.cached_property
    def workload(self) -> Workload:
        """The inferences as they run under the profile."""
        return Workload.of(self.session, self.timing)

    @functools.cached_property
    def polled_us(self) -> int:
        """How long the CPU polls for answers."""
        polls_us = self.timing.polls_us
        return int(np.minimum(self.workload.takes_us, polls_us).sum()) if polls_us else 0

    @functools.cached_property
    def exact(self) -> ExactTimeOuts | None:
        """Finds the outcome of a time-out by a search; None if a raise takes longer than a gap absorbs."""
        return ExactTimeOuts(Blocks.of(self.workload)) if fits(self.workload) else None

    def let_go(self) -> None:
        """Forget the large tables; they are made again if needed."""
        self._counters.clear()
        for name in ("exact", "workload"):
            self.__dict__.pop(name, None)

    @functools.cached_property
    def time_outs_us(self) -> NDArray[np.int64]:
        """All time-outs that may be the best, except 0; only a few of them if a raise takes too long for ``exact``."""
        if self.exact is not None:
            return self.exact.time_outs_us(self.most_us)
        found = distinct_time_outs_us(self.workload.periods.gaps_us, self.most_us, SHORTEST_SUSTAIN_US)[1:]
        return thinned(found, _FEW)

    @functools.cached_property
    def latency_sum_us(self) -> int:
        """The sum of all latencies if the votes are always up."""
        return int((self.workload.ends_us - self.workload.asked_us).sum())

    @functools.cached_property
    def first_to_last_us(self) -> int:
        """The time from the first begin to the last end."""
        periods = self.workload.periods
        return int(periods.ends_us[-1] - periods.begins_us[0])

    def run(self, sustain: Sustain) -> Run:
        """Return the run of the session under a sustain time, inference by inference."""
        if isinstance(sustain, Adaptive):
            return run_stepwise(self.workload, make_learner(sustain))
        if sustain == 0:
            return run_lowered_at_once(self.workload)
        if self.exact is None or sustain < SHORTEST_SUSTAIN_US:
            return run_stepwise(self.workload, Fixed(sustain))
        return self.exact.run(sustain)

    def outcomes(self, time_outs_us: NDArray[np.int64]) -> Outcomes:
        """Return the outcome of each time-out; each is 20 ms or more."""
        asked = time_outs_us.tobytes()
        if asked not in self._of_several:
            self._of_several[asked] = self._outcomes_of(time_outs_us)
        return self._of_several[asked]

    def _outcomes_of(self, time_outs_us: NDArray[np.int64]) -> Outcomes:
        if self.exact is not None:
            return self.exact.outcomes(time_outs_us)
        nothing = Outcomes(*(np.zeros(0, np.int64) for _ in attrs.fields(Outcomes)))
        return functools.reduce(Outcomes.joined, map(self.outcome, time_outs_us.tolist()), nothing)

    def outcome(self, sustain: Sustain) -> Outcomes:
        """Return the outcome of one sustain time."""
        if sustain not in self._outcomes:
            self._look_at(sustain)
        return self._outcomes[sustain]

    def latency(self, sustain: Sustain) -> Latency:
        """Return the latency under a sustain time."""
        if sustain not in self._latencies:
            self._look_at(sustain)
        return self._latencies[sustain]

    def within(self, time_outs_us: NDArray[np.int64], limits: Iterable[Limit]) -> NDArray[np.bool_]:
        """Return which time-outs keep to the limits; each is 20 ms or more."""
        keeps = np.ones(time_outs_us.size, np.bool_)
        for limit in limits:
            if self.exact is None:
                kept = [limit.holds(self.latency(each).of(limit.measure)) for each in time_outs_us.tolist()]
                keeps &= np.array(kept, np.bool_)
            else:
                counter, most = self._counter(limit)
                keeps &= counter.sums(time_outs_us) <= most
        return keeps

    def perhaps_within(self, time_outs_us: NDArray[np.int64], limits: Iterable[Limit]) -> NDArray[np.bool_]:
        """Return which time-outs may keep to the limits, by a quick search alone."""
        keeps = np.ones(time_outs_us.size, np.bool_)
        for limit in limits if self.exact is not None else ():
            counter, most = self._counter(limit)
            keeps &= counter.at_least(time_outs_us) <= most
        return keeps

    def _counter(self, limit: Limit) -> tuple[Counter, int]:
        """Return a counter of what cold blocks add to the measure of a limit, and the most that the limit allows."""
        if limit not in self._counters:
            if self.exact is None:
                raise ValueError("there is no counter: a raise takes longer than a gap absorbs")
            blocks, count = self.exact.blocks, self.count
            if limit.measure == COLD:
                more, most = np.ones(blocks.first.size, np.int64), int(limit.most * count)
            elif limit.measure == MEAN:
                more, most = blocks.waits_us, int(limit.most * count) - self.latency_sum_us
            else:
                always, more = blocks.later_than(int(limit.most))
                most = count - rank(limit.measure, count) - always
            self._counters[limit] = (Counter(self.exact, more), most)
        return self._counters[limit]

    def look_at(self, time_outs_us: NDArray[np.int64], outcomes: Outcomes) -> None:
        """Store the outcome of each time-out, and calculate its latency."""
        for place, time_out_us in enumerate(time_outs_us.tolist()):
            if time_out_us not in self._latencies:
                outcome = outcomes.taken(np.array([place]))
                if self.exact is None:
                    found = quantiles_us(self.run(time_out_us).ends_us - self.workload.asked_us)
                else:
                    found = quantiles_us(self.exact.blocks.latencies_us(self.exact.cold_blocks(time_out_us)))
                self.keep(time_out_us, outcome, found)

    def _look_at(self, sustain: Sustain) -> None:
        if self._in_exact(sustain):
            time_outs = np.array([sustain], np.int64)
            self.look_at(time_outs, self.outcomes(time_outs))
        else:
            run = self.run(sustain)
            self.keep(sustain, run.outcome(), quantiles_us(run.ends_us - self.workload.asked_us))

    def _in_exact(self, sustain: Sustain) -> bool:
        return self.exact is not None and not isinstance(sustain, Adaptive) and sustain >= SHORTEST_SUSTAIN_US

    def keep(self, sustain: Sustain, outcome: Outcomes, quantiles: Sequence[int]) -> None:
        """Store the outcome of a sustain time, and its latency by the quantiles in ``QUANTILES``."""
        count = self.count
        mean = (self.latency_sum_us + int(outcome.waits_us[0])) / count
        self._outcomes[sustain] = outcome
        p50, p90, p95, p99, p99_9, slowest = quantiles
        cold = int(outcome.cold[0]) / count
        self._latencies[sustain] = Latency(p50, p90, p95, p99, p99_9, slowest, mean=mean, cold=cold)


def thinned(values: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most ``most`` of the values, in equal steps, including the first and the last."""
    if values.size <= most:
        return values
    return values[np.unique(np.linspace(0, values.size - 1, most).astype(np.int64))]
