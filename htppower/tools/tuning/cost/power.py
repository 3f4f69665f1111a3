"""The energy of a session's outcome, by a device model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.tools.tuning.cost.outcome import CALLS_OF_A_RAISE
from htppower.tools.tuning.models import costs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.cost.exact import Bounds
    from htppower.tools.tuning.cost.outcome import Outcomes
    from htppower.tools.tuning.models.model import DeviceModel

_US = 1_000_000


@attrs.frozen
class Power:
    """The power that a session draws under a profile, in W, and the energy of a call, in J.

    Attributes:
        active_w: the power while an inference runs.
        raised_idle_w: the power while votes are up and no inference runs.
        lowered_idle_w: the power while votes are lowered.
        call_j: the energy of a call.
        polling_w: the power of the CPU while it polls for an answer.
    """

    active_w: float
    raised_idle_w: float
    lowered_idle_w: float
    call_j: float
    polling_w: float

    @classmethod
    def of(cls, model: DeviceModel, profile: Profile) -> Power:
        """Return the power of a profile with votes, by a device model."""
        if profile.relax is None:
            raise ValueError(f"{profile.name} casts no votes, so its power is not known")
        return cls(
            active_w=costs.active_w(model, profile),
            raised_idle_w=costs.raised_idle_w(model, profile),
            lowered_idle_w=costs.lowered_idle_w(model, profile.relax.to),
            call_j=model.call_j.value,
            polling_w=model.polling_w.value,
        )

    def energy_j(self, outcomes: Outcomes, polled_us: int, whole_us: int) -> NDArray[np.float64]:
        """Return the energy of each outcome, in J.

        Args:
            outcomes: the outcomes of the session.
            polled_us: how long the CPU polls for answers.
            whole_us: the length of the recording; votes that are not up are lowered. Energy after the last inference
                is left out, since the recording does not show when the next inference would begin.
        """
        raised_us = outcomes.raised_us - outcomes.tail_us
        drawn: NDArray[np.float64] = (
            self.active_w * outcomes.busy_us
            + self.raised_idle_w * (raised_us - outcomes.busy_us)
            + self.lowered_idle_w * (whole_us - raised_us)
            + self.polling_w * polled_us
        )
        return drawn / _US + self.call_j * outcomes.calls

    def least_j(self, bounds: Bounds, from_first_to_last_us: int, polled_us: int, whole_us: int) -> NDArray[np.float64]:
        """Return a lower bound of the energy of each time-out, from bounds of its outcome."""
        raised_us = from_first_to_last_us - bounds.most_lowered_us
        above_lowered = max(self.raised_idle_w - self.lowered_idle_w, 0.0)
        above_idle = max(self.active_w - self.raised_idle_w, 0.0)
        drawn: NDArray[np.float64] = (
            above_idle * bounds.least_busy_us
            + above_lowered * raised_us
            + self.lowered_idle_w * whole_us
            + self.polling_w * polled_us
        )
        return drawn / _US + CALLS_OF_A_RAISE * self.call_j * bounds.fewest_cold
