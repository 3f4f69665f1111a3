"""A simulated HTP whose calls and inferences take the times of a device model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.backends.simulated.timed import TimedHtp, Timing
from htppower.profiles.loading import load_profile
from htppower.profiles.names import LISTED_FIRST

if TYPE_CHECKING:
    from htppower.tools.tuning.models.model import DeviceModel


def timed_htp(model: DeviceModel, **more: Any) -> TimedHtp:
    """Return a simulated HTP with the times of a model; ``more`` are arguments of ``TimedHtp``.

    In the model, a raise and a lowering are two calls each: one for clocks, and one for settings of the process.
    """
    lower_us = round(model.lower_call_us.value / 2)
    raise_us = max(round(model.raise_call_us.value) - lower_us, 0)
    timing = Timing(
        raise_call_us=raise_us,
        lower_call_us=lower_us,
        after_raise_us=max(round(model.raise_late_us.value - model.raise_call_us.value), 0),
        after_idle_us={wake.sleep_latency_us: round(wake.late_us.value) for wake in model.wakes},
        polling_saves_us=round(model.polling_saves_us.value),
        speeds=_speeds(model),
    )
    return TimedHtp(timing, **more)


def _speeds(model: DeviceModel) -> dict[int, float]:
    """Return the speed at the core corner of each shipped profile; the fastest one, if several have the same corner."""
    found: dict[int, float] = {}
    for each in model.speeds:
        dcvs = load_profile(each.profile).votes.dcvs_v3 if each.profile in LISTED_FIRST else None
        if dcvs is not None and dcvs.core is not None:
            corner = int(dcvs.core.target)
            found[corner] = max(each.speed.value, found.get(corner, 0.0))
    return found
