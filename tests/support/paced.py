"""Hosts with a pace: one that is only calculated, and one with the real controller, in virtual time."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import attrs

from htppower.backends import SimulatedHtp
from htppower.control.controller import VoteController
from htppower.control.pace.chooser import Chooser, Sample
from htppower.control.pace.ladder import ladder_below, rungs_of
from htppower.control.pace.slots import Slots
from htppower.events import Event, ProfileChanged
from htppower.profiles.loading import load_profile
from htppower.profiles.speeds import read_device_speeds, speed_of
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Sequence

# Returns how long an inference takes at burst, in ms, by its number.
Load: TypeAlias = Callable[[int, random.Random], float]

SPEEDS = read_device_speeds()
BURST = load_profile("burst")
LADDER = ladder_below(BURST, load_profile)
NAMES = tuple(profile.name for profile in LADDER)
_NS_OF_MS = 1_000_000
_NS_OF_S = 1_000_000_000
# The power at work over the speed, as the device models assume it.
_EXPONENT = 2.2


@attrs.frozen
class Kept:
    """The observations of a host with a pace.

    Attributes:
        miss_rate: the share of the deadlines that were missed.
        cost: the energy of the inferences, relative to an inference of 1 ms at burst each.
        under: how many inferences ran under each profile, by name.
        changes: when each change was, in ns, and to which profile.
        keeps: whether the pace said at the end that it keeps the rate.
        per_s: the rate.
    """

    miss_rate: float
    cost: float
    under: collections.Counter[str]
    changes: tuple[tuple[int, str], ...]
    keeps: bool
    per_s: float


def kept(
    load: Load,
    count: int,
    *,
    fps: float = 30,
    miss_rate: float = 0.01,
    seed: int = 1,
    host_ms: float = 2,
    raise_ms: float = 2,
    camera: bool = False,
    fixed: str | None = None,
    slower: Sequence[float] = (1.0,) * len(LADDER),
) -> Kept:
    """Calculate a host with a pace.

    Args:
        load: returns how long an inference takes at burst, in ms.
        count: how many inferences run.
        fps: the rate.
        miss_rate: the share of the deadlines that may be missed.
        seed: of the load.
        host_ms: how long the host itself works between two inferences.
        raise_ms: how long an inference waits for a raise, and how long the lowering takes.
        camera: whether a camera states when inferences begin, so that the pace does not wait.
        fixed: the profile, if it never changes.
        slower: how much slower each profile is than the model says, from the lowest.
    """
    chance = random.Random(seed)
    slots = Slots(round(_NS_OF_S / fps), waits=not camera)
    rungs = rungs_of(LADDER, SPEEDS.stated, 1e6 / fps)
    chooser = Chooser(rungs, slots.period_ns, miss_rate, 1000 * SPEEDS.raise_late_us)
    place = chooser.at if fixed is None else NAMES.index(fixed)
    now_ns, misses, cost = 0, 0, 0.0
    under: collections.Counter[str] = collections.Counter()
    changes: list[tuple[int, str]] = []
    for number in range(count):
        now_ns += round(host_ms * _NS_OF_MS)
        if camera:
            now_ns = max(now_ns, number * slots.period_ns + chance.randrange(2 * _NS_OF_MS))
        slot = slots.next(now_ns, overlaps=False)
        speed = rungs[place].speed / slower[place]
        wait_ns = 0 if rungs[place].stays_up else round(raise_ms * _NS_OF_MS)
        run_ns = round(load(number, chance) / speed * _NS_OF_MS)
        end_ns = slot.ready_ns + wait_ns + run_ns
        missed = slots.missed(slot, end_ns)
        misses += missed
        under[NAMES[place]] += 1
        cost += run_ns / _NS_OF_MS * speed**_EXPONENT
        now_ns = end_ns + wait_ns
        sample = Sample(slot.allowed_ns, wait_ns, run_ns)
        if fixed is None and chooser.add(sample, end_ns, missed=missed):
            if chooser.at > place:
                slots.start_anew()
            place = chooser.at
            changes.append((end_ns, NAMES[place]))
    return Kept(misses / count, cost / count, under, tuple(changes), chooser.keeps, count * _NS_OF_S / now_ns)


def least_that_keeps(load: Load, count: int, *, miss_rate: float = 0.01, **options: object) -> Kept | None:
    """Return the host with the fixed profile that keeps a rate at the least cost; None if none does.

    Each profile is tried from the beginning to the end, so this knows the load and the device beforehand.
    """
    tried = [kept(load, count, miss_rate=miss_rate, fixed=name, **options) for name in NAMES]  # type: ignore[arg-type]
    return min((each for each in tried if each.miss_rate <= miss_rate), key=lambda each: each.cost, default=None)


class PacedHost:
    """A host with a pace and the real controller. Its inferences are as fast as the device model says."""

    def __init__(self, profile: str = "burst", **options: object) -> None:
        self.time = VirtualTime()
        self.simulated = SimulatedHtp(arch=75)
        self.controller = VoteController(self.simulated, time=self.time, handle_sigterm=False, heartbeat_us=0)
        self.changes: list[Event] = []
        self.controller.subscribe(self.changes.append, ProfileChanged)
        self.session = self.controller.session(profile, owner="camera")
        self.pace = self.session.pace(**{"fps": 30, **options})  # type: ignore[arg-type]

    def infer(self, ms: float, times: int = 1) -> None:
        """Run inferences that take this long at burst."""
        for _ in range(times):
            with self.pace.inference():
                speed = speed_of(self.session.profile, SPEEDS.stated)
                self.time.advance_us(round(ms * 1000 / speed))

    def names(self) -> list[str]:
        """Return the profiles that the session has changed to."""
        return [event.profile for event in self.changes]
