"""Makes the learner for the goal that a profile states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.sustain.leader import Leader
from htppower.sustain.quantile import Quantile

if TYPE_CHECKING:
    from htppower.profiles.sustain import Adaptive
    from htppower.sustain.base import Learner, LearnerState


def make_learner(sustain: Adaptive, state: LearnerState | None = None) -> Learner:
    """Return a new learner, or one that continues with the ``state`` of another learner.

    Raises:
        ValueError, KeyError, TypeError: the state does not fit these parameters.
    """
    learner: Learner = Quantile(sustain) if sustain.break_even_us is None else Leader(sustain)
    if state is not None:
        learner.restore(state)
    return learner
