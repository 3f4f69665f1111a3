"""How long the inferences of a recording take under another profile, by a device model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.tuning.cost.workload import Timing
from htppower.tools.tuning.models.costs import stretch, wake_late_us

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.models.model import DeviceModel


def timing(model: DeviceModel, profile: Profile, measured_under: Profile) -> Timing:
    """Return how long inferences take under a profile if they were recorded under another.

    Raises:
        ValueError: one of the profiles casts no votes.
    """
    late_us = round(model.raise_late_us.value)
    return Timing(
        stretch=stretch(model, profile, measured_under),
        late_us=late_us,
        cold_us=late_us,
        wake_us=round(wake_late_us(model, profile.votes) - wake_late_us(model, measured_under.votes)),
        polling_saves_us=round(model.polling_saves_us.value),
        polled_us=measured_under.votes.rpc_polling_time_us or 0,
        polls_us=profile.votes.rpc_polling_time_us or 0,
    )
