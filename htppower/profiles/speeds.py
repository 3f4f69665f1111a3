"""How fast the same work runs under each profile, by the statements of a device model."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError
from htppower.profiles.discovery import Folders
from htppower.profiles.loading import load_profile
from htppower.profiles.names import LISTED_FIRST
from htppower.profiles.strict_yaml import read_document
from htppower.rules.power_order import CLOCKS, clock_cost
from htppower.votes.corners import ExpandedCorner

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoteSet

# The model for a device without any measured value.
DEFAULT_DEVICE = "hexagon_assumed"
# The highest corner with its own place in the order; MAX stands for the highest corner of a device.
_HIGHEST = int(ExpandedCorner.DEFINED_MAX)


@attrs.frozen
class DeviceSpeeds:
    """The two statements of a device model that a pace needs.

    Attributes:
        stated: the speed relative to burst, which is 1, by the name of a profile.
        raise_late_us: how much longer an inference takes if it waits for a raise.
    """

    stated: Mapping[str, float]
    raise_late_us: float


def read_device_speeds(
    device: str | os.PathLike[str] = DEFAULT_DEVICE, folders: Iterable[str | os.PathLike[str]] = ()
) -> DeviceSpeeds:
    """Return the speeds of a device model by its name or its path; ``htppower lint`` checks its other values.

    Raises:
        ProfileError: the model can't be found or read, or states no speeds.
    """
    document = read_document(Folders.of(folders).find(device, "device"), "device")
    if document.problems:
        raise ProfileError(document.problems)
    try:
        stated = {each["profile"]: float(each["speed"]["value"]) for each in document.tree["speeds"]}
        late_us = float(document.tree["raise_late_us"]["value"])
    except (KeyError, TypeError, ValueError):
        stated, late_us = {}, 0.0
    if not stated or late_us < 0 or min(stated.values()) <= 0:
        hint = "speeds above 0 and raise_late_us, as in docs/device_models.md; run htppower lint on the file"
        finding = Finding("VALUE-1", (), "this device model states no valid speeds or raise_late_us", hint)
        raise ProfileError([document.located(finding)])
    return DeviceSpeeds(stated, late_us)


def speed_of(profile: Profile, stated: Mapping[str, float]) -> float:
    """Return how fast the same work runs under a profile, relative to burst, which is 1.

    If a speed is stated for the profile, that is used. If the profile extends a shipped profile with a stated speed,
    and votes for the same corners, that speed is used. The speed of any other profile is interpolated between the
    shipped profiles by the average of the core and bus corners. Beyond the last shipped profile it stays constant.

    Raises:
        ValueError: the profile sends no votes, so its clocks are not known.
    """
    if not profile.votes:
        raise ValueError(f"{profile.name} sends no votes, so its speed is not known")
    if profile.name in stated:
        return stated[profile.name]
    corners = corners_of(profile.votes)
    for name in profile.lineage:
        if name in stated and name in LISTED_FIRST and _shipped_corners(name) == corners:
            return stated[name]
    known: dict[float, list[float]] = {}
    for name, found in stated.items():
        if name in LISTED_FIRST:
            known.setdefault(_place(_shipped_corners(name)), []).append(found)
    # If no shipped profile is stated, only burst is known, which is 1 by definition.
    points = sorted((place, sum(found) / len(found)) for place, found in known.items())
    return interpolated(points or [(_place(_shipped_corners("burst")), 1.0)], _place(corners))


def corners_of(votes: VoteSet) -> tuple[int, int]:
    """Return the highest corners of core and bus that the votes allow or force, as expanded numbers; 0 means none."""
    core, bus = (min(clock_cost(votes.hvx, clock)[0], _HIGHEST) for clock in reversed(CLOCKS))
    return core, bus


def interpolated(points: Sequence[tuple[float, float]], at: float) -> float:
    """Interpolate between points that are sorted by place. Beyond the first and the last, the value stays constant."""
    before = max((point for point in points if point[0] <= at), default=points[0])
    after = min((point for point in points if point[0] >= at), default=points[-1])
    if after[0] == before[0]:
        return after[1]
    return before[1] + (after[1] - before[1]) * (at - before[0]) / (after[0] - before[0])


@functools.cache
def _shipped_corners(name: str) -> tuple[int, int]:
    return corners_of(load_profile(name).votes)


def _place(corners: Iterable[int]) -> float:
    """Return the average of corners, in the vendor's order, as a number that rises with the voltage."""
    found = tuple(corners)
    return sum(found) / len(found)
