"""Sessions that share a core and the process: settled together, since their votes are not cast one by one.

The core runs as fast as the highest vote of those that are up asks for, and draws what that profile draws; it idles
lowered only while all are. RPC polling is of the process: every inference polls that begins while a session is raised
that asks for it. Inferences are taken to last as long as under their own profile: what another's votes make faster is
not counted on.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, TypeVar

import attrs
import numpy as np

from htppower.tuning.margin import rounded_up
from htppower.tuning.reserve import LONGER_GAPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from htppower.tuning.choices import Choice, Offer
    from htppower.tuning.session_advice import Aim, SessionAdvice

    _Cost: TypeAlias = Callable[[tuple[Choice, ...]], float]
    # When something begins, and when it ends, each rising.
    _Times: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]

_Key = TypeVar("_Key")
_US = 1_000_000
# So many combinations are all tried; of more, one session after another is given what suits the others best.
_MOST_COMBINATIONS = 512
_FEWEST_EACH = 4
_MOST_EACH = 24
_MOST_ROUNDS = 8
# How many times of a session are kept that are longer than the best time for the session alone.
_MOST_LONGER = 8


@attrs.frozen(eq=False)
class Together:
    """What is found for sessions that share a core.

    Attributes:
        choices: what each session is given; None where one of them can't keep to its limits.
        energy_j: what that draws on the core, together.
        alone_j: what it draws if each is given what is best for it alone.
        present_j: what their present profiles draw.
        tried: how many combinations were tried.
        all_tried: whether those are all of the choices that were kept of each session.
        kept: how many of each session were.
    """

    choices: tuple[Choice, ...] | None
    energy_j: float
    alone_j: float
    present_j: float
    tried: int
    all_tried: bool
    kept: tuple[int, ...]


@attrs.frozen(eq=False)
class _Spans:
    """When a session is raised and busy under a choice, and what it draws."""

    offer: Offer
    raised_us: NDArray[np.int64]
    lowered_us: NDArray[np.int64]
    busy_us: tuple[NDArray[np.int64], NDArray[np.int64]]
    begins_us: NDArray[np.int64]
    calls: int

    @property
    def up_us(self) -> _Times:
        """When its votes go up, and when they come down."""
        return self.raised_us, self.lowered_us

    @property
    def polls_us(self) -> int:
        """How long its votes let the CPU poll."""
        return self.offer.variant.profile.votes.rpc_polling_time_us or 0


def _inside_any(of_each: Iterable[_Times], at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return at which times any of several sessions is between a begin of its and the end of that."""
    begins, ends = (np.sort(np.concatenate(each)) for each in zip(*of_each, strict=True))
    found: NDArray[np.bool_] = np.searchsorted(begins, at, side="right") > np.searchsorted(ends, at, side="right")
    return found


class _Core:
    """The core that all share: what it draws under a combination of choices."""

    def __init__(self, advices: Sequence[SessionAdvice]) -> None:
        self._advices = advices
        self._begin_us = min(int(each.session.begins_us[0]) for each in advices)
        self._end_us = max(int(each.session.ends_us.max()) for each in advices)
        self._found: dict[tuple[Choice, ...], float] = {}
        self._spans = functools.lru_cache(maxsize=1024)(self._spans_of)

    @property
    def tried(self) -> int:
        """How many combinations were tried."""
        return len(self._found)

    def energy_j(self, choices: tuple[Choice, ...]) -> float:
        """Return what the core draws, and the CPU for calls and polling, in J."""
        if choices not in self._found:
            self._found[choices] = self._drawn_j([self._spans(*each) for each in enumerate(choices)])
        return self._found[choices]

    def _spans_of(self, place: int, choice: Choice) -> _Spans:
        offer = self._advices[place].offer(choice)
        run = offer.trial.run(choice.sustain)
        return _Spans(offer, run.raised_us, run.lowered_us, run.busy(), run.begins_us, choice.calls)

    def _drawn_j(self, spans: Sequence[_Spans]) -> float:
        edges = [(each.raised_us, each.lowered_us, *each.busy_us) for each in spans]
        ends = np.array([self._begin_us, self._end_us], np.int64)
        # ``np.unique`` hashes, and takes 90 times as long.
        at = np.sort(np.concatenate((ends, *itertools.chain.from_iterable(edges))))
        lasts_us = np.diff(at)
        at, lasts_us = at[:-1][lasts_us > 0], lasts_us[lasts_us > 0]
        # Of those that are up at a time, the profile that draws most is the one that runs fastest.
        lowered_w = max(each.offer.power.lowered_idle_w for each in spans)
        active, idle = np.zeros(at.size), np.full(at.size, lowered_w)
        busy = _inside_any((each.busy_us for each in spans), at)
        # Sessions are many, what they may draw is not.
        for (active_w, idle_w), alike in _grouped(
            spans, lambda each: (each.offer.power.active_w, each.offer.power.raised_idle_w)
        ):
            up = _inside_any((each.up_us for each in alike), at)
            active = np.where(up, np.maximum(active, active_w), active)
            idle = np.where(up, np.maximum(idle, idle_w), idle)
        # Votes that are up after the last inference count as lowered, as in a tuning of one session.
        last_us = max(int(each.busy_us[1][-1]) for each in spans)
        drawn_us = np.where(at >= last_us, lowered_w, np.where(busy, active, idle)) * lasts_us
        drawn_us -= np.where(at >= self._end_us, lowered_w, 0.0) * lasts_us
        calls_j = sum(each.calls * each.offer.power.call_j for each in spans)
        return float(drawn_us.sum()) / _US + calls_j + self._polled_j(spans)

    def _polled_j(self, spans: Sequence[_Spans]) -> float:
        begins_us = np.concatenate([each.begins_us for each in spans])
        takes_us = np.concatenate([each.offer.trial.workload.takes_us for each in spans])
        polls_us = np.zeros(begins_us.size, np.int64)
        for longest_us, alike in _grouped(spans, lambda each: each.polls_us):
            if longest_us:
                up = _inside_any((each.up_us for each in alike), begins_us)
                polls_us = np.where(up, np.maximum(polls_us, longest_us), polls_us)
        return spans[0].offer.power.polling_w * float(np.minimum(polls_us, takes_us).sum()) / _US


