"""How far each assumed value of a device model may move before other advice would be better."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.tools.tuning.choices import Choice, Offer, whole_us_of
from htppower.tools.tuning.cost.power import Power
from htppower.tools.tuning.models.costs import timing
from htppower.tools.tuning.traces.trace import begin_of
from htppower.tools.tuning.trial import Trial, thinned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.tools.tuning.cost.outcome import Outcomes
    from htppower.tools.tuning.cost.workload import Timing
    from htppower.tools.tuning.models.model import DeviceModel, Quantity
    from htppower.tools.tuning.session_advice import Aim, SessionAdvice

_US = 1_000_000
# Advice stands while every other choice costs at least this share of it.
STANDS = 0.99
# How many inferences of a long recording, and how many time-outs of each profile, are examined.
_MOST_INFERENCES = 20_000
_TIME_OUTS = 100
_ROUNDS = 10
# The range of a value is a quarter to four times the value, if the model does not give a range.
_FACTOR = 4
# Numbers from _WHOLE on are printed without decimals, numbers below _TINY without an exponent.
_WHOLE = 100
_TINY = 1e-4


@attrs.frozen
class Assumption:
    """An assumed value, and the range within which the advice stands if all other values stay.

    Attributes:
        name: the name of the value in the device model.
        quantity: the value, with its source.
        lowest, highest: the range that is examined: the model's range, or a quarter to four times the value.
        down, up: the advice stands between these values; None if it stands up to that end of the range.
    """

    name: str
    quantity: Quantity
    lowest: float
    highest: float
    down: float | None
    up: float | None

    @property
    def matters(self) -> bool:
        """Whether the advice changes within the range."""
        return self.down is not None or self.up is not None


class _Judge:
    """Decides whether advice still stands if a device model changes."""

    def __init__(self, advice: SessionAdvice, best: Choice, aim: Aim, model: DeviceModel) -> None:
        self._advice = advice
        self._best = best
        self._aim = aim
        self._session = begin_of(advice.session, _MOST_INFERENCES)
        self._whole_us = whole_us_of(self._session)
        # Only the trials of the model itself and of one changed model are kept: each holds dozens of arrays.
        most = 2 * len(advice.offers)
        self._trial = functools.lru_cache(maxsize=most)(self._trial_of)
        self._keeping = functools.lru_cache(maxsize=most)(self._keeping_of)
        # Below 1 already, since a choice with a margin costs a little more than the cheapest.
        self._now = self._share(model) or 0.0

    def stands(self, model: DeviceModel) -> bool:
        """Return whether the advised choice keeps to the limits, and the cheapest is not clearly cheaper than now."""
        share = self._share(model)
        return share is None or share >= STANDS * self._now

    def _share(self, model: DeviceModel) -> float | None:
        """Return the cost of the cheapest choice as a share of the cost of the advised one.

        0 if the advised choice breaks a limit that another choice keeps to. None if no choice keeps to the limits.
        """
        offers = [self._offer(offer, model) for offer in self._advice.offers]
        own = next(each for each in offers if each.variant == self._best.variant)
        advised = own.choice(self._best.sustain)
        least_j = min(map(self._least_j, offers))
        if not advised.keeps_to(self._aim.limits):
            return 0.0 if least_j < np.inf else None
        cost_j = advised.cost_j(self._aim.price_in_cost_w, own.trial.count)
        return min(1.0, least_j / cost_j) if cost_j else 1.0

    def _offer(self, offer: Offer, model: DeviceModel) -> Offer:
        takes = timing(model, offer.variant.profile, self._advice.measured_under.profile)
        return Offer(offer.variant, self._trial(takes), Power.of(model, offer.variant.profile), self._whole_us)

    def _trial_of(self, takes: Timing) -> Trial:
        return Trial(self._session, takes, self._aim.most_us)

    def _least_j(self, offer: Offer) -> float:
        """Return the cost of the cheapest of the examined time-outs that keep to the limits."""
        trial, price_w = offer.trial, self._aim.price_in_cost_w
        at_once = offer.choice(0)
        found = at_once.cost_j(price_w, trial.count) if at_once.keeps_to(self._aim.limits) else np.inf
        outcomes = self._keeping(trial)
        if outcomes.cold.size:
            cost = offer.power.energy_j(outcomes, trial.polled_us, offer.whole_us)
            cost += price_w * (trial.latency_sum_us + outcomes.waits_us) / _US
            found = min(found, float(cost.min()))
        return found

    def _keeping_of(self, trial: Trial) -> Outcomes:
        time_outs = thinned(trial.time_outs_us, _TIME_OUTS)
        return trial.outcomes(time_outs[trial.within(time_outs, self._aim.limits)])


def assumptions(
    advice: SessionAdvice,
    best: Choice,
    model: DeviceModel,
    aim: Aim,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Assumption, ...]:
    """Return each assumed value, and how far it may move before other advice would be better.

    The other values stay as they are. Advice changes if it breaks a limit that another choice keeps to, or if the cost
    of another choice relative to the advice falls by 1 %. ``progress`` is called with the share that is done, always
    below 1.
    """
    judge = _Judge(advice, best, aim, model)
    found = []
    quantities = model.quantities()
    for place, (name, quantity) in enumerate(quantities.items()):
        progress(place / len(quantities))
        if not quantity.assumed or not _concerns(name, advice):
            continue
        lowest, highest = quantity.range or (quantity.value / _FACTOR, quantity.value * _FACTOR)
        down = _edge(judge, model, name, min(lowest, quantity.value))
        up = _edge(judge, model, name, max(highest, quantity.value))
        found.append(Assumption(name, quantity, lowest, highest, down, up))
    return tuple(found)


def _concerns(name: str, advice: SessionAdvice) -> bool:
    """Return whether a value may matter for the session. The speed of a profile that is not tried does not."""
    of, _, profile = name.partition(".")
    tried = {named for offer in advice.offers for named in offer.variant.profile.lineage}
    return of != "speeds" or profile in tried


def _edge(judge: _Judge, model: DeviceModel, name: str, end: float) -> float | None:
    """Return the value nearest to ``end`` that the advice still stands with; None if it stands with ``end``."""
    near, far = model.quantities()[name].value, end
    if near == far or judge.stands(model.with_value(name, far)):
        return None
    for _ in range(_ROUNDS):
        middle = (near + far) / 2
        if judge.stands(model.with_value(name, middle)):
            near = middle
        else:
            far = middle
    return near


def in_words(found: Sequence[Assumption]) -> list[str]:
    """Return a sentence for each value that the advice depends on, and one for all others."""
    said = []
    for each in found:
        if each.matters:
            down = "down to the end of its range" if each.down is None else f"down to {number(each.down)}"
            up = "up to the end of its range" if each.up is None else f"up to {number(each.up)}"
            said.append(f"{each.name} {number(each.quantity.value)}: the advice stands {down}, and {up}")
    rest = [each.name for each in found if not each.matters]
    if rest:
        said.append(f"the advice stands in the whole range of {', '.join(rest)}")
    return said


def number(value: float) -> str:
    """Return a number with about three digits, never as a power of ten."""
    if abs(value) >= _WHOLE:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= _TINY or not value else f"{value:.6f}".rstrip("0")
