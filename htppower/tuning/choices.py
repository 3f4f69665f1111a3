"""What a session may be given: a profile, polling, a sustain time; what each costs, and which costs least."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.profiles.sustain import Adaptive
from htppower.tuning.front import pareto_front
from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Sustain
    from htppower.tuning.cost.power import Power
    from htppower.tuning.limits import Limit
    from htppower.tuning.traces.trace import SessionTrace
    from htppower.tuning.trial import Latency, Trial
    from htppower.tuning.variants import Variant

_US = 1_000_000
# So many time-outs at once are looked at in search of the best: few at first, since the best is among the first.
_FIRST = 16
_TOGETHER = 512


@attrs.frozen(cache_hash=True)
class Choice:
    """A profile with a sustain time, and what it comes to for a session.

    Attributes:
        variant: the profile, with polling or not.
        sustain: the sustain time, in us, or how it is learnt.
        energy_j: the energy of the whole recording, by the device model.
        latency: how long inferences take.
        cold: how many of them wait for a raise.
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

    __repr__ = field_repr

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.variant}, sustain {spelt(self.sustain)}"

    def keeps_to(self, limits: Sequence[Limit]) -> bool:
        """Return whether it keeps to some limits."""
        return all(limit.holds(self.latency.of(limit.measure)) for limit in limits)

    def cost_j(self, price_w: float, inferences: int) -> float:
        """Return its energy, and the price of all its latency."""
        return self.energy_j + price_w * self.latency.mean * inferences / _US


def spelt(sustain: Sustain) -> str:
    """Return a sustain time in words."""
    if not isinstance(sustain, Adaptive):
        return f"{sustain / 1_000:.10g} ms"
    if sustain.break_even_us is not None:
        return f"adaptive, break-even {spelt(sustain.break_even_us)}"
    return f"adaptive, cold starts {(sustain.cold_starts_ppm or 0) / 10_000:g} %"


@attrs.frozen(eq=False)
class Offer:
    """A trial of a session under a variant, with what its votes draw.

    Attributes:
        variant: the profile, with polling or not.
        trial: the session under it.
        power: what its votes draw.
        whole_us: how long all is looked at.
        learnt: the sustain times to try that are learnt.
    """

    variant: Variant
    trial: Trial
    power: Power
    whole_us: int
    learnt: tuple[Adaptive, ...] = ()

    def choice(self, sustain: Sustain) -> Choice:
        """Return what a sustain time comes to."""
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
        """Return the same for another recording, without what is learnt: that is gone through gap by gap."""
        return attrs.evolve(self, trial=self.trial.of(session), whole_us=whole_us_of(session), learnt=())

    def costs_j(self, time_outs_us: NDArray[np.int64], price_w: float) -> NDArray[np.float64]:
        """Return the cost of each of some time-outs of 20 ms and more: its energy, and the price of all latency."""
        outcomes, trial = self.trial.outcomes(time_outs_us), self.trial
        energy = self.power.energy_j(outcomes, trial.polled_us, self.whole_us)
        return energy + price_w * (trial.latency_sum_us + outcomes.waits_us) / _US

    def choices(self, time_outs_us: NDArray[np.int64]) -> list[Choice]:
        """Return what time-outs of 20 ms and more come to, of which none has more energy, cold starts and waits."""
        if not time_outs_us.size:
            return []
        outcomes = self.trial.outcomes(time_outs_us)
        energy = self.power.energy_j(outcomes, self.trial.polled_us, self.whole_us)
        rows = np.stack((energy, outcomes.cold.astype(float), outcomes.waits_us.astype(float)), axis=1)
        kept = pareto_front(rows)
        self.trial.look_at(time_outs_us[kept], outcomes.taken(kept))
        return [self.choice(each) for each in time_outs_us[kept].tolist()]

    def best(self, price_w: float, limits: Sequence[Limit]) -> Choice | None:
        """Return what costs least of every time-out and of what is learnt; None where nothing keeps to the limits."""
        sustains: tuple[Sustain, ...] = (0, *self.learnt)
        choices = [self.choice(each) for each in sustains]
        time_out_us = self._best_time_out_us(price_w, limits)
        if time_out_us is not None:
            choices.append(self.choice(time_out_us))
        return cheapest(choices, price_w, self.trial.count, limits)

    def _best_time_out_us(self, price_w: float, limits: Sequence[Limit]) -> int | None:
        """Return the cheapest of all time-outs of 20 ms and more that keep to the limits.

        They are looked at in the order of what they cost at least, until that is more than the best has cost.
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
    """Return the choice with the least cost of those that keep to the limits; None where none does."""
    keeping = [each for each in choices if each.keeps_to(limits)]
    return min(keeping, key=lambda each: each.cost_j(price_w, inferences), default=None)
