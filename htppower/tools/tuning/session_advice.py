"""The advice for one session over all profiles and sustain times: the front, and the best choice within the limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Adaptive
from htppower.tools.tuning.choices import Choice, Offer, cheapest, pareto_front, whole_us_of
from htppower.tools.tuning.cost.power import Power
from htppower.tools.tuning.margin import Found, Wanted, candidates_us, with_margin
from htppower.tools.tuning.models.costs import break_even_us, timing
from htppower.tools.tuning.trial import Trial, thinned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.limits import Limit
    from htppower.tools.tuning.models.model import DeviceModel
    from htppower.tools.tuning.traces.trace import SessionTrace
    from htppower.tools.tuning.variants import Variant

_US = 1_000_000
# Learnt sustain times are tried that aim at these shares of cold starts, in millionths.
_COLD_STARTS_PPM = (10_000, 50_000, 100_000)
# Bounds the time for quantiles, which are calculated for each inference and setting, to a few seconds.
_MOST_LOOKED_AT = 100_000_000
_FEWEST_SETTINGS = 24
# Bounds the time for all learnt sustain times, which are calculated gap by gap, to a few seconds.
_MOST_LEARNT = 1_200_000


@attrs.frozen
class Aim:
    """The aim of tuning a session.

    Attributes:
        limits: what it must keep to; the choice with the least energy that does is best.
        price_w: the energy that a second less of latency is worth, in J for each s; not used if there are limits.
        most_us: the longest time-out that is tried.
        settings: how many time-outs of a profile are tried at most for the front; for the best, all are.
        within: how much more than the least cost a choice with a larger margin may cost, as a share; with 0 the
            cheapest is best.
        together: whether the session shares a core with others.
    """

    limits: tuple[Limit, ...] = ()
    price_w: float = 0.0
    most_us: int = 10_000_000
    settings: int = 200
    within: float = 0.0
    together: bool = False

    @property
    def price_in_cost_w(self) -> float:
        """The price of latency for comparing choices: 0 if limits bound the latency."""
        return 0.0 if self.limits else self.price_w


@attrs.frozen(eq=False)
class SessionAdvice:
    """The advice for one session.

    Attributes:
        session: the recording of the session.
        measured_under: the profile that it was recorded under.
        offers: the session under each variant.
        present: the choice of that profile, unchanged.
        front: the choices on the front of energy and latency, from the least energy.
        best: the choice that is advised; None if no choice keeps to the limits.
        cheapest: the cheapest choice that keeps to the limits; None if no choice does.
        margin: how ``best`` was found; None if ``best`` is the cheapest choice.
        tried, of: how many time-outs were tried for the front, and how many there are.
        nearest: if no choice keeps to the limits, each limit with the choice that is nearest to it.
        notes: what was left out, and why.
    """

    session: SessionTrace
    measured_under: Variant
    offers: tuple[Offer, ...]
    present: Choice
    front: tuple[Choice, ...]
    best: Choice | None
    cheapest: Choice | None
    margin: Found | None
    tried: int
    of: int
    nearest: tuple[tuple[Limit, Choice], ...] = ()
    notes: tuple[str, ...] = ()

    def offer(self, choice: Choice) -> Offer:
        """Return the offer of a choice's variant."""
        return next(each for each in self.offers if each.variant == choice.variant)

    def on(self, session: SessionTrace) -> SessionAdvice:
        """Return the same choices with offers for another recording of the session."""
        if session is self.session:
            return self
        return attrs.evolve(self, session=session, offers=tuple(each.of(session) for each in self.offers))


def price_of_latency_w(model: DeviceModel, profile: Profile, break_even: int) -> float:
    """Return the price of latency, in J for each s, that gives a profile a break-even time.

    0 if the break-even time of the profile is longer even without a price.

    Args:
        model: the device.
        profile: the profile; it casts votes.
        break_even: the break-even time, in us.
    """
    power = Power.of(model, profile)
    late_s = model.raise_late_us.value / _US
    saved_j = (power.raised_idle_w - power.lowered_idle_w) * break_even / _US
    return max(0.0, (saved_j - 2 * power.call_j) / late_s) if late_s else 0.0


def make_offers(
    session: SessionTrace, variants: Sequence[Variant], measured_under: Profile, model: DeviceModel, most_us: int
) -> tuple[Offer, ...]:
    """Return a session under each variant, by a device model."""
    whole_us = whole_us_of(session)
    trials = {}
    offers = []
    for variant in variants:
        takes = timing(model, variant.profile, measured_under)
        # Profiles of the same speed share a trial.
        if takes not in trials:
            trials[takes] = Trial(session, takes, most_us)
        offers.append(Offer(variant, trials[takes], Power.of(model, variant.profile), whole_us))
    return tuple(offers)


