"""A recording as it would run with a pace: which profiles it chooses, and how many deadlines are missed.

The slots and the choice are those of ``Session.pace``. The times of each inference under another profile are those of
``tune``, and so is the energy. An inference waits for a raise if the votes are lowered when it begins.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

import attrs

from htppower.control.pace.chooser import Chooser, Sample
from htppower.control.pace.ladder import rungs_of
from htppower.control.pace.slots import Slots
from htppower.profiles.sustain import first_us
from htppower.tools.tuning.cost.power import Power
from htppower.tools.tuning.cost.workload import Workload
from htppower.tools.tuning.models.costs import timing
from htppower.tools.tuning.traces.trace import begin_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.models.model import DeviceModel
    from htppower.tools.tuning.traces.trace import SessionTrace

# Only the first inferences of a longer recording are used: all of them run once for each profile.
MOST_INFERENCES = 200_000
_US = 1_000_000
_NS = 1000


@attrs.frozen
class Aim:
    """The demand on a pace.

    Attributes:
        per_s: the rate, in inferences per second.
        miss_rate: the share of the deadlines that may be missed.
        waits: whether an inference waits for its slot. Then the gaps of the recording are work of the host, and not
            waiting for its next inference.
    """

    per_s: float
    miss_rate: float = 0.01
    waits: bool = False

    @property
    def period_ns(self) -> int:
        """The time from one slot to the next."""
        return max(round(_US * _NS / self.per_s), 1)


@attrs.frozen
class Ran:
    """A session that has run with a pace, or with a fixed profile.

    Attributes:
        misses: how many deadlines were missed.
        energy_j: the energy from the first begin to the last end.
        under: how many inferences ran under each profile, by the place in the ladder.
        cold: how many inferences waited for a raise.
        changes: how often the profile changed.
        keeps: whether the pace found its last profile to be enough.
        lasted_us: the time from the first begin to the last end.
    """

    misses: int
    energy_j: float
    under: Mapping[int, int]
    cold: int
    changes: int
    keeps: bool
    lasted_us: int


@attrs.frozen
class Paced:
    """A session of a recording as it would run with a pace.

    Attributes:
        session: the inferences that were used.
        ladder: the profiles to choose among, from the lowest.
        pace: the run with the pace.
        fixed: the run under each profile of the ladder.
        aim: what the pace is asked for.
    """

    session: SessionTrace
    ladder: tuple[Profile, ...]
    pace: Ran
    fixed: tuple[Ran, ...]
    aim: Aim

    @property
    def miss_rate(self) -> float:
        """The share of the deadlines that were missed."""
        return self.pace.misses / self.session.begins_us.size

    @property
    def kept(self) -> bool:
        """Whether no more deadlines were missed than allowed."""
        return self.miss_rate <= self.aim.miss_rate

    @property
    def best_fixed(self) -> int | None:
        """The place of the profile that keeps the rate with the least energy if it never changes; None if none does."""
        most = self.aim.miss_rate * self.session.begins_us.size
        keeping = [place for place, ran in enumerate(self.fixed) if ran.misses <= most]
        return min(keeping, key=lambda place: self.fixed[place].energy_j, default=None)


def paced(
    session: SessionTrace, model: DeviceModel, ladder: Sequence[Profile], measured_under: Profile, aim: Aim
) -> Paced:
    """Return a session as it would run with a pace.

    Args:
        session: the recording of the session, with at least one inference.
        model: the device model.
        ladder: the profiles to choose among, from the lowest; all send votes.
        measured_under: the profile that was in force.
        aim: what the pace is asked for.
    """
    session = begin_of(session, MOST_INFERENCES)
    host = _Host(session, model, ladder, measured_under, aim)
    fixed = tuple(host.run(None, place) for place in range(len(ladder)))
    chooser = Chooser(host.rungs, aim.period_ns, aim.miss_rate, _NS * model.raise_late_us.value)
    return Paced(session, tuple(ladder), host.run(chooser, chooser.at), fixed, aim)


class _Host:
    """The host of a recording: when it asks for inferences, and how long they take under each profile."""

    def __init__(
        self, session: SessionTrace, model: DeviceModel, ladder: Sequence[Profile], measured_under: Profile, aim: Aim
    ) -> None:
        workloads = [Workload.of(session, timing(model, profile, measured_under)) for profile in ladder]
        self._aim = aim
        self._alone = aim.waits or workloads[0].one_at_a_time
        self._asked_us: list[int] = session.begins_us.tolist()
        self._gaps_us = [0, *(session.begins_us[1:] - session.ends_us[:-1]).clip(min=0).tolist()]
        self._takes_us: list[list[int]] = [workload.takes_us.tolist() for workload in workloads]
        self._late_us = workloads[0].late_us
        self._powers = [Power.of(model, profile) for profile in ladder]
        self._sustains_us = [first_us(profile.relax.after_inference_us) if profile.relax else 0 for profile in ladder]
        stated = {each.profile: each.speed.value for each in model.speeds}
        self.rungs = rungs_of(ladder, stated, _US / aim.per_s)

    def run(self, chooser: Chooser | None, place: int) -> Ran:
        """Run all inferences, with a pace or under the profile at a place."""
        slots = Slots(self._aim.period_ns, waits=self._aim.waits)
        under: collections.Counter[int] = collections.Counter()
        misses, colds, changes, energy_wus = 0, 0, 0, 0.0
        began_us = ended_us = self._asked_us[0]
        # The profile whose votes are up, or were last; None if a change has ended its sustain time.
        up: int | None = None
        for number, asked_us in enumerate(self._asked_us):
            now_us = ended_us + self._gaps_us[number] if self._aim.waits else asked_us
            now_us = max(now_us, ended_us) if self._alone else now_us
            overlaps = now_us < ended_us
            slot = slots.next(now_us * _NS, overlaps=overlaps)
            begin_us = -(-slot.ready_ns // _NS) if self._aim.waits else now_us
            idle_us = begin_us - ended_us
            cold = not overlaps and (up is None or idle_us >= self._sustains_us[place])
            energy_wus += self._idle_wus(place, idle_us, cold=cold, voted=up is not None)
            wait_us = self._late_us if cold else 0
            colds += cold
            run_us = self._takes_us[place][number]
            end_us = begin_us + wait_us + run_us
            energy_wus += self._powers[place].active_w * max(end_us - max(begin_us, ended_us), 0)
            up, ended_us = place, max(ended_us, end_us)
            missed = slots.missed(slot, end_us * _NS)
            misses += missed
            under[place] += 1
            sample = Sample(slot.allowed_ns, wait_us * _NS, run_us * _NS)
            if chooser is not None and chooser.add(sample, end_us * _NS, missed=missed):
                if chooser.at > place:
                    slots.start_anew()
                place, up, changes = chooser.at, None, changes + 1
        keeps = chooser is None or chooser.keeps
        return Ran(misses, energy_wus / _US, under, colds, changes, keeps, ended_us - began_us)

    def _idle_wus(self, place: int, idle_us: int, *, cold: bool, voted: bool) -> float:
        """Return the energy of an idle time, and of the calls at its end, in W us."""
        power = self._powers[place]
        up_us = 0 if not voted else min(idle_us, self._sustains_us[place]) if cold else idle_us
        idle_wus = power.raised_idle_w * max(up_us, 0) + power.lowered_idle_w * max(idle_us - up_us, 0)
        return idle_wus + (2 * power.call_j * _US if cold else 0)
