"""A paced host on a simulated HTP whose inferences take the times of a device model, in virtual time."""

from __future__ import annotations

import collections
import random
from typing import TYPE_CHECKING

import attrs

from htppower import VoteController
from htppower.events import ProfileChanged
from htppower.profiles.loading import load_profile
from htppower.testing import VirtualTime
from htppower.tools.tuning.cost.power import Power
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.models.timed_device import timed_htp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.control.pace.pacing import PaceStatus
    from htppower.tools.tuning.models.model import DeviceModel

MODEL = load_device_model()
# The ladder below burst, from the lowest.
LADDER = (
    *("low_power_saver", "power_saver", "high_power_saver", "low_balanced", "balanced"),
    *("high_performance", "sustained_high_performance", "burst"),
)
# Returns how long an inference takes at burst, in ms, by its number.
Load = "Callable[[int, random.Random], float]"
_US = 1_000_000


@attrs.frozen
class Kept:
    """What a paced host has seen.

    Attributes:
        status: the status of the pace at the end.
        energy_mj: the energy of an inference and the time until the next one, by the device model, on average.
        under: how many inferences ran under each profile.
        changes: when and to what the profile changed.
        lasted_us: how long all of it took.
        ends_us: when each inference ended.
    """

    status: PaceStatus
    energy_mj: float
    under: collections.Counter[str]
    changes: tuple[ProfileChanged, ...]
    lasted_us: int
    ends_us: tuple[int, ...]

    @property
    def miss_rate(self) -> float:
        """The share of the deadlines that were missed."""
        return self.status.misses / self.status.inferences


def paced(
    load: Callable[[int, random.Random], float],
    count: int,
    *,
    fps: float = 30,
    miss_rate: float = 0.01,
    seed: int = 1,
    host_us: int = 2000,
    camera: bool = False,
    profiles: Sequence[str] | None = None,
    device: DeviceModel = MODEL,
) -> Kept:
    """Run a host with a pace, and return what it has seen.

    Args:
        load: returns how long an inference takes at burst, in ms.
        count: how many inferences run.
        fps, miss_rate, profiles: as in ``Session.pace``.
        seed: of the load.
        host_us: how long the host itself works between two inferences.
        camera: whether a camera states when inferences begin, so that the pace does not wait.
        device: the true times of the device; the pace always begins with those of ``hexagon_assumed``.
    """
    chance, time = random.Random(seed), VirtualTime()
    htp = timed_htp(device, arch=75, clock=time, sleep=time.sleep)
    powers = {name: Power.of(MODEL, load_profile(name)) for name in LADDER}
    under: collections.Counter[str] = collections.Counter()
    changes: list[ProfileChanged] = []
    ends_us: list[int] = []
    energy_wus, before = 0.0, None
    with VoteController(htp, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
        controller.subscribe(changes.append, ProfileChanged)
        session = controller.session("burst")
        with session.pace(fps=fps, miss_rate=miss_rate, profiles=profiles, wait=not camera) as pace:
            for number in range(count):
                time.advance_us(host_us)
                if camera:
                    frame_us = round(number * _US / fps) + chance.randrange(2000)
                    time.advance_us(max(0, frame_us - time.now_us))
                with pace.inference():
                    began_us = time.now_us
                    if before is not None:
                        energy_wus += _idle_wus(*before, began_us)
                    htp.infer(work=load(number, chance))
                    ends_us.append(time.now_us)
                    profile = session.profile
                    under[profile.name] += 1
                    power = powers[profile.name]
                    energy_wus += power.active_w * (time.now_us - began_us)
                    before = power, profile.relax.after_inference_us if profile.relax else 0, time.now_us
            status = pace.status
    return Kept(status, energy_wus / count / 1000, under, tuple(changes), time.now_us, tuple(ends_us))


def _idle_wus(power: Power, sustain: object, ended_us: int, began_us: int) -> float:
    """Return the energy between two inferences, the calls included."""
    idle_us = began_us - ended_us
    up_us = min(sustain, idle_us) if isinstance(sustain, int) else idle_us
    calls = 0 if up_us == idle_us else 2
    return power.raised_idle_w * up_us + power.lowered_idle_w * (idle_us - up_us) + calls * power.call_j * _US


def least_that_keeps(
    load: Callable[[int, random.Random], float], count: int, *, miss_rate: float, **options: object
) -> tuple[str, float] | None:
    """Return the profile of the ladder that keeps a rate with the least energy, and that energy; None if none does.

    Each profile is tried from the beginning to the end, so this knows the load and the device beforehand.
    """
    found = []
    for name in LADDER:
        kept = paced(load, count, miss_rate=miss_rate, profiles=[name], **options)  # type: ignore[arg-type]
        if kept.miss_rate <= miss_rate:
            found.append((kept.energy_mj, name))
    return min(found)[::-1] if found else None
