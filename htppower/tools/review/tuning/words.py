"""The results of tuning in words: sentences, and the table of the advice next to the present and the front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.words import duration, percent
from htppower.tools.report.words import time as time_text
from htppower.tools.tuning.holds import checked_in_words, holds_in_words
from htppower.tools.tuning.limits import COLD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.tune import Tuned, Tuning, Verified


HEAD = ("", "energy", "p50", "p99", "cold", "calls", "setting")
# Below this share two energies hardly differ.
_HARDLY = 0.005
# How many points of the front the table shows at most.
_POINTS = 8
# With more sessions, the choices of each are not listed.
_MOST_NAMED = 4


def advice_line(tuning: Tuning, tuned: Tuned) -> str:
    """Return the advice for a session, and what it saves."""
    best, present = tuned.best, tuned.advice.present
    if best is None:
        return f"no profile and no sustain time keeps to {_limits(tuning)}"
    said = f"{best}: {energy_text(best.energy_j)}"
    less = 1 - best.energy_j / present.energy_j if present.energy_j else 0.0
    saved = f"{_compared(less)} {present.variant} as it is"
    return f"{said}, {saved}; p99 {time_text(best.latency.p99)}, {100 * best.latency.cold:.3g} % cold starts"


def _compared(less: float) -> str:
    """Return how much less something is than another, with enough digits to show a small difference."""
    if not less:
        return "as much as"
    share = f"{abs(less):.0%}" if abs(less) >= _HARDLY else percent(abs(less)).replace(" %", "%")
    return f"{share} {'less' if less > 0 else 'more'} than"


def aim_line(tuning: Tuning) -> str:
    """Return the aim of the tuning."""
    if tuning.question.limits:
        return f"the least energy with {_limits(tuning)}"
    worth = duration(tuning.question.break_even_us)
    price = f"{tuning.sessions[0].aim.price_w:.3g} J for each second of latency"
    return f"the least energy with latency at a price of {price}, which makes {worth} the break-even time"


def firm_lines(tuned: Tuned) -> Iterator[tuple[str, str]]:
    """Yield the gaps and speeds that advice holds for, and its result on the last third, each with a heading."""
    if tuned.best is not None and tuned.holds is not None:
        yield "holds", holds_in_words(tuned.holds, tuned.best.sustain)
    if tuned.checked is not None:
        choice = "" if tuned.best is not None else f"{tuned.checked.choice}, "
        yield "checked", choice + checked_in_words(tuned.checked, tuned.aim.limits, used=tuned.rest_used)


def impossible_lines(tuned: Tuned) -> Iterator[str]:
    """Yield the limits that can't be kept, and the nearest values."""
    shown: set[Choice] = set()
    for limit, choice in tuned.advice.nearest:
        if choice in shown:
            continue
        shown.add(choice)
        value = choice.latency.of(limit.measure)
        said = f"{100 * value:.3g} %" if limit.measure == COLD else time_text(value)
        if limit.holds(value):
            all_limits = " and ".join(str(each) for each, _ in tuned.advice.nearest)
            nearest = f"{choice}: {latency_text(choice)}"
            yield f"each limit alone can be kept, but not {all_limits} together; nearest is {nearest}"
        else:
            yield f"{limit} is impossible: the nearest is {said}, by {choice}"


def together_line(tuning: Tuning) -> str | None:
    """Return how sessions that share a core were settled; None for one session."""
    together = tuning.together
    if together is None:
        return None
    names = f"{len(tuning.sessions)} sessions share the core and the process"
    if together.choices is None:
        return f"{names}: not settled together, since one of them can't keep to the limits"
    tried = "all combinations" if together.all_tried else "one session after another until none changed"
    return (
        f"{names}: settled together over {_choices(together.kept)} ({tried}, {together.tried} tried); "
        f"together they draw {energy_text(together.energy_j)}, now {energy_text(together.present_j)}, "
        f"each with its own best {energy_text(together.alone_j)}"
    )


def _choices(kept: Sequence[int]) -> str:
    """Return how many choices each session has."""
    if len(kept) <= _MOST_NAMED:
        return f"{' x '.join(map(str, kept))} choices"
    least, most = min(kept), max(kept)
    return f"{least} {f'to {most} ' if most > least else ''}choices of each"


def verified_line(verified: Verified) -> str:
    """Return how the controller's replay compares with the computed result."""
    found = verified.replayed
    if verified.differences:
        return f"{verified.choice}: NOT equal: {'; '.join(verified.differences)}"
    return (
        f"{verified.choice}: equal: {found.calls} calls, {found.raised_us} us raised, "
        f"{len(found.cold)} cold starts, and the end of each inference"
    )


def front_line(tuned: Tuned) -> str:
    """Return how many choices are on the front, of how many."""
    advice = tuned.advice
    of_all = "" if advice.tried >= advice.of else f"; for the advice all {advice.of} were compared"
    return (
        f"{len(advice.front)} of {advice.tried} settings are on the front of energy, p50, p99 and cold starts{of_all}"
    )


def _limits(tuning: Tuning) -> str:
    return " and ".join(map(str, tuning.question.limits))


def latency_text(choice: Choice) -> str:
    """Return the latency of a choice in words."""
    latency = choice.latency
    return f"p50 {time_text(latency.p50)}, p99 {time_text(latency.p99)}, {100 * latency.cold:.3g} % cold starts"


def rows(tuned: Tuned) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table: the present, the advice, and points of the front from one end to the other.

    The energy is also a share of the present energy.
    """
    advice, last = tuned.advice, len(tuned.advice.front) - 1
    found = [("now", advice.present)]
    found += [("advised", tuned.best)] if tuned.best is not None else []
    found += [("alone", advice.best)] if advice.best is not None and advice.best != tuned.best else []
    # At equal steps of their place.
    places = {round(last * step / (_POINTS - 1)) for step in range(_POINTS)} if advice.front else set()
    found += [("front", advice.front[place]) for place in sorted(places)]
    for name, choice in found:
        latency = choice.latency
        share = f" ({choice.energy_j / advice.present.energy_j:.0%})" if advice.present.energy_j else ""
        times = time_text(latency.p50), time_text(latency.p99), f"{100 * latency.cold:.3g} %"
        yield (name, f"{energy_text(choice.energy_j)}{share}", *times, str(choice.calls), str(choice))


def energy_text(energy_j: float, digits: int = 4) -> str:
    """Return an energy in the unit that suits it."""
    for unit, size in (("kJ", 1e3), ("J", 1.0), ("mJ", 1e-3)):
        if abs(energy_j) >= size or unit == "mJ":
            return f"{energy_j / size:.{digits}g} {unit}"
    raise AssertionError
