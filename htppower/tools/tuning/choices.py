"""The choices for a session (profile, polling and sustain time), their costs, the cheapest, and the Pareto front."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.profiles.sustain import Adaptive, share_text
from htppower.tools.report.words import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.cost.power import Power
    from htppower.tools.tuning.limits import Limit
    from htppower.tools.tuning.traces.trace import SessionTrace
    from htppower.tools.tuning.trial import Latency, Trial
    from htppower.tools.tuning.variants import Variant


# How many rows are compared at once.
_ROWS_TOGETHER = 256
_US = 1_000_000
# How many time-outs are examined at once to find the best: few at first, since the best is often among the first.
_FIRST = 16
_TOGETHER = 512


@attrs.frozen(cache_hash=True)
class Choice:
    """A profile with a sustain time, and its result for a session.

    Attributes:
        variant: the profile, with polling or not.
        sustain: the sustain time, in us, or how it is learnt.
        energy_j: the energy of the whole recording, by the device model.
        latency: how long inferences take.
        cold: how many inferences wait for a raise.
        calls: how many setPowerConfig calls with clocks are made.
        raised_us: how long the votes are up.
    """

    variant: Variant
    sustain: Sustain
    energy_j: float
    latency: Latency
    cold: int
    calls: int
    raised_us: int

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.variant}, sustain {sustain_text(self.sustain)}"

    def keeps_to(self, limits: Sequence[Limit]) -> bool:
        """Return whether the choice keeps to all the limits."""
        return all(limit.holds(self.latency.of(limit.measure)) for limit in limits)

    def cost_j(self, price_w: float, inferences: int) -> float:
        """Return the energy plus the price of all latency."""
        return self.energy_j + price_w * self.latency.mean * inferences / _US


def sustain_text(sustain: Sustain) -> str:
    """Return a sustain time in words."""
    if not isinstance(sustain, Adaptive):
        return duration(sustain) if sustain else "0"
    if sustain.break_even_us is not None:
        return f"adaptive, B {duration(sustain.break_even_us)}"
    return f"adaptive, {share_text(sustain.cold_starts_ppm or 0)} cold"


@attrs.frozen(eq=False)
class Offer:
    """A trial of a session under a variant, with the power of its votes.

    Attributes:
        variant: the profile, with polling or not.
        trial: the session under that profile.
        power: the power that its votes draw.
        whole_us: the length of the recording.
        learnt: the learnt sustain times to try.
    """

    variant: Variant
    trial: Trial
    power: Power
    whole_us: int
    learnt: tuple[Adaptive, ...] = ()

    def choice(self, sustain: Sustain) -> Choice:
        """Return the choice of a sustain time."""
        outcome, latency = self.trial.outcome(sustain), self.trial.latency(sustain)
        return Choice(
            self.variant,
            sustain,
            float(self.power.energy_j(outcome, self.trial.polled_us, self.whole_us)[0]),
            latency,
            int(outcome.cold[0]),
            int(outcome.calls[0]),
            int(outcome.raised_us[0]),
        )

    def of(self, session: SessionTrace) -> Offer:
        """Return the offer for another recording, without learnt sustain times: these are slow to calculate."""
        return attrs.evolve(self, trial=self.trial.of(session), whole_us=whole_us_of(session), learnt=())

    def costs_j(self, time_outs_us: NDArray[np.int64], price_w: float) -> NDArray[np.float64]:
        """Return the cost of each time-out: its energy plus the price of all latency. Each is 20 ms or more."""
        outcomes, trial = self.trial.outcomes(time_outs_us), self.trial
        energy = self.power.energy_j(outcomes, trial.polled_us, self.whole_us)
        return energy + price_w * (trial.latency_sum_us + outcomes.waits_us) / _US

    def choices(self, time_outs_us: NDArray[np.int64]) -> list[Choice]:
        """Return the choices of time-outs of 20 ms or more that are on the front of energy, cold starts and waits."""
        if not time_outs_us.size:
            return []
        outcomes = self.trial.outcomes(time_outs_us)
        energy = self.power.energy_j(outcomes, self.trial.polled_us, self.whole_us)
        rows = np.stack((energy, outcomes.cold.astype(float), outcomes.waits_us.astype(float)), axis=1)
        kept = pareto_front(rows)
        self.trial.look_at(time_outs_us[kept], outcomes.taken(kept))
        return [self.choice(each) for each in time_outs_us[kept].tolist()]

    def best(self, price_w: float, limits: Sequence[Limit]) -> Choice | None:
        """Return the cheapest choice of all time-outs and learnt sustain times; None if none keeps to the limits."""
        sustains: tuple[Sustain, ...] = (0, *self.learnt)
        choices = [self.choice(each) for each in sustains]
        time_out_us = self._best_time_out_us(price_w, limits)
        if time_out_us is not None:
            choices.append(self.choice(time_out_us))
        return cheapest(choices, price_w, self.trial.count, limits)

    def _best_time_out_us(self, price_w: float, limits: Sequence[Limit]) -> int | None:
        """Return the cheapest of all time-outs of 20 ms or more that keep to the limits.

        They are examined in the order of a lower bound of their costs, until that bound is above the cost of the best.
        """
        trial = self.trial
        time_outs = trial.time_outs_us
        least = np.zeros(time_outs.size)
        if trial.exact is not None:
            bounds = trial.exact.bounds(time_outs)
            least = self.power.least_j(bounds, trial.first_to_last_us, trial.polled_us, self.whole_us)
            least += price_w * bounds.least_waits_us / _US
            open_to = trial.perhaps_within(time_outs, limits)
            time_outs, least = time_outs[open_to], least[open_to]
        order = np.argsort(least, kind="stable")
        time_outs, least = time_outs[order], least[order]
        best_us, best_j = None, np.inf
        start, together = 0, _FIRST
        while start < (stop := min(start + together, int(np.searchsorted(least, best_j, side="right")))):
            some = time_outs[start:stop]
            start, together = stop, min(2 * together, _TOGETHER)
            some = some[trial.within(some, limits)]
            if not some.size:
                continue
            outcomes = trial.outcomes(some)
            cost = self.power.energy_j(outcomes, trial.polled_us, self.whole_us) + price_w * outcomes.waits_us / _US
            place = int(np.argmin(cost))
            if cost[place] < best_j:
                best_us, best_j = int(some[place]), float(cost[place])
        return best_us


def whole_us_of(session: SessionTrace) -> int:
    """Return how long a recording is, from the first begin to the last end."""
    return int(session.ends_us.max() - session.begins_us[0])


def cheapest(choices: Sequence[Choice], price_w: float, inferences: int, limits: Sequence[Limit]) -> Choice | None:
    """Return the cheapest of the choices that keep to the limits; None if no choice does."""
    keeping = [each for each in choices if each.keeps_to(limits)]
    return min(keeping, key=lambda each: each.cost_j(price_w, inferences), default=None)


def pareto_front(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the rows on the front, sorted by their first column. Only the first of equal rows is kept.

    A row is on the front if no other row is less or equal in every column and less in at least one.

    Args:
        costs: a row for each choice, and a column for each cost.
    """
    if not costs.size:
        return np.zeros(0, np.int64)
    order = np.lexsort(costs.T[::-1])
    rows = costs[order]
    # In this order, a row that beats or equals another precedes it.
    kept = np.zeros(0, np.int64)
    for start in range(0, order.size, _ROWS_TOGETHER):
        part = np.arange(start, min(start + _ROWS_TOGETHER, order.size))
        part = part[~_beaten(rows[part], rows[kept])]
        earlier = np.tril(_no_worse(rows[part], rows[part]), k=-1).any(axis=1)
        kept = np.concatenate((kept, part[~earlier]))
    found: NDArray[np.int64] = order[kept]
    return found


def _beaten(rows: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which rows are beaten or equalled, in every column, by one of the other rows."""
    beaten = np.zeros(rows.shape[0], np.bool_)
    for start in range(0, by.shape[0], _ROWS_TOGETHER * 8):
        others = by[start : start + _ROWS_TOGETHER * 8]
        left = np.flatnonzero(~beaten)
        beaten[left] = _no_worse(rows[left], others).any(axis=1)
    return beaten


def _no_worse(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return, for each row, which other rows are less or equal in every column."""
    no_worse = np.ones((rows.shape[0], others.shape[0]), np.bool_)
    for column in range(rows.shape[1]):
        no_worse &= others[None, :, column] <= rows[:, None, column]
    return no_worse
