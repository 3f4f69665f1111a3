"""The range of gaps and speeds that advice holds for, and its result on the last third of the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.traces.trace import begin_of, tuned_and_rest, with_longer_gaps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.choices import Choice, Offer
    from htppower.tools.tuning.limits import Limit

# Advice holds while its extra cost over the best time of its profile grows by no more than this share.
_COSTS_MORE = 0.01
# Only this many inferences of a long recording are used.
_MOST_INFERENCES = 20_000
# The largest factors that are tried for longer gaps, and for longer or shorter inferences.
_LONGEST_GAPS = 4.0
_LONGEST_INFERENCES = 2.0
_FIRST_STEP = 0.01
# Below this share two costs hardly differ.
_HARDLY = 0.0005
_ROUNDS = 5


@attrs.frozen
class Holds:
    """How much a recording may change while a choice keeps to the limits and stays about as cheap.

    Attributes:
        longer_gaps: the largest allowed factor for the length of all gaps; None if no limit was found.
        gap_us: the longest gap of the recording that the votes stay up for even if gaps are that much longer; None if
            the sustain time is learnt or 0.
        shorter, longer: the smallest and the largest factor for the length of all inferences; None if no limit was
            found.
        inference_us: the median length of an inference in the recording.
    """

    longer_gaps: float | None
    gap_us: int | None
    shorter: float | None
    longer: float | None
    inference_us: int


@attrs.frozen
class Checked:
    """The result of a choice on the last third of a recording.

    Attributes:
        choice: the choice, with its result on the last third.
        loss: its extra cost there over the best time of its profile, as a share; None if no time keeps to the limits.
        broken: the limits that the choice breaks there.
    """

    choice: Choice
    loss: float | None
    broken: tuple[Limit, ...]


def check(offer: Offer, choice: Choice, limits: Sequence[Limit], price_w: float) -> Checked | None:
    """Return the result of a choice on the last third of a recording; None if the recording is too short."""
    _, rest = tuned_and_rest(offer.trial.session)
    if rest is None:
        return None
    there = offer.of(rest)
    found = there.choice(choice.sustain)
    broken = tuple(each for each in limits if not found.keeps_to((each,)))
    return Checked(found, _loss(there, choice, limits, price_w), broken)


def holds(offer: Offer, choice: Choice, limits: Sequence[Limit], price_w: float) -> Holds | None:
    """Return the gaps and speeds that a choice holds for; None if it does not hold at the start of the recording.

    Only the first 20,000 inferences of a long recording are used.
    """
    session = begin_of(offer.trial.session, _MOST_INFERENCES)
    now = offer.of(session)
    loss = _loss(now, choice, limits, price_w)
    if loss is None or not now.choice(choice.sustain).keeps_to(limits):
        return None

    def stands(changed: Offer) -> bool:
        if not changed.choice(choice.sustain).keeps_to(limits):
            return False
        there = _loss(changed, choice, limits, price_w)
        return there is not None and there <= loss + _COSTS_MORE

    def of_gaps(factor: float) -> bool:
        return stands(offer.of(with_longer_gaps(session, factor)))

    def of_speed(factor: float) -> bool:
        return stands(attrs.evolve(now, trial=now.trial.slower(factor)))

    gaps = _furthest(of_gaps, _LONGEST_GAPS)
    shorter = _furthest(lambda factor: of_speed(1 / factor), _LONGEST_INFERENCES)
    fixed = not isinstance(choice.sustain, Adaptive) and choice.sustain
    return Holds(
        longer_gaps=gaps,
        gap_us=round(fixed / (gaps or _LONGEST_GAPS)) if fixed else None,
        shorter=None if shorter is None else 1 / shorter,
        longer=_furthest(of_speed, _LONGEST_INFERENCES),
        inference_us=round(float(np.median(now.trial.workload.takes_us))),
    )


def holds_in_words(found: Holds, sustain: Sustain) -> str:
    """Return the longest gaps and the speeds that a choice holds for: ``for gaps up to 31 ms (now 26 ms), and ...``."""
    now = _time(found.inference_us)
    ends = (found.shorter or 1 / _LONGEST_INFERENCES, found.longer or _LONGEST_INFERENCES)
    shortest, longest = (_time(each * found.inference_us) for each in ends)
    return f"{_gaps_in_words(found, sustain)}, and for inferences from {shortest} to {longest} (now {now})"


def _gaps_in_words(found: Holds, sustain: Sustain) -> str:
    if found.longer_gaps is None and found.gap_us is None:
        return f"for gaps of any length up to {_LONGEST_GAPS:g} times that of now"
    if found.gap_us is None or isinstance(sustain, Adaptive):
        return f"for gaps up to {found.longer_gaps:.3g} times as long as now"
    return f"for gaps up to {_time(sustain)} (now up to {_time(found.gap_us)})"


def checked_in_words(found: Checked, limits: Sequence[Limit], *, used: bool) -> str:
    """Return the result of a choice on the last third in words.

    Args:
        found: the result.
        limits: the limits that the choice must keep to.
        used: whether the last third was used to find the choice.
    """
    how = "which was used to tune after all" if used else "which was not used to tune"
    latency = found.choice.latency
    said = f"on the last third, {how}: p99 {_time(latency.p99)}, {100 * latency.cold:.3g} % cold starts"
    if found.broken:
        said += f"; it breaks {' and '.join(map(str, found.broken))} there"
    elif limits:
        said += ", which keeps to the limits"
    if found.loss is None:
        return said
    more = f"{100 * found.loss:.1f} % more than" if found.loss >= _HARDLY else "as much as"
    return f"{said}; there it costs {more} the best time of its profile"


def _time(time_us: float) -> str:
    """Return a time with three digits."""
    if time_us >= 1_000_000:  # noqa: PLR2004 - a second
        return f"{time_us / 1_000_000:.3g} s"
    return f"{time_us / 1_000:.3g} ms"


def _loss(offer: Offer, choice: Choice, limits: Sequence[Limit], price_w: float) -> float | None:
    """Return the extra cost of a choice over its profile's best time, as a share; None if no time keeps to limits."""
    best = offer.best(price_w, limits)
    if best is None:
        return None
    count = offer.trial.count
    least_j = best.cost_j(price_w, count)
    return offer.choice(choice.sustain).cost_j(price_w, count) / least_j - 1 if least_j else 0.0


def _furthest(stands: Callable[[float], bool], most: float) -> float | None:
    """Return the largest factor that advice stands for; None if it stands for all factors up to ``most``."""
    near, step = 1.0, _FIRST_STEP
    while True:
        far = min(1 + step, most)
        if not stands(far):
            break
        if far == most:
            return None
        near, step = far, 2 * step
    for _ in range(_ROUNDS):
        middle = (near + far) / 2
        near, far = (middle, far) if stands(middle) else (near, middle)
    return near
