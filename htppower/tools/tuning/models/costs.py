"""The costs of a profile by a device model: its speed and timing, the power of each state, the break-even time.

Pure functions of values. Other profiles that the model states are used only if they are shipped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from htppower.profiles.speeds import corners_of, interpolated, speed_of
from htppower.tools.tuning.cost.workload import Timing
from htppower.votes.corners import ExpandedCorner

if TYPE_CHECKING:
    from htppower.profiles.profile import PowerState, Profile
    from htppower.tools.tuning.models.model import DeviceModel
    from htppower.votes.vote_set import VoteSet


_US = 1_000_000
_CALLS_OF_A_GAP = 2


def speed(model: DeviceModel, profile: Profile) -> float:
    """Return how fast the same work runs under a profile, relative to burst, which is 1.

    Raises:
        ValueError: the profile sends no votes, so its clocks are not known.
    """
    return speed_of(profile, {each.profile: each.speed.value for each in model.speeds})


def stretch(model: DeviceModel, profile: Profile, measured_under: Profile) -> float:
    """Return how many times as long an inference takes under a profile as under ``measured_under``.

    Raises:
        ValueError: one of the profiles sends no votes.
    """
    return speed(model, measured_under) / speed(model, profile)


def active_w(model: DeviceModel, profile: Profile) -> float:
    """Return the power while an inference runs, in W, without polling.

    This is the power at burst, times the speed to the power of ``active_exponent``. It is never less than the power
    while votes are up and nothing runs.

    Raises:
        ValueError: the profile sends no votes.
    """
    active_w: float = model.active_w.value * speed(model, profile) ** model.active_exponent.value
    return max(active_w, raised_idle_w(model, profile))


def raised_idle_w(model: DeviceModel, profile: Profile) -> float:
    """Return the power while the votes of a profile are up and nothing runs, in W, without polling.

    Only the part above the lowered power depends on the speed, so a raised profile never draws less than a lowered one.

    Raises:
        ValueError: the profile sends no votes.
    """
    lowered_w = model.relaxed_idle_w.value
    share: float = speed(model, profile) ** model.raised_idle_exponent.value
    return lowered_w + max(model.raised_idle_w.value - lowered_w, 0) * share


def lowered_idle_w(model: DeviceModel, state: PowerState) -> float:
    """Return the power while votes are lowered to a power state, in W.

    A state that asks for at most the lowest corner of each clock counts as released, any other as relaxed.
    """
    asks = any(corner > ExpandedCorner.MIN for corner in corners_of(state.votes))
    return model.relaxed_idle_w.value if asks else model.released_idle_w.value


def break_even_us(model: DeviceModel, profile: Profile, price_of_latency_w: float = 0) -> float:
    """Return the shortest idle time that makes lowering and raising again no more expensive than staying up, in us.

    This is the energy of both calls plus the price of the delay of a raise, divided by the power that lowering saves.

    Args:
        model: the device model.
        profile: the profile; its ``relax.to`` is the lowered state.
        price_of_latency_w: the energy that a second less of latency is worth, in J for each s, which is W.

    Returns:
        The time; ``math.inf`` if lowering saves nothing.

    Raises:
        ValueError: the price is negative, or the profile sends no votes.
    """
    if not price_of_latency_w >= 0:
        raise ValueError(f"the price of latency is {price_of_latency_w} W: at least 0")
    if profile.relax is None:
        raise ValueError(f"{profile.name} sends no votes, so nothing is lowered")
    saved_w = raised_idle_w(model, profile) - lowered_idle_w(model, profile.relax.to)
    calls_j = _CALLS_OF_A_GAP * model.call_j.value
    cost_j = calls_j + price_of_latency_w * model.raise_late_us.value / _US
    return cost_j * _US / saved_w if saved_w > 0 else math.inf


def wake_late_us(model: DeviceModel, votes: VoteSet) -> float:
    """Return how much longer an inference takes if it begins after an idle time with these votes up, in us.

    It is interpolated between the sleep latencies of the model. Votes without a sleep latency count as the longest.
    """
    voted = None if votes.hvx is None else votes.hvx.sleep_latency_us
    points = sorted((float(each.sleep_latency_us), each.late_us.value) for each in model.wakes)
    return interpolated(points, points[-1][0] if voted is None else voted)


def timing(model: DeviceModel, profile: Profile, measured_under: Profile) -> Timing:
    """Return how long inferences take under a profile if they were recorded under another.

    Raises:
        ValueError: one of the profiles sends no votes.
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
