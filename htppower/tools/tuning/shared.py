"""Settles sessions that share a core and the process together, since the votes of each session affect the others.

The core runs as fast as the highest raised vote, and draws the power of that profile; it idles at the lowered votes
only while all sessions are lowered. RPC polling belongs to the process: an inference polls if it begins while any
session with polling is raised. An inference is taken to last as long as under its own profile, although the votes of
another session may make it faster.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, TypeVar

import attrs
import numpy as np

from htppower.tools.tuning.cost.outcome import CALLS_OF_A_RAISE
from htppower.tools.tuning.margin import rounded_up
from htppower.tools.tuning.reserve import LONGER_GAPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from htppower.tools.tuning.choices import Choice, Offer
    from htppower.tools.tuning.session_advice import Aim, SessionAdvice

    _Cost: TypeAlias = Callable[[tuple[Choice, ...]], float]
    # The begins and the ends of some spans, each sorted.
    _Times: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]

_Key = TypeVar("_Key")
_US = 1_000_000
# Up to this many combinations are all tried. If there are more, the sessions are settled in turns.
_MOST_COMBINATIONS = 512
_FEWEST_EACH = 4
_MOST_EACH = 24
_MOST_ROUNDS = 8
# How many sustain times are kept that are longer than the best time for the session alone.
_MOST_LONGER = 8


@attrs.frozen(eq=False)
class Together:
    """The result for sessions that share a core.

    Attributes:
        choices: the choice of each session; None if one of them can't keep to its limits.
        energy_j: the energy of all sessions with these choices.
        alone_j: their energy if each session gets the best choice for it alone.
        present_j: their energy with their present profiles.
        tried: how many combinations were tried.
        all_tried: whether all combinations of the kept choices were tried.
        kept: how many choices of each session were kept.
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
    """When a session is raised and busy under a choice, with its offer and calls."""

    offer: Offer
    raised_us: NDArray[np.int64]
    lowered_us: NDArray[np.int64]
    busy_us: tuple[NDArray[np.int64], NDArray[np.int64]]
    begins_us: NDArray[np.int64]
    calls: int

    @property
    def up_us(self) -> _Times:
        """When the votes go up, and when they come down."""
        return self.raised_us, self.lowered_us

    @property
    def polls_us(self) -> int:
        """How long the CPU may poll for the answer of an inference."""
        return self.offer.variant.profile.votes.rpc_polling_time_us or 0


def _inside_any(of_each: Iterable[_Times], at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return, for each time in ``at``, whether it is inside a span of any session."""
    begins, ends = (np.sort(np.concatenate(each)) for each in zip(*of_each, strict=True))
    found: NDArray[np.bool_] = np.searchsorted(begins, at, side="right") > np.searchsorted(ends, at, side="right")
    return found


class _Core:
    """The shared core: the energy that it draws under a combination of choices."""

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
        """Return the energy of the core, and of the CPU for calls and polling, in J."""
        if choices not in self._found:
            self._found[choices] = self._drawn_j([self._spans(*each) for each in enumerate(choices)])
        return self._found[choices]

    def _spans_of(self, place: int, choice: Choice) -> _Spans:
        offer = self._advices[place].offer(choice)
        run = offer.trial.run(choice.sustain)
        return _Spans(offer, run.raised_us, run.lowered_us, run.busy(), run.begins_us, CALLS_OF_A_RAISE * run.cold.size)

    def _drawn_j(self, spans: Sequence[_Spans]) -> float:
        edges = [(each.raised_us, each.lowered_us, *each.busy_us) for each in spans]
        ends = np.array([self._begin_us, self._end_us], np.int64)
        # ``np.unique`` hashes, and takes 90 times as long.
        at = np.sort(np.concatenate((ends, *itertools.chain.from_iterable(edges))))
        lasts_us = np.diff(at)
        at, lasts_us = at[:-1][lasts_us > 0], lasts_us[lasts_us > 0]
        # The fastest of the raised profiles draws the most power.
        lowered_w = max(each.offer.power.lowered_idle_w for each in spans)
        active, idle = np.zeros(at.size), np.full(at.size, lowered_w)
        busy = _inside_any((each.busy_us for each in spans), at)
        # There may be many sessions, but few different powers.
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
    """Return the best choices for sessions that share a core and the process, by the energy that they draw together.

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
    """Choose for one session after another until no change of a single session is better."""
    for _ in range(_MOST_ROUNDS):
        before = chosen
        for place, choices in enumerate(kept):
            chosen = min(((*chosen[:place], each, *chosen[place + 1 :]) for each in choices), key=cost)
        if chosen == before:
            break
    return chosen


def _kept(advice: SessionAdvice, aim: Aim, most: int) -> list[Choice]:
    """Return the choices of a session that are kept; the best for the session alone is first."""
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
    """Yield choices with longer times than those with a margin: they pay if another session keeps the core up."""
    shortest = {each.variant: each.sustain for each in firm}
    for each in front:
        than = shortest.get(each.variant)
        if isinstance(than, int) and isinstance(each.sustain, int) and each.sustain > than:
            yield advice.offer(each).choice(rounded_up(LONGER_GAPS * each.sustain))


def _first_of_each(choices: Iterable[Choice]) -> list[Choice]:
    found: dict[object, Choice] = {}
    for each in choices:
        found.setdefault(each.variant, each)
    return list(found.values())
