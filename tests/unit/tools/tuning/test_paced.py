"""A recording as it would run with a pace: compared with the real controller, and its misses and energy."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.paced import BURST, LADDER, NAMES, PacedHost

from htppower.tools.tuning.cost.workload import Workload
from htppower.tools.tuning.models.costs import timing
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.paced import Aim, Paced, paced
from htppower.tools.tuning.traces.trace import SessionTrace

if TYPE_CHECKING:
    from support.paced import Load

MODEL = load_device_model()
# Raises and answers that cost no time, so that the controller's clock and the calculation agree to the microsecond.
QUICK = MODEL.with_value("raise_late_us", 0).with_value("polling_saves_us", 0)
PERIOD_US = 33_333


def recorded(load: Load, count: int, *, gap_us: int | None = None) -> SessionTrace:
    """Return inferences at 30 a second under burst; with a gap, one after the other with this gap."""
    chance = random.Random(1)
    takes_us = np.array([round(load(number, chance) * 1000) for number in range(count)], np.int64)
    steps_us = np.full(count, PERIOD_US) if gap_us is None else takes_us + gap_us
    begins_us = np.cumsum(steps_us) - steps_us
    return SessionTrace("camera", "burst", begins_us, begins_us + takes_us)


def in_steps(number: int, chance: random.Random) -> float:
    """Return the times of a load that becomes heavier and lighter again."""
    return (8 if number // 700 % 2 == 0 else 20) * chance.lognormvariate(0, 0.03)


def run(session: SessionTrace, aim: Aim) -> Paced:
    """Return a session with a pace, by the assumed device model."""
    return paced(session, MODEL, LADDER, BURST, aim)


def to_the_top(number: int, _chance: random.Random) -> float:
    """Return the times of a load for which only the highest profile is enough from time to time."""
    return 8.0 if number // 700 % 2 == 0 else 32.5


@pytest.mark.parametrize("load", [in_steps, to_the_top])
@pytest.mark.parametrize("waits", [False, True])
def test_the_real_controller_does_the_same(waits: bool, load: Load) -> None:
    """The controller in virtual time chooses the same profiles, and misses as many deadlines."""
    session = recorded(load, 2200, gap_us=1500 if waits else None)
    aim = Aim(30, 0.02, waits)
    found = paced(session, QUICK, LADDER, BURST, aim)
    takes_us = [Workload.of(session, timing(QUICK, profile, BURST)).takes_us.tolist() for profile in LADDER]
    host = PacedHost(miss_rate=0.02, wait=waits)
    under = [0] * len(LADDER)
    for number, begin_us in enumerate(session.begins_us.tolist()):
        host.time.advance_us(1500 if waits and number else 0 if waits else max(0, begin_us - host.time.now_us))
        with host.pace.inference():
            place = NAMES.index(host.session.profile.name)
            under[place] += 1
            host.time.advance_us(takes_us[place][number])
    status = host.pace.status
    assert [found.pace.under.get(place, 0) for place in range(len(LADDER))] == under
    assert (found.pace.misses, found.pace.changes) == (status.misses, status.changes)
    assert status.changes > 2
    assert found.pace.cold == host.controller.status().sessions[0].cold_starts.count
    host.controller.close()


def test_a_changing_load_takes_less_energy_than_a_profile_that_never_changes() -> None:
    """The pace follows the load, and keeps its misses."""
    found = run(recorded(lambda number, _chance: 8.0 if number // 2000 % 2 == 0 else 20.0, 8000), Aim(30))
    assert found.kept
    assert found.best_fixed is not None
    assert found.pace.energy_j < found.fixed[found.best_fixed].energy_j


def test_the_profile_of_the_recording_takes_its_time_into_account() -> None:
    """The same times mean less work if they were recorded under a slower profile."""
    session = recorded(lambda _number, _chance: 20.0, 1000)
    slow = paced(session, MODEL, LADDER, LADDER[0], Aim(30))
    assert slow.fixed[0].misses == 0
    assert run(session, Aim(30)).fixed[0].misses == 1000


def test_waiting_slows_a_host_down_to_the_rate() -> None:
    """Tokens that were recorded one after the other come at the rate of the pace."""
    session = recorded(lambda _number, _chance: 9.0, 1000, gap_us=1500)
    waiting, asking = run(session, Aim(20, waits=True)), run(session, Aim(20))
    assert waiting.pace.lasted_us == pytest.approx(1000 * 50_000, rel=0.01)
    assert asking.pace.lasted_us < 0.5 * waiting.pace.lasted_us
    assert waiting.kept


def test_inferences_that_overlap_do_not_delay_each_other() -> None:
    """Two at a time, each of 25 ms, meet deadlines of 33 ms at 60 a second of each other."""
    begins_us = np.arange(2000) * 16_667
    session = SessionTrace("camera", "burst", begins_us, begins_us + 25_000)
    found = paced(session, QUICK, LADDER, BURST, Aim(30))
    assert found.fixed[-1].misses == 0
    assert found.fixed[-1].energy_j == pytest.approx(2 * (1999 * 16_667 + 25_000) / 1e6, rel=0.001)
    assert found.pace.under[NAMES.index("high_power_saver")] > 1000


def test_the_energy_of_a_fixed_profile_is_that_of_tune() -> None:
    """Without a sustain time: work, two calls for each inference, and lowered between them."""
    found = run(recorded(lambda _number, _chance: 10.0, 100), Aim(30))
    balanced = NAMES.index("balanced")
    ran_s = (10 / 0.955 + 2) / 1000
    active_w = 2 * 0.955**2.2
    expected_j = 100 * (active_w * ran_s + 2 * 0.0002) + 0.02 * (99 * PERIOD_US / 1e6 - 99 * ran_s)
    assert found.fixed[balanced].energy_j == pytest.approx(expected_j, rel=0.01)


def test_a_rate_that_no_profile_keeps() -> None:
    """The pace stays at the top, and nothing is best."""
    found = run(recorded(lambda _number, _chance: 40.0, 500), Aim(30))
    assert (found.kept, found.pace.keeps, found.best_fixed, found.pace.changes) == (False, False, None, 0)
