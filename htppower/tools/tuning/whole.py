"""Computes advice that was found on stretches of a long recording again on all of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.profiles.sustain import Adaptive
from htppower.rules.relax_rules import SHORTEST_SUSTAIN_US
from htppower.tools.report.words import counted
from htppower.tools.tuning.choices import Choice, cheapest, whole_us_of
from htppower.tools.tuning.cost.blocks import fits
from htppower.tools.tuning.long_trial import LongTrial
from htppower.tools.tuning.margin import rounded_up
from htppower.tools.tuning.reserve import Strictness
from htppower.tools.tuning.session_advice import front_of, nearest_to
from htppower.tools.tuning.traces.stretches import STRETCHES
from htppower.tools.tuning.trial import thinned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.session_advice import Aim, SessionAdvice
    from htppower.tools.tuning.traces.trace import SessionTrace
    from htppower.tools.tuning.trial import Trial

# How many choices of the front are computed on the whole recording.
_MOST_OF_FRONT = 16
# If the best time breaks a limit on the whole recording, a longer time may keep to it, or the longest that is tried.
_LONGER = (1.01, 1.03, 1.1, 1.3, 2.0)


def on_whole(
    advice: SessionAdvice, best: Choice | None, session: SessionTrace, aim: Aim
) -> tuple[SessionAdvice, Choice | None]:
    """Return advice with its choices computed on the whole recording, and the best choice.

    If the best choice breaks a limit there, or costs more than another by more than the share that the aim allows, the
    cheapest of the other choices that keeps to all limits replaces it. With limits, a learnt time is not advised.

    Args:
        advice: the advice on stretches of the recording.
        best: the choice that is advised there: the best for the session alone, or together with others.
        session: the whole recording.
        aim: the aim of the advice.
    """
    found = _computed(advice, _wanted(advice, best, aim), session)
    count, price_w = session.begins_us.size, aim.price_in_cost_w
    # The results of learnt times are estimated, so they prove neither a limit nor a lower cost.
    exact = [each for each in found.values() if not isinstance(each.sustain, Adaptive)]
    least = cheapest(exact, price_w, count, aim.limits)

    def again(choice: Choice | None) -> Choice | None:
        if choice is None:
            # If no choice keeps to the limits on the stretches, one may do so on the whole recording.
            return least if advice.cheapest is None else None
        there = found[choice]
        if isinstance(there.sustain, Adaptive):
            return least if aim.limits else there
        most_j = math.inf if least is None else (1 + aim.within) * least.cost_j(price_w, count)
        return there if there.keeps_to(aim.limits) and there.cost_j(price_w, count) <= most_j else least

    margin, alone = advice.margin, again(advice.best)
    if margin is not None:
        of_each = tuple(found[each] for each in margin.of_each)
        is_same = advice.best is not None and alone is found[advice.best]
        # A choice that replaces another was found on all of the recording, and only just keeps to the limits.
        strictness = margin.strictness if is_same else Strictness.KEPT
        rest_used = margin.rest_used or not is_same
        margin = attrs.evolve(margin, best=alone, of_each=of_each, strictness=strictness, rest_used=rest_used)
    on = f"{counted(advice.session.begins_us.size, 'inference')} in {STRETCHES} stretches, spread over it"
    note = f"the recording is long: the choices were compared on {on}; the results of {len(found)} are of all of it"
    if any(isinstance(each.sustain, Adaptive) for each in found):
        note += ", but those of learnt sustain times are estimated from the stretches"
    whole = attrs.evolve(
        advice,
        session=session,
        present=found[advice.present],
        front=front_of(exact),
        best=alone,
        cheapest=least,
        margin=margin,
        nearest=() if least is not None else nearest_to(exact, aim.limits),
        notes=(*advice.notes, note),
    )
    return whole, again(best)


def _wanted(advice: SessionAdvice, best: Choice | None, aim: Aim) -> list[Choice]:
    """Return the choices to compute: all that the advice names, some of the front, and times longer than the best."""
    named = (advice.present, best, advice.best, advice.cheapest, *(choice for _, choice in advice.nearest))
    of_each = () if advice.margin is None else advice.margin.of_each
    front = [each for each in advice.front if _is_quick(advice.offer(each).trial, each.sustain)]
    spread = [front[place] for place in thinned(np.arange(len(front)), _MOST_OF_FRONT).tolist()]
    longer = []
    if best is not None and aim.limits and isinstance(best.sustain, int):
        times_us = [*(rounded_up(best.sustain * each) for each in _LONGER if best.sustain), aim.most_us]
        offer = advice.offer(best)
        longer = [offer.choice(min(each, aim.most_us)) for each in times_us if _is_quick(offer.trial, each)]
    return list(dict.fromkeys(each for each in (*named, *of_each, *spread, *longer) if each is not None))


def _is_quick(trial: Trial, sustain: Sustain) -> bool:
    """Return whether the outcome of a sustain time is found without a loop over all gaps."""
    if isinstance(sustain, Adaptive):
        return True
    return trial.workload.one_at_a_time if sustain == 0 else sustain >= SHORTEST_SUSTAIN_US and fits(trial.workload)


def _computed(advice: SessionAdvice, choices: Sequence[Choice], session: SessionTrace) -> Mapping[Choice, Choice]:
    """Return the choices with their results on the whole recording."""
    by_trial: dict[Trial, list[Choice]] = {}
    for choice in choices:
        by_trial.setdefault(advice.offer(choice).trial, []).append(choice)
    whole_us = whole_us_of(session)
    found = {}
    for trial, under in by_trial.items():
        long = LongTrial(trial, session, list(dict.fromkeys(each.sustain for each in under)))
        for each in under:
            offer = attrs.evolve(advice.offer(each), trial=long, whole_us=whole_us)
            found[each] = offer.choice(each.sustain)
    return found
