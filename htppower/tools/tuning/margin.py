"""Chooses, from the sustain times that cost about as little as the cheapest, the one that is furthest from a cliff.

A cliff is a change of all gaps that makes the time break a limit or cost much more. Times are chosen on the first two
thirds of a recording, and checked on the last third.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.profiles.sustain import Adaptive
from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.tuning.fleet.bins import EDGES_US
from htppower.tools.tuning.reserve import Reserve, Strictness, kept
from htppower.tools.tuning.traces.trace import tuned_and_rest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.choices import Choice, Offer
    from htppower.tools.tuning.limits import Limit
    from htppower.tools.tuning.variants import Variant

# A time with a larger margin is not better: gaps seldom double.
LARGEST_MARGIN = 2.0
# Round times are up to 7 % apart, so the cheapest time and some slightly longer ones are tried as well.
_ABOVE = (1.0, 1.005, 1.01, 1.02, 1.03, 1.05, 1.1, 1.15)
# A profile is examined if its cheapest time costs at most this many times as much as the best option found so far.
_WORTH_A_LOOK = 1.05
# If several sessions are settled together, at least this many profiles are examined for each.
_FEWEST_TOGETHER = 6
_MOST_LEARNT = 4


@attrs.frozen
class Wanted:
    """The aim of tuning.

    Attributes:
        limits: what the session must keep to.
        price_w: the price of latency, in J for each s.
        most_us: the longest time-out.
        within: how much more than the least cost a choice may cost, as a share.
        together: whether the session shares a core with others.
    """

    limits: tuple[Limit, ...]
    price_w: float
    most_us: int
    within: float
    together: bool


@attrs.frozen(eq=False)
class Found:
    """The result of tuning.

    Attributes:
        best: the choice that is advised; None if nothing keeps to the limits.
        of_each: the best choice, then the best of each other profile that was examined, in the order of their costs;
            only the best if the session does not share a core.
        strictness: how strictly the choices keep to the limits.
        rest_used: whether the last third was needed to find them.
    """

    best: Choice | None
    of_each: tuple[Choice, ...]
    strictness: Strictness
    rest_used: bool


@attrs.frozen
class _Option:
    """A sustain time of a profile.

    Attributes:
        case: the profile.
        sustain: the sustain time.
        cost_j: what it costs on the first two thirds.
        whole_j: what it costs on the whole recording.
        margin: the factor that all gaps may grow or shrink by until the time costs too much or breaks a limit.
    """

    case: _Case
    sustain: Sustain
    cost_j: float
    whole_j: float
    margin: float = LARGEST_MARGIN

    @property
    def time_out_us(self) -> int:
        """The sustain time, if it is fixed."""
        if isinstance(self.sustain, Adaptive):
            raise TypeError(f"{self.sustain} is learnt")
        return self.sustain

    @property
    def choice(self) -> Choice:
        """The choice, with its result on the whole recording."""
        choice = self.case.offer.choice(self.sustain)
        self.case.let_go()
        return choice


class _Case:
    """A profile on a recording, and on its two parts."""

    def __init__(self, offer: Offer, cheapest: Choice, wanted: Wanted) -> None:
        self.offer = offer
        self._wanted = wanted
        first, rest = tuned_and_rest(offer.trial.session)
        self._first = offer if rest is None else offer.of(first)
        self._others = (offer,) if rest is None else (offer.of(rest), offer)
        self._reserve = Reserve(self._first.trial, wanted.limits)
        self._time_outs_us = candidates_us(cheapest.sustain, wanted.most_us)
        self._options: dict[tuple[Strictness, bool], list[_Option]] = {}

    def holds_on_rest(self, sustain: Sustain) -> bool:
        """Return whether a sustain time keeps to the limits on the last third, and on the whole recording."""
        return all(kept(each.trial, sustain, self._wanted.limits) for each in self._others)

    def keeps(self, sustain: Sustain, strictness: Strictness, with_rest: bool) -> bool:
        """Return whether a sustain time keeps to the limits on the first part, and on the rest too if ``with_rest``."""
        return self._reserve.keeps(sustain, strictness) and (not with_rest or self.holds_on_rest(sustain))

    def options(self, strictness: Strictness, with_rest: bool) -> list[_Option]:
        """Return the sustain times that keep to the limits: maybe 0, and all time-outs from the shortest that does."""
        if (strictness, with_rest) not in self._options:
            first = self._shortest(strictness, with_rest)
            at_once = [self.option(0)] if self.keeps(0, strictness, with_rest) else []
            self._options[strictness, with_rest] = [*at_once, *list(self._fixed())[first:]]
        return self._options[strictness, with_rest]

    def option(self, sustain: Sustain) -> _Option:
        """Return any sustain time with its costs."""
        price_w = self._wanted.price_w
        costs = (each.choice(sustain).cost_j(price_w, each.trial.count) for each in (self._first, self.offer))
        return _Option(self, sustain, *costs)

    def _shortest(self, strictness: Strictness, with_rest: bool) -> int:
        """Return the place of the shortest time-out that keeps to the limits. Longer ones have fewer cold starts."""
        low, high = 0, self._time_outs_us.size
        while low < high:
            middle = (low + high) // 2
            if self.keeps(int(self._time_outs_us[middle]), strictness, with_rest):
                high = middle
            else:
                low = middle + 1
        return low

    def _fixed(self) -> Iterator[_Option]:
        costs = (each.costs_j(self._time_outs_us, self._wanted.price_w) for each in (self._first, self.offer))
        for at_us, cost_j, whole_j in zip(self._time_outs_us.tolist(), *costs, strict=True):
            yield _Option(self, at_us, float(cost_j), float(whole_j))

    def let_go(self) -> None:
        """Forget the large tables of each trial."""
        for offer in (self._first, *self._others):
            offer.trial.let_go()


def with_margin(offers: Sequence[Offer], found: Sequence[Choice], wanted: Wanted) -> Found:
    """Return the choice that is furthest from a cliff.

    Args:
        offers: a session under each profile.
        found: the cheapest choice of each profile that keeps to the limits, and choices that are learnt.
        wanted: the aim.
    """
    cases = _Cases(offers, found, wanted)
    levels = sorted(Strictness, reverse=True) if wanted.limits else [Strictness.KEPT]
    for with_rest in (True,) if wanted.together else (False, True):
        for strictness in levels:
            options = cases.furthest(strictness, with_rest)
            if options:
                break
        if options and (with_rest or cases.passes(options[0], strictness)):
            of_each = options if wanted.together else options[:1]
            return Found(options[0].choice, tuple(each.choice for each in of_each), strictness, with_rest)
    return Found(None, (), Strictness.KEPT, rest_used=True)


class _Cases:
    """The profiles of a session. A profile is examined only if it may be among the best."""

    def __init__(self, offers: Sequence[Offer], found: Sequence[Choice], wanted: Wanted) -> None:
        self._wanted = wanted
        self._offers = {offer.variant: offer for offer in offers}
        ordered = sorted((each for each in found if each.keeps_to(wanted.limits)), key=self._whole_j)
        self._fixed = [each for each in ordered if not isinstance(each.sustain, Adaptive)]
        self._learnt = [each for each in ordered if isinstance(each.sustain, Adaptive)]
        self._cases: dict[Variant, _Case] = {}

    def furthest(self, strictness: Strictness, with_rest: bool) -> list[_Option]:
        """Return the option of each profile that is furthest from a cliff, and the best option first."""
        of_each = list(self._looked_at(strictness, with_rest))
        found = []
        if of_each:
            most_j = (1 + self._wanted.within) * min(_least_j(each, with_rest) for each in of_each)
            best = max((each for options in of_each for each in _near(options, most_j, with_rest)), key=_order)
            found = [best, *(each for each in self._others(of_each, with_rest) if each.case is not best.case)]
        learnt = self._best_learnt(found, strictness, with_rest)
        return found if learnt is None else [learnt, *found]

    def passes(self, option: _Option, strictness: Strictness) -> bool:
        """Return whether an option keeps to the limits on the rest, and is about as cheap on the whole as any other."""
        if not option.case.holds_on_rest(option.sustain):
            return False
        least_j = min(_least_j(each, True) for each in self._looked_at(strictness, False))
        return option.whole_j <= (1 + self._wanted.within) * least_j

    def _looked_at(self, strictness: Strictness, with_rest: bool) -> Iterator[list[_Option]]:
        """Yield the options of each profile that may be among the best, in the order of the profiles' costs."""
        least_j = np.inf
        for place, cheapest in enumerate(self._fixed):
            enough = not self._wanted.together or place >= _FEWEST_TOGETHER
            if enough and self._whole_j(cheapest) > _WORTH_A_LOOK * least_j:
                break
            case = self._case(cheapest)
            options = case.options(strictness, with_rest)
            case.let_go()
            if options:
                least_j = min(least_j, _least_j(options, True))
                yield options

    def _others(self, of_each: Sequence[list[_Option]], with_rest: bool) -> list[_Option]:
        """Return, for each profile, the option that is furthest from a cliff near the profile's own least cost."""
        within = 1 + self._wanted.within
        found = (max(_near(each, within * _least_j(each, with_rest), with_rest), key=_order) for each in of_each)
        return sorted(found, key=lambda each: each.whole_j)

    def _best_learnt(self, found: Sequence[_Option], strictness: Strictness, with_rest: bool) -> _Option | None:
        """Return the cheapest sustain time that is learnt, if it costs clearly less than any fixed one."""
        most_j = found[0].whole_j / (1 + self._wanted.within) if found else np.inf
        for choice in self._learnt[:_MOST_LEARNT]:
            if self._whole_j(choice) >= most_j:
                break
            case = self._case(choice)
            if case.keeps(choice.sustain, strictness, with_rest):
                option = case.option(choice.sustain)
                case.let_go()
                return option
        return None

    def _case(self, choice: Choice) -> _Case:
        if choice.variant not in self._cases:
            self._cases[choice.variant] = _Case(self._offers[choice.variant], choice, self._wanted)
        return self._cases[choice.variant]

    def _whole_j(self, choice: Choice) -> float:
        return choice.cost_j(self._wanted.price_w, self._offers[choice.variant].trial.count)