def _grouped(spans: Iterable[_Spans], by: Callable[[_Spans], _Key]) -> Iterable[tuple[_Key, list[_Spans]]]:
    found: dict[_Key, list[_Spans]] = {}
    for each in spans:
        found.setdefault(by(each), []).append(each)
    return found.items()


def settle_together(advices: Sequence[SessionAdvice], aim: Aim) -> Together:
    """Return what is best for sessions that share a core and the process, by the energy that they draw together.

    For each session and profile, the choice with the largest margin and some longer times are kept. Without a margin,
    the choices on the session's front that keep to the limits are kept: at least the best of each profile. All
    combinations are tried. If there are too many, one session after another gets the choice that suits the others
    best, until none changes.
    """
    core = _Core(advices)
    present_j = core.energy_j(tuple(each.present for each in advices))
    of_each = max(_FEWEST_EACH, min(_MOST_EACH, int(_MOST_COMBINATIONS ** (1 / len(advices)))))
    kept = [_kept(each, aim, of_each) for each in advices]
    if not all(kept):
        return Together(None, math.nan, math.nan, present_j, core.tried, False, tuple(map(len, kept)))

    def cost(choices: tuple[Choice, ...]) -> float:
        late_us = sum(
            choice.latency.mean * advice.session.begins_us.size for choice, advice in zip(choices, advices, strict=True)
        )
        return core.energy_j(choices) + aim.price_in_cost_w * late_us / _US

    alone = tuple(each[0] for each in kept)
    all_tried = math.prod(map(len, kept)) <= _MOST_COMBINATIONS
    best = min(itertools.product(*kept), key=cost) if all_tried else _in_turns(alone, kept, cost)
    return Together(
        best, core.energy_j(best), core.energy_j(alone), present_j, core.tried, all_tried, tuple(map(len, kept))
    )


def _in_turns(chosen: tuple[Choice, ...], kept: Sequence[Sequence[Choice]], cost: _Cost) -> tuple[Choice, ...]:
    """Return what no session alone can better, beginning with what is best for each alone."""
    for _ in range(_MOST_ROUNDS):
        before = chosen
        for place, choices in enumerate(kept):
            chosen = min(((*chosen[:place], each, *chosen[place + 1 :]) for each in choices), key=cost)
        if chosen == before:
            break
    return chosen


def _kept(advice: SessionAdvice, aim: Aim, most: int) -> list[Choice]:
    """Return the choices of a session that are kept, the best for it alone first."""
    if advice.best is None:
        return []
    inferences = advice.session.begins_us.size
    keeping = sorted(
        (each for each in advice.front if each.keeps_to(aim.limits)),
        key=lambda each: each.cost_j(aim.price_in_cost_w, inferences),
    )
    if advice.margin is not None:
        longer = itertools.islice(_longer(advice, advice.margin.of_each, keeping), _MOST_LONGER)
        return list(
            dict.fromkeys(
                (advice.best, *advice.margin.of_each, *(each for each in longer if each.keeps_to(aim.limits)))
            )
        )[:most]
    first = _first_of_each(keeping)
    return list(dict.fromkeys((advice.best, *first, *keeping)))[:most]


def _longer(advice: SessionAdvice, firm: Sequence[Choice], front: Sequence[Choice]) -> Iterator[Choice]:
    """Yield choices with longer times than those with a margin: they may pay if another session keeps the core up."""
    shortest = {each.variant: each.sustain for each in firm}
    for each in front:
        than = shortest.get(each.variant)
        if isinstance(than, int) and isinstance(each.sustain, int) and each.sustain > than:
            yield advice.offer(each).choice(rounded_up(LONGER_GAPS * each.sustain))


def _first_of_each(choices: Iterable[Choice]) -> list[Choice]:
    """Return the first choice of each profile."""
    found: dict[object, Choice] = {}
    for each in choices:
        found.setdefault(each.variant, each)
    return list(found.values())