def advise(
    session: SessionTrace,
    variants: Sequence[Variant],
    measured_under: Variant,
    model: DeviceModel,
    aim: Aim,
    progress: Callable[[float], None] = lambda _: None,
) -> SessionAdvice:
    """Return the advice for a session with at least one inference; ``measured_under`` is one of the variants.

    ``progress`` is called with the share that is done, 0 to 1.
    """
    offers = make_offers(session, variants, measured_under.profile, model, aim.most_us)
    most = max(_FEWEST_SETTINGS, min(aim.settings, _MOST_LOOKED_AT // (session.begins_us.size * len(offers))))
    inferences, price_w = session.begins_us.size, aim.price_in_cost_w
    fixed: list[Choice] = []
    found: list[Choice] = []
    for place, offer in enumerate(offers):
        fixed += _fixed(offer, most)
        if offer.variant == measured_under:
            present = _present(offer)
        best_of_it = offer.best(price_w, aim.limits)
        if best_of_it is not None:
            found.append(best_of_it)
            # The margin needs these later. The trial stores them, so its large tables are made only once.
            offer.costs_j(candidates_us(best_of_it.sustain, aim.most_us), price_w)
        if not any(each.trial is offer.trial for each in offers[place + 1 :]):
            offer.trial.let_go()
        progress((place + 1) / (len(offers) + 2))
    found.sort(key=lambda each: each.cost_j(price_w, inferences))
    offers, notes = _with_learnt(offers, [each.variant for each in found], model, aim)
    found += [offer.choice(each) for offer in offers for each in offer.learnt]
    best = cheapest(found, price_w, inferences, aim.limits)
    margin = None
    if aim.within and best is not None:
        wanted = Wanted(aim.limits, price_w, aim.most_us, aim.within, aim.together)
        margin = with_margin(offers, found, wanted)
    all_choices = [*fixed, present, *found]
    for offer in offers:
        offer.trial.let_go()
    progress(1)
    return SessionAdvice(
        session=session,
        measured_under=measured_under,
        offers=offers,
        present=present,
        front=front_of(all_choices),
        best=best if margin is None else margin.best,
        cheapest=best,
        margin=margin,
        tried=sum(min(most, offer.trial.time_outs_us.size) + 1 for offer in offers),
        of=sum(offer.trial.time_outs_us.size + 1 for offer in offers),
        nearest=() if best is not None else nearest_to(all_choices, aim.limits),
        notes=notes,
    )


def _fixed(offer: Offer, most: int) -> list[Choice]:
    """Return the choices of an offer with fixed sustain times, as far as they are on the front."""
    # This takes much memory for a moment, so it precedes the time-outs, whose tables stay in memory.
    at_once = offer.choice(0)
    choices = [at_once, *offer.choices(thinned(offer.trial.time_outs_us, most))]
    # Include the choice with the least energy, without regard to latency.
    least = offer.best(0.0, ())
    return choices if least is None or isinstance(least.sustain, Adaptive) else [*choices, least]


def front_of(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return the choices on the front of energy, p50, p99 and cold starts."""
    rows = [(each.energy_j, each.latency.p50, each.latency.p99, each.cold) for each in choices]
    return tuple(choices[place] for place in pareto_front(np.array(rows, dtype=np.float64).reshape(-1, 4)).tolist())


def _with_learnt(
    offers: Sequence[Offer], best: Sequence[Variant], model: DeviceModel, aim: Aim
) -> tuple[tuple[Offer, ...], tuple[str, ...]]:
    """Return the offers with learnt sustain times to try; if the recording is long, only the best offers get them."""
    left = _MOST_LEARNT
    chosen: dict[Variant, tuple[Adaptive, ...]] = {}
    for variant in dict.fromkeys((*best, *(offer.variant for offer in offers))):
        offer = next(each for each in offers if each.variant == variant)
        tried = _learnt(variant.profile, model, aim)
        left -= offer.trial.count * len(tried)
        if left < 0 and chosen:
            break
        chosen[variant] = tried
    made = tuple(attrs.evolve(offer, learnt=chosen.get(offer.variant, ())) for offer in offers)
    notes = []
    if len(chosen) < len(offers):
        names = ", ".join(map(str, chosen))
        notes.append(f"learnt sustain times were tried only under {names}, because the recording is long")
    return made, tuple(notes)


def _learnt(profile: Profile, model: DeviceModel, aim: Aim) -> tuple[Adaptive, ...]:
    """Return the learnt sustain times to try: for the break-even times, and for some shares of cold starts."""
    found: list[Adaptive] = []
    for price_w in dict.fromkeys((aim.price_w, 0.0)):
        exact_us = break_even_us(model, profile, price_w)
        if exact_us <= LONGEST_SUSTAIN_US // 2:
            found.append(Adaptive(break_even_us=max(1, round(exact_us))))
    asked = [int(each.most * 1_000_000) for each in aim.limits if each.measure == "cold" and each.most > 0]
    found += [Adaptive(cold_starts_ppm=ppm) for ppm in dict.fromkeys((*asked, *_COLD_STARTS_PPM))]
    return tuple(dict.fromkeys(found))


def _present(offer: Offer) -> Choice:
    """Return the choice of the profile that the session was recorded under, with the profile's own sustain time."""
    relax = offer.variant.profile.relax
    return offer.choice(0 if relax is None else relax.after_inference_us)


def nearest_to(choices: Sequence[Choice], limits: Sequence[Limit]) -> tuple[tuple[Limit, Choice], ...]:
    """Return, for each limit that no choice keeps to, the nearest choice; for all limits if each alone can be kept."""
    impossible = [limit for limit in limits if not any(each.keeps_to((limit,)) for each in choices)]
    return tuple(
        (limit, min(choices, key=lambda each: (each.latency.of(limit.measure), each.energy_j))) for limit in impossible
    ) or tuple((limit, min(choices, key=lambda each: _excess(each, limits))) for limit in limits)


def _excess(choice: Choice, limits: Sequence[Limit]) -> tuple[float, float]:
    """Return a sort key: the largest ratio of a measure to its limit, then the energy."""
    return (
        max(choice.latency.of(each.measure) / float(each.most) if each.most else float("inf") for each in limits),
        choice.energy_j,
    )