def _cost_j(option: _Option, with_rest: bool) -> float:
    return option.whole_j if with_rest else option.cost_j


def _least_j(options: Sequence[_Option], with_rest: bool) -> float:
    return min(_cost_j(each, with_rest) for each in options)


def _near(options: Sequence[_Option], most_j: float, with_rest: bool) -> Iterator[_Option]:
    """Yield the options of a profile that cost at most ``most_j``, with their margins.

    Neighbouring times that cost at most that much form a run. The margin of a time is its ratio to the shortest time
    of its run, or the ratio of the longest time to it, whichever is less.
    """
    run: list[_Option] = []
    for option in (*options, None):
        near = option is not None and _cost_j(option, with_rest) <= most_j
        if option is not None and near and option.sustain == 0:
            yield option
        elif option is not None and near:
            run.append(option)
        elif run:
            shortest_us, longest_us = run[0].time_out_us, np.inf if option is None else run[-1].time_out_us
            for each in run:
                margin = min(each.time_out_us / shortest_us, longest_us / each.time_out_us, LARGEST_MARGIN)
                yield attrs.evolve(each, margin=margin)
            run = []


def _order(option: _Option) -> tuple[float, float]:
    """Return a sort key for options: the margin, then the cost."""
    return option.margin, -option.whole_j


def candidates_us(cheapest: Sustain, most_us: int) -> NDArray[np.int64]:
    """Return the time-outs to examine: round ones, the cheapest one, and some that are slightly longer."""
    found = [each for each in EDGES_US if SHORTEST_SUSTAIN_US <= each <= most_us]
    if not isinstance(cheapest, Adaptive) and cheapest >= SHORTEST_SUSTAIN_US:
        found += [min(rounded_up(cheapest * each), most_us) for each in _ABOVE]
    return np.unique(np.array(found, np.int64))


def rounded_up(time_us: float) -> int:
    """Return a time rounded up to four digits."""
    step = int(10 ** max(0, len(str(int(time_us))) - 4))
    return math.ceil(time_us / step) * step
