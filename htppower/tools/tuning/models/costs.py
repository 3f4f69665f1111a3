"""The costs of a profile by a device model: its speed and timing, the power of each state, the break-even time.

Pure functions of values. Other profiles that the model states are used only if they are shipped.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from htppower.profiles.loading import load_profile
from htppower.profiles.names import LISTED_FIRST
from htppower.rules.power_order import CLOCKS, clock_cost
from htppower.tools.tuning.cost.workload import Timing
from htppower.votes.corners import ExpandedCorner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.profiles.profile import PowerState, Profile
    from htppower.tools.tuning.models.model import DeviceModel
    from htppower.votes.vote_set import VoteSet


# The highest corner with its own place in the order; MAX stands for the highest corner of a device.
_HIGHEST = int(ExpandedCorner.DEFINED_MAX)
_US = 1_000_000
_CALLS_OF_A_GAP = 2


def speed(model: DeviceModel, profile: Profile) -> float:
    """Return how fast the same work runs under a profile, relative to burst, which is 1.

    If the model states a speed for the profile, that is used. If the profile extends a shipped profile with a stated
    speed, and votes for the same corners, that speed is used. The speed of any other profile is interpolated between
    the shipped profiles by the average of the core and bus corners. Beyond the last shipped profile it stays constant.

    Raises:
        ValueError: the profile sends no votes, so its clocks are not known.
    """
    if not profile.votes:
        raise ValueError(f"{profile.name} sends no votes, so its speed is not known")
    stated = {each.profile: each.speed.value for each in model.speeds}
    if profile.name in stated:
        return stated[profile.name]
    corners = _corners(profile.votes)
    for name in profile.lineage:
        if name in stated and name in LISTED_FIRST and _shipped_corners(name) == corners:
            return stated[name]
    known: dict[float, list[float]] = {}
    for name, found in stated.items():
        if name in LISTED_FIRST:
            known.setdefault(_place(_shipped_corners(name)), []).append(found)
    # If the model states no shipped profile, only burst is known, which is 1 by definition.
    points = sorted((place, sum(found) / len(found)) for place, found in known.items())
    return _on_the_line(points or [(_place(_shipped_corners("burst")), 1.0)], _place(corners))


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
    asks = any(corner > ExpandedCorner.MIN for corner in _corners(state.votes))
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
    return _on_the_line(points, points[-1][0] if voted is None else voted)


def _corners(votes: VoteSet) -> tuple[int, int]:
    """Return the highest corners of core and bus that the votes allow or force, as expanded numbers; 0 means none."""
    core, bus = (min(clock_cost(votes.hvx, clock)[0], _HIGHEST) for clock in reversed(CLOCKS))
    return core, bus


@functools.cache
def _shipped_corners(name: str) -> tuple[int, int]:
    return _corners(load_profile(name).votes)


def _place(corners: Iterable[int]) -> float:
    """Return the average of corners, in the vendor's order, as a number that rises with the voltage."""
    found = tuple(corners)
    return sum(found) / len(found)


def _on_the_line(points: Sequence[tuple[float, float]], at: float) -> float:
    """Interpolate between points that are sorted by place. Beyond the first and the last, the value stays constant."""
    before = max((point for point in points if point[0] <= at), default=points[0])
    after = min((point for point in points if point[0] >= at), default=points[-1])
    if after[0] == before[0]:
        return after[1]
    return before[1] + (after[1] - before[1]) * (at - before[0]) / (after[0] - before[0])


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
