"""The run of a session with a learnt time-out: numpy learns from many parts of a long recording at once.

Each part is a lane, and a step learns from one gap of every lane. A lane needs the state at its begin, which is the
state at the end of the lane before it. All lanes begin with a guess: what a learner knows after the first lane. If
lanes whose guess was wrong are repeated until none differs, the result is exactly that of ``run_stepwise``.

This takes too many rounds for a long recording: two learners that differ at first make the same choices only after
tens of thousands of gaps (measured), because the moments at which they halve their counts differ. Until then they
differ in less than 1 % of their choices, which cost nearly the same. So by default no lane is repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.sustain import leader, learner
from htppower.sustain.learner import make_learner
from htppower.tools.tuning.cost.outcome import Run
from htppower.tools.tuning.cost.stepwise import run_stepwise
from htppower.tools.tuning.cost.workload import in_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from htppower.profiles.sustain import Adaptive
    from htppower.tools.tuning.cost.workload import Workload

# The state of each lane: the first axis of every array is the lane.
_State: TypeAlias = "dict[str, NDArray[np.int64]]"

# A longer recording is calculated in lanes. Gap by gap, a million gaps take 5 s.
_MOST_STEPWISE = 200_000
_MOST_LANES = 1024
_SHORTEST_LANE = 8192


def is_in_lanes(workload: Workload) -> bool:
    """Return whether a recording is long enough for lanes. Inferences that overlap are calculated gap by gap."""
    return workload.one_at_a_time and workload.count > _MOST_STEPWISE


def run_learnt(workload: Workload, sustain: Adaptive) -> Run:
    """Return the run of a session with a learnt time-out; exact unless ``is_in_lanes``."""
    if not is_in_lanes(workload):
        return run_stepwise(workload, make_learner(sustain))
    return run_lanes(workload, sustain, min(_MOST_LANES, workload.count // _SHORTEST_LANE))


def run_lanes(workload: Workload, sustain: Adaptive, lanes: int, *, exact: bool = False) -> Run:
    """Return the run of a session whose inferences do not overlap, calculated in lanes.

    ``exact``: repeat lanes until the result is that of ``run_stepwise``.
    """
    gaps_us = workload.begins_us[1:] - workload.ends_us[:-1]
    beyond, time_outs_us = _learn(gaps_us, workload.late_us, sustain, lanes, exact=exact)
    cold = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(beyond[: gaps_us.size]) + 1))
    late = np.zeros(workload.count, np.int64)
    late[cold] = workload.late_us
    takes = workload.takes_us + late
    begins = in_line(workload.asked_us, takes)
    ends = begins + takes
    raised = begins[cold]
    # The votes are lowered a time-out after the inference before a cold one, and after the last inference.
    before = np.append(cold[1:] - 1, workload.count - 1)
    lowered = ends[before] + time_outs_us[before]
    begins += late
    return Run(cold, raised, lowered, begins, ends, ends - workload.ends_us)


def _learn(
    gaps_us: NDArray[np.int64], late_us: int, sustain: Adaptive, lanes: int, *, exact: bool
) -> tuple[NDArray[np.bool_], NDArray[np.uint32]]:
    """Return whether each gap is as long as its time-out, and the time-out of each gap.

    The time-outs have a place more than the gaps: the time-out after the last inference.
    """
    # At least one place is left over at the end, so that the time-out behind the last gap is found, too.
    length = gaps_us.size // lanes + 1
    padded = np.zeros(lanes * length, np.int64)
    padded[: gaps_us.size] = gaps_us
    steps = np.ascontiguousarray(padded.reshape(lanes, length).T)
    del padded
    beyond = np.zeros(steps.shape, np.bool_)
    time_outs_us = np.zeros(steps.shape, np.uint32)
    learners = (_Quantiles if sustain.break_even_us is None else _Leaders)(sustain)
    begin = learners.first(lanes, gaps_us[:length])
    # The first inference of the recording waits for a raise.
    begin["late"][0] = late_us
    end = {name: values.copy() for name, values in begin.items()}
    todo = np.arange(lanes)
    while todo.size:
        state = {name: values[todo] for name, values in begin.items()}
        for step, gaps in enumerate(steps):
            gap, late = gaps[todo], state["late"]
            # An inference that is late shortens the gap after it, or delays the next inference.
            shortened = np.maximum(gap - late, 0)
            cold = shortened >= state["time_out_us"]
            beyond[step, todo] = cold
            time_outs_us[step, todo] = state["time_out_us"]
            state["late"] = np.maximum(late - gap, 0) + late_us * cold
            learners.learn(state, shortened, cold)
        for name, values in state.items():
            end[name][todo] = values
        if not exact:
            break
        differs = [(begin[name][1:] != end[name][:-1]).reshape(lanes - 1, -1).any(axis=1) for name in begin]
        todo = np.flatnonzero(np.logical_or.reduce(differs)) + 1
        for name, values in begin.items():
            values[todo] = end[name][todo - 1]
    return beyond.T.reshape(-1), time_outs_us.T.reshape(-1)


class _Learners:
    """Learners of many lanes; each does exactly what ``htppower.sustain.base.Learner`` does.

    The state has the names of ``Learner.state``.
    """

    _names: tuple[str, ...] = ("time_out_us", "counts")
    _faded: tuple[str, ...] = ("counts",)

    def __init__(self, sustain: Adaptive, edges_us: tuple[int, ...], most: int) -> None:
        self._sustain = sustain
        self._edges_us = np.array(edges_us, np.int64)
        self._time_outs_us = np.array((0, *edges_us), np.int64)
        self._most = most

    def first(self, lanes: int, gaps_us: NDArray[np.int64]) -> _State:
        """Return the state of a new learner for the first lane, and of one that has learnt from gaps for the others."""
        learner = make_learner(self._sustain)
        new = learner.state()
        for gap_us in gaps_us.tolist():
            learner.learn(gap_us)
        state = {"late": np.zeros(lanes, np.int64)}
        for name in self._names:
            value = np.array(learner.state()[name], np.int64)
            state[name] = np.repeat(value[np.newaxis], lanes, axis=0)
            state[name][0] = new[name]
        state["counted"] = state["counts"].sum(axis=1)
        return state

    def learn(self, state: _State, gaps_us: NDArray[np.int64], cold: NDArray[np.bool_]) -> None:
        """Learn from a gap of each lane; ``cold`` is whether it reached the time-out."""
        counts = state["counts"]
        bins = np.searchsorted(self._edges_us, gaps_us, side="right")
        places = bins + np.arange(bins.size) * self._time_outs_us.size
        counts.reshape(-1)[places] += 1
        state["counted"] += 1
        self._pay(state, gaps_us, cold, places)
        those = np.flatnonzero(cold)
        full = those[state["counted"][those] >= self._most]
        if full.size:
            for name in self._faded:
                state[name][full] //= 2
            state["counted"][full] = counts[full].sum(axis=1)
        if those.size:
            state["time_out_us"][those] = self._best(state, those)

    def _pay(
        self, state: _State, gaps_us: NDArray[np.int64], cold: NDArray[np.bool_], places: NDArray[np.int64]
    ) -> None:
        """Account for a gap of each lane."""

    def _best(self, state: _State, those: NDArray[np.intp]) -> NDArray[np.int64]:
        raise NotImplementedError

    def _others(self, state: _State, those: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return how many gaps are at least as long as each time-out, for some lanes."""
        counts = state["counts"][those]
        return np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]

    def _limited(self, time_outs_us: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.maximum(self._sustain.least_us, np.minimum(time_outs_us, self._sustain.most_us))


class _Quantiles(_Learners):
    def __init__(self, sustain: Adaptive) -> None:
        super().__init__(sustain, learner.EDGES_US, learner.most_counted(sustain))

    def _best(self, state: _State, those: NDArray[np.intp]) -> NDArray[np.int64]:
        allowed = (self._sustain.cold_starts_ppm or 0) * state["counted"][those]
        fits = self._others(state, those) * learner.MILLION <= allowed[:, np.newaxis]
        found = self._time_outs_us[fits.argmax(axis=1)]
        return self._limited(np.where(fits.any(axis=1), found, self._sustain.most_us))


class _Leaders(_Learners):
    _names = ("time_out_us", "counts", "sums_us", "bank_us")
    _faded = ("counts", "sums_us")

    def __init__(self, sustain: Adaptive) -> None:
        super().__init__(sustain, leader.edges_of(sustain), leader.MOST_COUNTED)
        self._worth_us = sustain.worth_us
        kept = np.where(self._time_outs_us <= 0, 0, np.maximum(self._time_outs_us, SHORTEST_SUSTAIN_US))
        self._prices_us = kept + (sustain.break_even_us or 0)

    def _pay(
        self, state: _State, gaps_us: NDArray[np.int64], cold: NDArray[np.bool_], places: NDArray[np.int64]
    ) -> None:
        worth_us = self._worth_us
        state["sums_us"].reshape(-1)[places] += gaps_us
        # A gap within the time-out saves its length; beyond the break-even time it saves less.
        within = np.where(gaps_us < worth_us, gaps_us, 2 * worth_us - gaps_us)
        beyond = 2 * np.minimum(gaps_us, worth_us) - state["time_out_us"] - worth_us
        bank = state["bank_us"] + np.where(cold, beyond, within)
        state["bank_us"] = np.maximum(0, np.minimum(bank, leader.MOST_BANK * worth_us))

    def _best(self, state: _State, those: NDArray[np.intp]) -> NDArray[np.int64]:
        sums = state["sums_us"][those]
        costs = np.cumsum(sums, axis=1) - sums + self._others(state, those) * self._prices_us
        best = self._time_outs_us[costs.argmin(axis=1)]
        half, worth_us = state["bank_us"][those] // 2, self._worth_us
        within = np.maximum(worth_us - half, np.minimum(np.minimum(best, 2 * worth_us), worth_us + half))
        kept = np.where(within <= 0, within, np.maximum(within, SHORTEST_SUSTAIN_US))
        return self._limited(kept)
