"""A DSP that restarts at every call costs whoever waits for it a few calls, however long each of them takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench import MAX_CORNER, SVS, Bench

from htppower import State, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control.core.recovery import CALM_US, MOST_RESTARTS
from htppower.votes.native_codes import SYSTEM_COMMUNICATION, TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.votes.vote_set import VoteSet

LASTED_US = (0, 250_000, 400_000, 5_000_000)


class Crashing(SimulatedHtp):
    """Each vote takes its time and tells of a restart, while it crashes."""

    def __init__(self, lasted_us: int) -> None:
        super().__init__(arch=75)
        self.lasted_us = lasted_us
        self.sleep: Callable[[float], object] = float
        self.crashes = False
        self.calls = 0
        self.refused_id = 0

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Tell of a restart, refuse, or set."""
        if power_config_id == self.refused_id:
            raise VoteRejected(TRANSPORT, votes, power_config_id=power_config_id)
        if not self.crashes:
            super().set_power_config(power_config_id, votes)
            return
        self.calls += 1
        assert self.calls < 100, "it goes on without end"
        self.sleep(self.lasted_us / 1_000_000)
        raise VoteRejected(SYSTEM_COMMUNICATION, votes, power_config_id=power_config_id)


def _bench(lasted_us: int) -> tuple[Crashing, Bench]:
    backend = Crashing(lasted_us)
    bench = Bench.make(backend)
    backend.sleep = bench.time.sleep
    return backend, bench


@pytest.mark.parametrize("lasted_us", LASTED_US)
def test_an_inference_begins_after_a_few_restarts(lasted_us: int) -> None:
    """The rest is left to the back-off, which has the votes up once the DSP is well."""
    backend, bench = _bench(lasted_us)
    session = bench.controller.session("burst")
    backend.crashes = True
    with session.inference():
        assert (backend.calls, session.state) == (MOST_RESTARTS + 1, State.UNKNOWN)
        bench.time.advance_us(60_000_000)
        backend.crashes = False
        bench.time.advance_us(10_000_000)
        assert (session.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)
    bench.time.advance_us(1_000_000)
    assert (session.state, bench.effective().core_target) == (State.LOWERED, SVS)


@pytest.mark.parametrize("lasted_us", LASTED_US)
def test_a_controller_closes_after_a_few_restarts(lasted_us: int) -> None:
    """Its session is closed, with its id destroyed."""
    backend, bench = _bench(lasted_us)
    session = bench.controller.session("burst")
    with session.inference():
        pass
    backend.crashes = True
    bench.controller.close()
    assert (session.state, backend.power_config_ids) == (State.DESTROYED, ())


def test_restarts_with_calm_between_them_are_each_recovered_from_at_once() -> None:
    """Also while another session lacks its votes for another reason, for good."""
    backend, bench = _bench(0)
    session, failing, other = (bench.controller.session(name) for name in ("burst", "balanced", "power_saver"))
    (backend.refused_id,) = failing.power_config_ids.values()
    with session.inference(), failing.inference():
        for _ in range(2 * MOST_RESTARTS):
            bench.time.advance_us(CALM_US)
            backend.restart_subsystem()
            bench.infer(other, duration_us=0)
            assert (session.state, failing.state) == (State.RAISED, State.UNKNOWN)
