"""From the steps of a sequence to its moments, in the order in which they happen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding
from htppower.events import Phase
from htppower.review.vote_tests.cases import Happens, Moment
from htppower.review.vote_tests.fields import DeinitStep, IdleStep, InferenceStep, InitStep, RestartStep, UseStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.errors import Path
    from htppower.profiles.profile import Profile


_PHASES = {
    InitStep: (Phase.INIT, "init_us"),
    InferenceStep: (Phase.INFERENCE, "inference_us"),
    DeinitStep: (Phase.DEINIT, "deinit_us"),
}


@attrs.frozen(eq=False)
class Timeline:
    """The moments of a sequence, when it ends, and what is wrong with its times."""

    moments: tuple[Moment, ...]
    end_us: int
    findings: tuple[Finding, ...]


def timeline(steps: Sequence[Any], used: Sequence[Profile | None], at: Path) -> Timeline:
    """Return the moments of a sequence.

    At one time, phases of earlier steps end before later steps begin.

    Args:
        steps: as they stand in the file.
        used: for each step, the profile that it changes to.
        at: the keys that lead to the sequence.
    """
    moments: list[Moment] = []
    findings: list[Finding] = []
    earliest_us = end_us = 0
    for number, step in enumerate(steps):
        stated_us = getattr(step, "at_us", None)
        begin_us = end_us if stated_us is None else stated_us
        if begin_us < earliest_us:
            message = f"the step begins at {begin_us} us, before the step above it, or within its idle time"
            hint = f"{earliest_us} or more; steps stand in the order in which they begin"
            findings.append(Finding("VALUE-1", (*at, str(number), "at_us"), message, hint))
        made = _moments(step, number, begin_us, used[number])
        duration_us = step.idle_us if isinstance(step, IdleStep) else made[-1].at_us - begin_us
        end_us = max(end_us, begin_us + duration_us)
        earliest_us = end_us if isinstance(step, IdleStep) else begin_us
        moments += made
    moments.sort(key=lambda moment: (moment.at_us, moment.step))  # stable: a phase begins before it ends
    return Timeline(tuple(moments), end_us, tuple(findings))


def _moments(step: Any, number: int, begin_us: int, used: Profile | None) -> list[Moment]:
    if isinstance(step, IdleStep):
        return []
    if isinstance(step, UseStep):
        return [Moment(begin_us, Happens.USE, number, profile=used)]
    if isinstance(step, RestartStep):
        return [Moment(begin_us, Happens.RESTART, number)]
    phase, duration = _PHASES[type(step)]
    begin = Moment(begin_us, Happens.BEGIN, number, phase)
    return [begin, attrs.evolve(begin, at_us=begin_us + getattr(step, duration), happens=Happens.END)]
